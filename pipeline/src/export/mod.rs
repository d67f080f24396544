//! Export: models and the untrained rule become files of targets, which local tools verify and measure.

pub mod models;
pub mod rule;
pub mod tool_measurements;
pub mod verification;
