//! Results in words and tables, as commands print them.

pub mod comparisons;
pub mod counters;
pub mod input_notes;
pub mod inspection;
pub mod model;
pub mod resources;
pub mod statistics;
pub mod sweep;
