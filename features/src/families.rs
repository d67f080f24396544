//! The features, one family per file.

pub(crate) mod classes;
pub(crate) mod flow;
pub(crate) mod levels;
pub(crate) mod longest;
pub(crate) mod paper;
pub(crate) mod projected;
