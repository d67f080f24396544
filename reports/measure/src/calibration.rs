//! Calibration of scores as probabilities of a drop.

use super::replay_section::ratio;
use dropcast_forest::ScoreHistogram;
use serde::{Deserialize, Serialize};

/// Number of score ranges.
const RANGES: usize = 10;

/// Scores read as probabilities of a drop, `score / max_score`, against the labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationSection {
    /// Brier score: mean of `(score / max_score - drop)^2` over all rows, `drop` being 1 or 0.
    pub brier: Option<f64>,
    /// Brier score of a constant forecast of the share `d` of drops in these rows: `d (1 - d)`.
    pub brier_of_share: Option<f64>,
    /// Expected calibration error: the distance between `mean_score` and `drop_share` of the
    /// ranges, weighted by their rows (Guo et al., "On calibration of modern neural networks",
    /// ICML 2017, equation 3).
    pub expected_calibration_error: Option<f64>,
    /// Rows by score in 10 ranges of equal width.
    pub ranges: Vec<CalibrationRange>,
}

/// Rows whose scores lie in one range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationRange {
    /// The lowest score of the range.
    pub from: u32,
    /// The highest.
    pub to: u32,
    /// Rows.
    pub rows: u64,
    /// Rows that LQD dropped.
    pub drops: u64,
    /// Mean of `score / max_score`.
    pub mean_score: Option<f64>,
    /// `drops / rows`.
    pub drop_share: Option<f64>,
}

/// The calibration of scores from 0 to `scores`' last.
pub(crate) fn calibration(scores: &ScoreHistogram) -> CalibrationSection {
    let most = scores.accepts().len().saturating_sub(1);
    let (accepts, drops) = scores.totals();
    let rows = accepts + drops;
    let ranges: Vec<CalibrationRange> =
        (0..RANGES).filter_map(|at| range(scores, at, most)).collect();
    let miss = |range: &CalibrationRange| {
        let off = range.mean_score? - range.drop_share?;
        Some(off.abs() * range.rows as f64 / rows as f64)
    };
    CalibrationSection {
        brier: brier(scores, most).map(|sum| sum / rows as f64),
        brier_of_share: ratio(drops, rows).map(|share| share * (1.0 - share)),
        expected_calibration_error: (rows > 0 && most > 0)
            .then(|| ranges.iter().filter_map(miss).sum()),
        ranges,
    }
}

/// Sum of squared distances; none without rows or without trees.
fn brier(scores: &ScoreHistogram, most: usize) -> Option<f64> {
    let (accepts, drops) = scores.totals();
    if accepts + drops == 0 || most == 0 {
        return None;
    }
    let both = scores.accepts().iter().zip(scores.drops());
    let squared = both.enumerate().map(|(score, (&accepts, &drops))| {
        let chance = score as f64 / most as f64;
        accepts as f64 * chance * chance + drops as f64 * (1.0 - chance) * (1.0 - chance)
    });
    Some(squared.sum())
}

/// Range `at` of [`RANGES`]: scores `s` with `floor(10 s / (most + 1)) = at`. Ranges without
/// a possible score (there may be fewer than ten scores) are left out.
fn range(scores: &ScoreHistogram, at: usize, most: usize) -> Option<CalibrationRange> {
    let start = |at: usize| (at * (most + 1)).div_ceil(RANGES);
    let (from, end) = (start(at), start(at + 1));
    if from == end {
        return None;
    }
    let accepts = &scores.accepts()[from..end];
    let drops = &scores.drops()[from..end];
    let rows: u64 = accepts.iter().chain(drops).sum();
    let weighted = (from..end).zip(accepts.iter().zip(drops));
    let sum: f64 = weighted.map(|(score, (a, d))| score as f64 * (a + d) as f64).sum();
    let dropped = drops.iter().sum();
    Some(CalibrationRange {
        from: u32::try_from(from).unwrap_or(u32::MAX),
        to: u32::try_from(end - 1).unwrap_or(u32::MAX),
        rows,
        drops: dropped,
        mean_score: (rows > 0 && most > 0).then(|| sum / rows as f64 / most as f64),
        drop_share: ratio(dropped, rows),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(rows: &[(u32, bool)]) -> ScoreHistogram {
        let mut scores = ScoreHistogram::new(1);
        rows.iter().for_each(|&(score, drop)| scores.add(score, drop));
        scores
    }

    #[test]
    fn worked_by_hand() {
        // Chances 0, 0.2 and 1; one drop of two at 0.2, one at 1.
        let of = calibration(&histogram(&[(0, false), (51, true), (51, false), (255, true)]));
        assert!((of.brier.unwrap() - (0.8 * 0.8 + 0.2 * 0.2) / 4.0).abs() < 1e-12);
        assert_eq!(of.brier_of_share, Some(0.25));
        assert!((of.expected_calibration_error.unwrap() - 0.5 * 0.3).abs() < 1e-12);
        assert_eq!(of.ranges.len(), 10);
        let second = of.ranges.iter().find(|range| range.rows == 2).unwrap();
        assert_eq!((second.from, second.to, second.drop_share), (26, 51, Some(0.5)));
    }

    #[test]
    fn without_rows_nothing_is_defined() {
        let none = calibration(&histogram(&[]));
        assert_eq!((none.brier, none.brier_of_share), (None, None));
        assert_eq!(none.expected_calibration_error, None);
        assert!(none.ranges.iter().all(|range| range.mean_score.is_none()));
        assert_eq!(calibration(&ScoreHistogram::new(0)).brier, None);
    }

    proptest! {
        #[test]
        fn every_row_is_in_one_range_and_brier_is_the_slow_mean(
            rows in prop::collection::vec((0_u32..256, any::<bool>()), 1..60)
        ) {
            let of = calibration(&histogram(&rows));
            for range in &of.ranges {
                let inside = rows.iter().filter(|row| (range.from..=range.to).contains(&row.0));
                prop_assert_eq!(inside.count() as u64, range.rows);
            }
            prop_assert_eq!(of.ranges.iter().map(|r| r.rows).sum::<u64>(), rows.len() as u64);
            let slow = rows.iter().map(|&(score, drop)| {
                (f64::from(score) / 255.0 - f64::from(u8::from(drop))).powi(2)
            });
            let slow = slow.sum::<f64>() / rows.len() as f64;
            prop_assert!((of.brier.unwrap() - slow).abs() < 1e-12);
        }
    }
}
