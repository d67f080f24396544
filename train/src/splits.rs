//! Splits: which rows train, which validate and which test.

mod choice;
mod episodes;
mod part;
pub(crate) mod plan;
mod settings;
mod split;
mod split_by;
#[cfg(test)]
mod tests;
mod times;

pub use choice::{ChosenSplit, PassedOver, SplitChoice, why as why_split};
pub use part::{Part, RunSwitch, RunTime};
pub(crate) use plan::{Parts, SplitPlan, run_cuts};
pub use settings::{SplitError, SplitSettings};
pub use split::Split;
pub use split_by::SplitBy;
pub(crate) use times::RunTimes;
