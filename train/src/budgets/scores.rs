//! Scores of counted rows.

use super::state_columns::StateColumns;
use super::states::{ForestStates, StateCounts};
use super::work::WorkForest;
use dropcast_forest::{Forest, ScoreHistogram};

impl ForestStates {
    /// The scores of the training, validation and test rows by `forest`, one of the forests the
    /// states were made for, with any leaf weights.
    pub fn scores(&self, forest: &Forest) -> [ScoreHistogram; 3] {
        let columns = StateColumns::new(self);
        let work = WorkForest::new(forest, &columns, [1.0, 1.0]);
        let of_part = |part: fn(&StateCounts) -> [u64; 2]| work.histogram(part);
        [
            of_part(|counts| counts.train),
            of_part(|counts| counts.validation),
            of_part(|counts| counts.test),
        ]
    }
}
