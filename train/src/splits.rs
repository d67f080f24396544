//! Splits: which rows train, which validate and which test.

mod part;
pub(crate) mod plan;
mod settings;
mod split;
#[cfg(test)]
mod tests;
mod times;

pub use part::{Part, RunSwitch};
pub(crate) use plan::{Parts, SplitPlan, run_cuts};
pub use settings::{SplitBy, SplitError, SplitSettings};
pub use split::Split;
pub(crate) use times::RunTimes;
