//! Training as a whole: from rows in memory to a model.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod determinism;
mod families;
mod model_file;
mod refusal;
mod support;
