//! What a file holds: events, traces, models, tables, reports.

mod content;
pub mod few_rows;
pub mod statistics;
pub mod summary;

pub use content::{Checked, Inspected, check, inspect};
