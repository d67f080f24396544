//! Sweeps: every combination of settings, compared.

mod engine;
mod folder;
mod loop_choice;
mod part_sizes;
mod settings;
mod squeezing;
mod swept;
mod swept_rows;

pub use engine::{sweep, sweep_on, sweep_share};
pub use loop_choice::{LoopChoice, NoLoop};
pub use settings::SweepSettings;
pub use swept::Swept;
