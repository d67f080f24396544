//! The untrained rule over Dynamic Thresholds as code: files that are the same for every switch, the switch's constants,
//! and packets to check the code with (`docs/rule.md`).

mod files;
mod packets;
mod parameters;

pub use packets::{RuleEvent, RulePackets};
pub use parameters::{Rule, RuleError};
