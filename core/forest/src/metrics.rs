//! How good a model is.

use crate::{Confusion, ScoreHistogram};
use serde::{Deserialize, Serialize};

/// How good a model is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// On the training rows.
    pub train: PartMetrics,
    /// On the validation rows, which the vote threshold was chosen on; absent if it was chosen on
    /// the training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<PartMetrics>,
    /// On the test rows; absent if there were none.
    pub test: Option<PartMetrics>,
}

/// How good a model is on some rows. A score whose denominator is 0 is `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartMetrics {
    /// Number of rows.
    pub rows: u64,
    /// How many of them are drops.
    pub drops: u64,
    /// Predictions by truth at the model's vote threshold.
    pub confusion: Confusion,
    /// [`Confusion::accuracy`].
    pub accuracy: Option<f64>,
    /// [`Confusion::precision`].
    pub precision: Option<f64>,
    /// [`Confusion::recall`].
    pub recall: Option<f64>,
    /// [`Confusion::f1`].
    pub f1: Option<f64>,
    /// [`Confusion::eta_bound`]; also `None` if the number of ports is unknown.
    pub eta_bound: Option<f64>,
    /// [`ScoreHistogram::average_precision`], over all vote thresholds.
    pub average_precision: Option<f64>,
}

impl PartMetrics {
    /// The metrics of a model on rows with these scores.
    pub fn measure(scores: &ScoreHistogram, vote_threshold: u32, ports: Option<u16>) -> Self {
        let (accepts, drops) = scores.totals();
        let confusion = scores.confusion(vote_threshold);
        PartMetrics {
            rows: accepts + drops,
            drops,
            confusion,
            accuracy: confusion.accuracy(),
            precision: confusion.precision(),
            recall: confusion.recall(),
            f1: confusion.f1(),
            eta_bound: ports.and_then(|ports| confusion.eta_bound(ports)),
            average_precision: scores.average_precision(),
        }
    }
}
