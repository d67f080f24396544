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
    /// Of forests that differ from this one in the seed alone; absent if none was trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_seeds: Option<SeedMetrics>,
}

impl Metrics {
    /// Of a forest on its training, validation and test rows.
    pub fn new(
        train: PartMetrics,
        validation: Option<PartMetrics>,
        test: Option<PartMetrics>,
    ) -> Self {
        Metrics { train, validation, test, over_seeds: None }
    }
}

/// How good forests of several seeds are that were trained on the same rows with the same settings: what a single
/// one is by luck of its seed, the next one is not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedMetrics {
    /// The seeds; the first is the model's own.
    pub seeds: Vec<u64>,
    /// On the validation rows; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<ScoreRanges>,
    /// On the test rows; absent if there were none.
    pub test: Option<ScoreRanges>,
}

/// Scores over seeds. Each is `None` if it is for one of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreRanges {
    /// [`Confusion::precision`].
    pub precision: Option<ScoreRange>,
    /// [`Confusion::recall`].
    pub recall: Option<ScoreRange>,
    /// [`Confusion::f1`].
    pub f1: Option<ScoreRange>,
}

/// A score over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreRange {
    /// The lowest.
    pub lowest: f64,
    /// The median: of an even number, the mean of the two in the middle.
    pub median: f64,
    /// The highest.
    pub highest: f64,
}

impl SeedMetrics {
    /// Of forests with these seeds and metrics.
    pub fn new<'a>(seeds: Vec<u64>, of: impl Iterator<Item = &'a Metrics> + Clone) -> Self {
        let parts = |part: fn(&Metrics) -> Option<&PartMetrics>| {
            ScoreRanges::measure(&of.clone().map(part).collect::<Option<Vec<_>>>()?)
        };
        SeedMetrics {
            validation: parts(|metrics| metrics.validation.as_ref()),
            test: parts(|metrics| metrics.test.as_ref()),
            seeds,
        }
    }
}

impl ScoreRanges {
    fn measure(parts: &[&PartMetrics]) -> Option<Self> {
        let range = |of: fn(&PartMetrics) -> Option<f64>| {
            let scores = parts.iter().map(|part| of(part));
            ScoreRange::measure(scores.collect::<Option<Vec<f64>>>()?)
        };
        (!parts.is_empty()).then(|| ScoreRanges {
            precision: range(|part| part.precision),
            recall: range(|part| part.recall),
            f1: range(|part| part.f1),
        })
    }
}

impl ScoreRange {
    /// Of these scores; `None` if there are none.
    pub fn measure(mut scores: Vec<f64>) -> Option<Self> {
        scores.sort_by(f64::total_cmp);
        let (&lowest, &highest) = (scores.first()?, scores.last()?);
        let middle = scores.len() / 2;
        let below = scores[scores.len() - 1 - middle];
        Some(ScoreRange { lowest, median: (below + scores[middle]) / 2.0, highest })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let range = |scores: &[f64]| {
            ScoreRange::measure(scores.to_vec()).map(|of| (of.lowest, of.median, of.highest))
        };
        assert_eq!(range(&[]), None);
        assert_eq!(range(&[0.5]), Some((0.5, 0.5, 0.5)));
        assert_eq!(range(&[0.9, 0.1, 0.2]), Some((0.1, 0.2, 0.9)));
        assert_eq!(range(&[1.0, 0.0, 0.5, 0.25]), Some((0.0, 0.375, 1.0)));
    }

    #[test]
    fn a_score_that_one_seed_lacks_has_no_range() {
        let metrics = |predicted: bool| {
            let mut scores = ScoreHistogram::new(1);
            [(9, true), (0, false)].iter().for_each(|&(score, drop)| scores.add(score, drop));
            let part = PartMetrics::measure(&scores, if predicted { 5 } else { 255 }, None);
            Metrics::new(part.clone(), None, Some(part))
        };
        let of = [metrics(true), metrics(false)];
        let over = SeedMetrics::new(vec![4, 5], of.iter());
        assert_eq!(over.validation, None);
        let test = over.test.unwrap();
        assert_eq!(test.precision, None, "one forest predicts no drop");
        assert_eq!(test.f1, Some(ScoreRange { lowest: 0.0, median: 0.5, highest: 1.0 }));
    }
}
