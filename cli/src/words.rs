//! Results in words and tables that need a cargo feature.

pub(crate) mod statistics;
