//! Export: models and policies without one become files of targets, which local tools verify and measure.

pub mod models;
pub mod policy;
pub mod tool_measurements;
pub mod verification;
