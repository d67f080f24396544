//! Predictions at every vote threshold, thinned to what a page can show.

use dropcast_forest::{Confusion, Forest, ScoreHistogram};
use serde::{Deserialize, Serialize};

/// The precision-recall curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CurveSection {
    /// Sum of `(R_n - R_(n-1)) P_n` over all scores, exact (scikit-learn's
    /// `average_precision_score`).
    pub average_precision: Option<f64>,
    /// Different predictions that vote thresholds can give: points before thinning.
    pub distinct_decisions: usize,
    /// The highest F1, and the lowest vote threshold that gives it.
    pub best_f1: Option<BestF1>,
    /// At most 512 of them, by increasing vote threshold.
    pub points: Vec<CurvePoint>,
}

/// The highest F1 at any vote threshold, chosen with the labels of these rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestF1 {
    /// The vote threshold.
    pub vote_threshold: u32,
    /// F1 there.
    pub f1: f64,
}

/// Maximum number of points of a curve in a report.
pub const MOST_POINTS: usize = 512;

/// Predictions at a vote threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The lowest vote threshold with these predictions: a drop is predicted for scores above it.
    /// They hold up to the next point's.
    pub vote_threshold: u32,
    /// Predictions by truth.
    pub confusion: Confusion,
    /// [`Confusion::precision`]; null where no drop is predicted.
    pub precision: Option<f64>,
    /// [`Confusion::recall`]; null where there are no drops.
    pub recall: Option<f64>,
    /// [`Confusion::f1`]; null where there are neither drops nor predicted ones.
    pub f1: Option<f64>,
    /// Bytes that Credence transmits with these predictions; null where that was not replayed.
    #[serde(default)]
    pub sent_bytes: Option<u64>,
}

/// The curve of a forest with these scores.
pub(crate) fn curve_section(scores: &ScoreHistogram, forest: &Forest) -> CurveSection {
    let chosen: Confusion = scores.confusion(forest.vote_threshold);
    let points = exact(scores);
    let mut best_f1: Option<BestF1> = None;
    for point in &points {
        if let Some(f1) = point.f1.filter(|&f1| best_f1.is_none_or(|best| f1 > best.f1)) {
            best_f1 = Some(BestF1 { vote_threshold: point.vote_threshold, f1 });
        }
    }
    let best_at = best_f1.map(|best| best.vote_threshold);
    CurveSection {
        average_precision: scores.average_precision(),
        distinct_decisions: points.len(),
        best_f1,
        points: thinned(points, MOST_POINTS, |point| {
            point.confusion == chosen || Some(point.vote_threshold) == best_at
        }),
    }
}

/// All different predictions by increasing vote threshold, exact.
pub(crate) fn exact(scores: &ScoreHistogram) -> Vec<CurvePoint> {
    let occurs = |at: &u32| scores.accepts()[*at as usize] + scores.drops()[*at as usize] > 0;
    let ends = u32::try_from(scores.accepts().len()).unwrap_or(u32::MAX);
    let mut starts: Vec<u32> = (0..ends).filter(occurs).collect();
    if starts.first().is_some_and(|&first| first > 0) {
        starts.insert(0, 0);
    }
    let decisions = scores.operating_points();
    debug_assert_eq!(starts.len(), decisions.len());
    starts
        .into_iter()
        .zip(decisions)
        .map(|(start, decision)| point(start, decision.confusion))
        .collect()
}

fn point(vote_threshold: u32, confusion: Confusion) -> CurvePoint {
    CurvePoint {
        vote_threshold,
        confusion,
        precision: confusion.precision(),
        recall: confusion.recall(),
        f1: confusion.f1(),
        sent_bytes: None,
    }
}

/// At most `most` of the points: the first, the last, those that `keep` asks for, and others
/// evenly along the curve.
pub(crate) fn thinned(
    points: Vec<CurvePoint>,
    most: usize,
    keep: impl Fn(&CurvePoint) -> bool,
) -> Vec<CurvePoint> {
    let last = points.len().saturating_sub(1);
    let must = |at: usize, point: &CurvePoint| at == 0 || at == last || keep(point);
    let musts = points.iter().enumerate().filter(|(at, point)| must(*at, point)).count();
    if points.len() <= most || musts >= most {
        return points;
    }
    let lengths = lengths(&points);
    let step = lengths[last] / (most - musts) as f64;
    // Kept when the path reaches the next multiple of `step`: at most one point for each.
    let mut marks_passed = 0.0;
    let chosen = points.into_iter().enumerate().filter(|(at, point)| {
        let marks = (lengths[*at] / step).floor();
        let passes = marks > marks_passed;
        marks_passed = marks;
        passes || must(*at, point)
    });
    chosen.map(|(_, point)| point).collect()
}

/// How far along the curve each point lies, in precision, recall and vote threshold, each as a
/// share of its range.
fn lengths(points: &[CurvePoint]) -> Vec<f64> {
    let top = points.last().map_or(1, |point| point.vote_threshold).max(1);
    let axes = |point: &CurvePoint| {
        let threshold = f64::from(point.vote_threshold) / f64::from(top);
        [point.precision.unwrap_or(1.0), point.recall.unwrap_or(0.0), threshold]
    };
    let mut along = 0.0;
    let mut lengths = Vec::with_capacity(points.len());
    for (at, point) in points.iter().enumerate() {
        let before = axes(&points[at.saturating_sub(1)]);
        let gaps = axes(point).into_iter().zip(before).map(|(here, there)| (here - there).abs());
        along += gaps.sum::<f64>();
        lengths.push(along);
    }
    lengths
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

    /// scikit-learn's definition, one pass over all rows for each distinct score.
    fn slow_average_precision(rows: &[(u32, bool)]) -> Option<f64> {
        let drops = rows.iter().filter(|row| row.1).count() as f64;
        let mut scores: Vec<u32> = rows.iter().map(|row| row.0).collect();
        scores.sort_unstable_by(|a, b| b.cmp(a));
        scores.dedup();
        let (mut area, mut recall_before) = (0.0, 0.0);
        for score in scores {
            let predicted: Vec<_> = rows.iter().filter(|row| row.0 >= score).collect();
            let hits = predicted.iter().filter(|row| row.1).count() as f64;
            let (precision, recall) = (hits / predicted.len() as f64, hits / drops);
            area += (recall - recall_before) * precision;
            recall_before = recall;
        }
        (drops > 0.0).then_some(area)
    }

    proptest! {
        #[test]
        fn average_precision_is_the_slow_definition(
            rows in prop::collection::vec((0_u32..30, any::<bool>()), 0..80)
        ) {
            match (histogram(&rows).average_precision(), slow_average_precision(&rows)) {
                (Some(fast), Some(slow)) => prop_assert!((fast - slow).abs() < 1e-12),
                (fast, slow) => prop_assert_eq!(fast, slow),
            }
        }

        #[test]
        fn a_point_holds_from_its_threshold_to_the_next(
            rows in prop::collection::vec((0_u32..30, any::<bool>()), 1..80)
        ) {
            let scores = histogram(&rows);
            let points = exact(&scores);
            for threshold in 0..=255 {
                let holds = points.iter().rev().find(|p| p.vote_threshold <= threshold).unwrap();
                prop_assert_eq!(holds.confusion, scores.confusion(threshold));
            }
        }

        #[test]
        fn thinning_keeps_ends_and_what_it_must(
            rows in prop::collection::vec((0_u32..256, any::<bool>()), 200..400), must in 0_usize..50
        ) {
            let all = exact(&histogram(&rows));
            let kept = all[must % all.len()];
            let few = thinned(all.clone(), 24, |point| *point == kept);
            prop_assert!(few.len() <= 24 && few.len() > 8, "{} points", few.len());
            prop_assert!(few.contains(&kept));
            prop_assert_eq!((few.first(), few.last()), (all.first(), all.last()));
        }
    }

    #[test]
    fn no_rows_have_no_curve() {
        assert_eq!(exact(&ScoreHistogram::new(4)), []);
        assert_eq!(thinned(Vec::new(), 8, |_| false), []);
    }
}
