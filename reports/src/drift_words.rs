//! How far a model is from what it was when it was trained, in a sentence.

use crate::numbers::optional;
use dropcast_pipeline::report::{Report, TrainedPart};

/// What it predicts now and what it did after training; none if its file has no scores.
pub(crate) fn drift_sentence(report: &Report) -> Option<String> {
    let drift = report.drift?;
    let share = |predicted: u64, rows: u64| {
        optional((rows > 0).then(|| predicted as f64 / rows as f64 * 100.0), 4)
    };
    let (now, then) = (report.prediction.confusion, drift.then);
    let rows = match drift.against {
        TrainedPart::Test => "test",
        TrainedPart::Validation => "validation",
        TrainedPart::Train => "training",
    };
    let of = |confusion: dropcast_forest::Confusion| {
        share(
            confusion.tp + confusion.fp,
            confusion.tp + confusion.fp + confusion.tn + confusion.fn_,
        )
    };
    Some(format!(
        "The model predicts a drop for {} % of these packets, and did for {} % of the {rows} rows of its training \
         (F1 {} and {}).",
        of(now),
        of(then),
        optional(now.f1(), 4),
        optional(then.f1(), 4)
    ))
}
