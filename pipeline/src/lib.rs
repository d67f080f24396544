//! The pipeline as a library.

pub mod report;
pub mod reproduce;
