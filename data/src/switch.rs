//! Switch descriptions in files, and the footers of tables (`docs/switch.md`).

mod footer;
mod input_maps;
mod pool_map;
mod switch_file;

pub(crate) use footer::{SWITCH_KEY, switches_in_footer};
pub use input_maps::InputMaps;
pub use pool_map::Pool;
pub(crate) use pool_map::PoolMap;
pub use switch_file::{SwitchFile, read_switch_file, read_switches};
