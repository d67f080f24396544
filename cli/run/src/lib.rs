//! The whole run: collect, train, report and export.

mod run_page;
pub mod settings;
pub mod task;
mod whole_run;

pub use run_page::{run_page, run_pages};
pub use whole_run::{Run, RunResult};
