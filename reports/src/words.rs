//! Results in words and tables, as commands print them.

pub mod comparisons;
pub mod model;
pub mod sweep;
