//! The untrained rule over Dynamic Thresholds as code (`docs/rule.md`).

mod files;
mod packets;
mod parameters;

pub use parameters::Rule;
