//! Reading and writing packet events (`docs/events.md`).

mod columns;
mod gate;
mod reader;
mod rows;
mod table;
mod writer;

pub use columns::EventColumns;
pub use gate::OnBadRow;
pub use reader::{EventFormat, EventOptions, EventReader};
pub use writer::EventWriter;

pub(crate) use reader::switches_in_footer;

/// Footer key of an event Parquet: the description of the switches, as TOML.
pub const SWITCH_KEY: &str = "dropcast.switch";
