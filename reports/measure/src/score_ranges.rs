//! Histogram of scores by label.

use dropcast_forest::ScoreHistogram;
use serde::{Deserialize, Serialize};

/// Rows whose scores lie in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreBin {
    /// The lowest score of the range.
    pub from: u32,
    /// The highest.
    pub to: u32,
    /// Rows that LQD transmitted.
    pub transmitted: u64,
    /// Rows that LQD dropped.
    pub dropped: u64,
}

/// Maximum number of ranges.
const MOST_BINS: u32 = 32;

/// Ranges of equal width from 0 up.
pub(crate) fn score_bins(scores: &ScoreHistogram) -> Vec<ScoreBin> {
    let all = u32::try_from(scores.accepts().len()).unwrap_or(u32::MAX);
    let wide = all.div_ceil(MOST_BINS).max(1);
    let bin = |from: u32| {
        let to = from.saturating_add(wide).min(all) - 1;
        let sum = |counts: &[u64]| counts[from as usize..=to as usize].iter().sum();
        ScoreBin { from, to, transmitted: sum(scores.accepts()), dropped: sum(scores.drops()) }
    };
    (0..all).step_by(wide as usize).map(bin).collect()
}
