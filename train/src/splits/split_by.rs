//! The kinds of splits that settings name.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of a split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum SplitBy {
    /// The first of time, time-blocks and episodes with drops in every part.
    #[default]
    Auto,
    /// The earlier rows train, the next validate, the last test.
    Time,
    /// The rows are cut into twentieths in time. Odd ones test; of the even ones some validate and
    /// the others train.
    TimeBlocks,
    /// The earlier drops train, the next validate, the last test. The cuts are in long pauses between
    /// drops that leave each part half of its share of them.
    Episodes,
    /// Each row is assigned at random, as in the Credence paper. It leaks: neighbours in a queue
    /// are nearly the same row.
    Random,
    /// Some switches test, in every run, and the others train.
    Switches,
    /// All rows train.
    None,
}

impl fmt::Display for SplitBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SplitBy::Auto => "auto",
            SplitBy::Time => "time",
            SplitBy::Episodes => "episodes",
            SplitBy::TimeBlocks => "time-blocks",
            SplitBy::Random => "random",
            SplitBy::Switches => "switches",
            SplitBy::None => "none",
        })
    }
}
