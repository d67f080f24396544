//! Forest scores counted by class: enough to choose a vote threshold or draw a precision-recall
//! curve.

use crate::Confusion;
use serde::{Deserialize, Serialize};

/// How many rows of each class got each score.
///
/// Exact and mergeable: the histogram of a data set is the sum of those of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreHistogram {
    accepts: Vec<u64>,
    drops: Vec<u64>,
}

/// A vote threshold and its confusion matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatingPoint {
    /// `score > threshold` predicts a drop.
    pub threshold: u32,
    /// The rows counted by truth and prediction.
    pub confusion: Confusion,
}

impl ScoreHistogram {
    /// An empty histogram of the scores of a forest of `trees` trees: 0 to `255 * trees`.
    pub fn new(trees: usize) -> Self {
        let scores = 255 * trees + 1;
        ScoreHistogram { accepts: vec![0; scores], drops: vec![0; scores] }
    }

    /// Counts one row. The histogram grows to hold `score` if needed.
    pub fn add(&mut self, score: u32, drop: bool) {
        let at = score as usize;
        if at >= self.accepts.len() {
            self.accepts.resize(at + 1, 0);
            self.drops.resize(at + 1, 0);
        }
        let class = if drop { &mut self.drops } else { &mut self.accepts };
        class[at] += 1;
    }

    /// Counts rows of one class. The histogram must be large enough for their scores.
    pub fn add_all(&mut self, scores: &[u16], drop: bool) {
        let class = if drop { &mut self.drops } else { &mut self.accepts };
        scores.iter().for_each(|&score| class[usize::from(score)] += 1);
    }

    /// Counts accepted and dropped rows of one score. The histogram must be large enough for it.
    pub fn add_rows(&mut self, score: u32, [accepts, drops]: [u64; 2]) {
        self.accepts[score as usize] += accepts;
        self.drops[score as usize] += drops;
    }

    /// Moves rows from one score to another. The histogram must hold the rows and be large enough
    /// for both.
    pub fn move_rows(&mut self, from: u32, to: u32, [accepts, drops]: [u64; 2]) {
        self.accepts[from as usize] -= accepts;
        self.drops[from as usize] -= drops;
        self.add_rows(to, [accepts, drops]);
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &ScoreHistogram) {
        let scores = self.accepts.len().max(other.accepts.len());
        for (mine, theirs) in [(&mut self.accepts, &other.accepts), (&mut self.drops, &other.drops)]
        {
            mine.resize(scores, 0);
            mine.iter_mut().zip(theirs).for_each(|(count, more)| *count += more);
        }
    }

    /// Accepted rows, by score.
    pub fn accepts(&self) -> &[u64] {
        &self.accepts
    }

    /// Dropped rows, by score.
    pub fn drops(&self) -> &[u64] {
        &self.drops
    }

    /// Numbers of accepted and dropped rows.
    pub fn totals(&self) -> (u64, u64) {
        (self.accepts.iter().sum(), self.drops.iter().sum())
    }

    /// The confusion matrix at a vote threshold.
    pub fn confusion(&self, threshold: u32) -> Confusion {
        let (accepts, drops) = self.totals();
        let above =
            |counts: &[u64]| -> u64 { counts.iter().skip(threshold as usize).skip(1).sum() };
        let (fp, tp) = (above(&self.accepts), above(&self.drops));
        Confusion { tp, fp, tn: accepts - fp, fn_: drops - tp }
    }

    /// Every distinct operating point, by increasing vote threshold: one for each gap between
    /// neighbouring scores that occur, at its middle, and last the one that predicts no drops.
    /// Empty if there are no rows.
    pub fn operating_points(&self) -> Vec<OperatingPoint> {
        let (accepts, drops) = self.totals();
        let mut confusion = Confusion { tp: drops, fp: accepts, tn: 0, fn_: 0 };
        let mut points = Vec::new();
        let mut below: Option<u32> = None;
        for (score, (&accepted, &dropped)) in (0_u32..).zip(self.accepts.iter().zip(&self.drops)) {
            if accepted + dropped == 0 {
                continue;
            }
            match below {
                Some(below) => {
                    points
                        .push(OperatingPoint { threshold: below + (score - below) / 2, confusion });
                }
                // Every row scores more than this: all predicted as drops.
                None if score > 0 => {
                    points.push(OperatingPoint { threshold: (score - 1) / 2, confusion });
                }
                None => {}
            }
            confusion.tn += accepted;
            confusion.fp -= accepted;
            confusion.fn_ += dropped;
            confusion.tp -= dropped;
            below = Some(score);
        }
        points.extend(below.map(|threshold| OperatingPoint { threshold, confusion }));
        points
    }

    /// Average precision: the sum over decreasing scores of precision times the recall gained
    /// (as scikit-learn's `average_precision_score`). `None` without drops.
    pub fn average_precision(&self) -> Option<f64> {
        let (_, all_drops) = self.totals();
        let (mut accepts, mut drops, mut area) = (0_u64, 0_u64, 0.0);
        for (&accepted, &dropped) in self.accepts.iter().zip(&self.drops).rev() {
            accepts += accepted;
            drops += dropped;
            if dropped > 0 {
                area += dropped as f64 * (drops as f64 / (drops + accepts) as f64);
            }
        }
        (all_drops > 0).then(|| area / all_drops as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(rows: &[(u32, bool)]) -> ScoreHistogram {
        let mut histogram = ScoreHistogram::new(1);
        rows.iter().for_each(|&(score, drop)| histogram.add(score, drop));
        histogram
    }

    #[test]
    fn average_precision_of_a_ranking_worked_by_hand() {
        let rows = [(9, true), (7, false), (5, true), (5, false), (0, false)];
        // Recall rises by half at precision 1, then by half at precision 2/4.
        assert_eq!(histogram(&rows).average_precision(), Some(0.75));
        assert_eq!(histogram(&[(3, false)]).average_precision(), None);
    }

    #[test]
    fn points_sit_in_the_middle_of_gaps() {
        let thresholds: Vec<u32> = histogram(&[(4, false), (5, true), (10, true)])
            .operating_points()
            .iter()
            .map(|point| point.threshold)
            .collect();
        assert_eq!(thresholds, [1, 4, 7, 10]);
        assert_eq!(histogram(&[]).operating_points(), []);
    }

    proptest! {
        #[test]
        fn points_are_all_that_thresholds_give(
            rows in prop::collection::vec((0_u32..12, any::<bool>()), 0..40)
        ) {
            let histogram = histogram(&rows);
            let count = |threshold: u32| {
                let mut confusion = Confusion::default();
                for &(score, drop) in &rows {
                    confusion.add(drop, score > threshold);
                }
                confusion
            };
            let mut seen: Vec<Confusion> = Vec::new();
            for threshold in 0..12 {
                prop_assert_eq!(histogram.confusion(threshold), count(threshold));
                if !rows.is_empty() && seen.last() != Some(&count(threshold)) {
                    seen.push(count(threshold));
                }
            }
            let points = histogram.operating_points();
            for point in &points {
                prop_assert_eq!(point.confusion, count(point.threshold));
            }
            let decided: Vec<Confusion> = points.iter().map(|point| point.confusion).collect();
            prop_assert_eq!(decided, seen);
        }
    }
}
