//! Sweeps: every combination of settings, compared.

mod engine;
mod folder;
mod part_sizes;
mod settings;
mod squeezing;
mod swept_rows;

pub use engine::{sweep, sweep_share};
pub use settings::SweepSettings;
