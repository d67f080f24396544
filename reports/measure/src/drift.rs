//! A model on today's rows against the rows that it was judged on when it was trained.

use dropcast_forest::{Confusion, Metrics, PartMetrics};
use serde::{Deserialize, Serialize};

/// How far a model is from what it was when it was trained: predictions by label. Its features:
/// [`FeatureOutside`](super::FeatureOutside).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriftSection {
    /// Which rows of its training are compared with: the least flattering ones that its file has.
    pub against: TrainedPart,
    /// These rows, by label and prediction.
    pub then: Confusion,
    /// log2 of the share of packets that it predicts to be dropped, now over then; 1 is twice as many. Null without rows.
    pub predicted_log2: Option<f64>,
    /// The same of the packets that LQD drops.
    pub dropped_log2: Option<f64>,
    /// F1 now less F1 then; null where one is not defined.
    pub f1_change: Option<f64>,
}

/// Rows that a model was judged on when it was trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrainedPart {
    /// Test rows.
    Test,
    /// Those that the vote threshold was chosen on.
    Validation,
    /// Those that it was trained on.
    Train,
}

impl DriftSection {
    /// The drift of a model whose file has these scores, which predicts so on the rows of a report.
    pub(crate) fn new(metrics: &Metrics, now: &Confusion) -> Self {
        let (against, part): (_, &PartMetrics) = match metrics {
            Metrics { test: Some(test), .. } => (TrainedPart::Test, test),
            Metrics { validation: Some(rows), .. } => (TrainedPart::Validation, rows),
            Metrics { train, .. } => (TrainedPart::Train, train),
        };
        let then = part.confusion;
        let f1_change = now.f1().zip(then.f1()).map(|(now, then)| now - then);
        let predicted = |of: &Confusion| of.tp + of.fp;
        let dropped = |of: &Confusion| of.tp + of.fn_;
        DriftSection {
            against,
            then,
            predicted_log2: log2_of_shares(predicted, now, &then),
            dropped_log2: log2_of_shares(dropped, now, &then),
            f1_change,
        }
    }
}

/// Both shares are larger by half a packet of the fewer rows: none then and none now is no drift, however many rows there are,
/// and a share of 0 has a logarithm.
fn log2_of_shares(of: fn(&Confusion) -> u64, now: &Confusion, then: &Confusion) -> Option<f64> {
    let rows = |Confusion { tp, fp, tn, fn_ }: &Confusion| tp + fp + tn + fn_;
    let fewer = rows(now).min(rows(then));
    let share =
        |confusion: &Confusion| of(confusion) as f64 / rows(confusion) as f64 + 0.5 / fewer as f64;
    (fewer > 0).then(|| (share(now) / share(then)).log2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_as_many_predictions_are_a_drift_of_one() {
        let of = |predicted, rows| Confusion { tp: predicted, fp: 0, fn_: 0, tn: rows - predicted };
        let log2 = |now: (u64, u64), then: (u64, u64)| {
            log2_of_shares(|of| of.tp + of.fp, &of(now.0, now.1), &of(then.0, then.1))
        };
        let near = |found: Option<f64>, expected: f64| {
            assert!((found.expect("rows") - expected).abs() < 0.01, "{found:?}");
        };
        near(log2((200_000, 1_000_000), (100_000, 1_000_000)), 1.0);
        near(log2((100_000, 1_000_000), (20_000, 100_000)), -1.0);
        assert_eq!(log2((0, 1_000), (0, 1_000)), Some(0.0));
        assert_eq!(log2((0, 200_000), (0, 1_000)), Some(0.0));
        near(log2((0, 1_000_000), (1, 1_000)), -1.585);
        assert_eq!(log2((0, 0), (5, 10)), None);
    }
}
