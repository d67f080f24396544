//! Forests of other tools, from their files or from training with them, to ours.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arrays;
mod damage;
mod fixtures;
#[cfg(feature = "polars")]
mod frames;
#[cfg(feature = "linfa")]
mod linfa_pipeline;
mod rows;
mod trainers;
