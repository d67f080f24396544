//! Export: models become files of targets, which local tools verify and measure.

pub mod models;
pub mod tool_measurements;
pub mod verdicts;
pub mod verification;
