//! The whole run: collect, train, report and export.

pub mod settings;
pub mod task;
mod whole_run;

pub use whole_run::{Run, RunResult};
