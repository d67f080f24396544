//! Scores by part.

use crate::splits::Part;
use dropcast_forest::ScoreHistogram;
use serde::{Deserialize, Serialize};

/// Scores of the training, validation and test rows, in the order of [`Part`]; chunks hold no other
/// rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartScores(pub(crate) [ScoreHistogram; 3]);

impl PartScores {
    pub(super) fn new(trees: usize) -> Self {
        PartScores(std::array::from_fn(|_| ScoreHistogram::new(trees)))
    }

    pub(super) fn part(&mut self, part: Part) -> &mut ScoreHistogram {
        &mut self.0[part as usize]
    }

    pub(crate) fn merge(&mut self, other: &PartScores) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| own.merge(other));
    }
}
