//! The features, one family in each file.

pub(crate) mod levels;
pub(crate) mod longest;
pub(crate) mod paper;
pub(crate) mod projected;
