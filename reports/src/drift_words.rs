//! How far a model is from what it was when it was trained, in a sentence.

use crate::numbers::{count, optional, percent};
use dropcast_measure::{FeatureOutside, Report, TrainedPart};

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

/// Rows outside a range are reported from this share on, five times that of the rows that trained.
const LEAST_SHARE: f64 = 0.01;
/// Features that are named, at most.
const MOST_FEATURES: usize = 3;

/// The features whose values are most unlike those of the training; none if hardly any is, or the model has no ranges.
pub(crate) fn outside_sentence(report: &Report) -> Option<String> {
    let share = |feature: &FeatureOutside| feature.share.unwrap_or(0.0);
    let mut features: Vec<&FeatureOutside> = report.outside.iter().flatten().collect();
    features.retain(|feature| share(feature) >= LEAST_SHARE);
    features.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let named = features.iter().take(MOST_FEATURES).map(|feature| {
        format!(
            "{} lies outside {} to {} for {}",
            feature.name,
            count(feature.range.lowest.into()),
            count(feature.range.highest.into()),
            percent(share(feature))
        )
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| {
        format!(
            "These packets are unlike those that the model was trained on: {}; there for at most 0.2%.",
            named.join(", ")
        )
    })
}
