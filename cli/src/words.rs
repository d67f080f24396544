//! Results in words and tables, as commands print them.

pub(crate) mod comparisons;
pub(crate) mod model;
pub(crate) mod statistics;
pub(crate) mod sweep;
