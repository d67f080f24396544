//! The Pareto front of a sweep.

use super::{FrontMeasure, FrontPart, FrontRule, Spread, SweepRow};
use std::cmp::Ordering;

/// What the knee may lose of the gain from the smallest to the best of the front.
const KNEE_LOSS: f64 = 0.1;

impl FrontRule {
    /// What rows of a sweep are compared by: `eta` if it was measured, on validation rows if the
    /// split has them.
    pub fn new(has_validation: bool, has_test: bool, has_eta: bool) -> Self {
        let part = match (has_validation, has_test) {
            (true, _) => FrontPart::Validation,
            (false, true) => FrontPart::Test,
            (false, false) => FrontPart::Train,
        };
        // Training rows are not replayed.
        let has_eta = has_eta && part != FrontPart::Train;
        let measure = if has_eta { FrontMeasure::EtaPackets } else { FrontMeasure::F1 };
        FrontRule { part, measure }
    }

    /// What a row is compared by, lower is better. `None` if it is not defined.
    pub(super) fn badness(&self, row: &SweepRow) -> Option<f64> {
        let scores = row.scores(self.part)?;
        match self.measure {
            FrontMeasure::EtaPackets => scores.eta_packets,
            FrontMeasure::F1 => scores.f1.map(|f1| -f1),
        }
    }

    /// The knee of the Pareto front among `rows`, where more entries begin to buy little: the smallest
    /// of the front with nine tenths of what it gains from its smallest to its best, or as good as
    /// the best within one standard deviation over the seeds of the best's configuration. `None`
    /// without a front.
    pub fn knee(&self, rows: &[SweepRow]) -> Option<usize> {
        let on_front = rows.iter().enumerate().filter(|(_, row)| row.pareto);
        let mut front: Vec<(usize, u64, f64)> = on_front
            .filter_map(|(at, row)| Some((at, row.size.ternary_entries?, self.badness(row)?)))
            .collect();
        front.sort_by(|a, b| a.1.cmp(&b.1).then(b.2.total_cmp(&a.2)));
        let (&(_, _, worst), &(best_at, _, best)) = (front.first()?, front.last()?);
        let same = rows.iter().filter(|row| row.setting == rows[best_at].setting);
        let over_seeds: Vec<f64> = same.filter_map(|row| self.badness(row)).collect();
        let noise = Spread::measure(&over_seeds).and_then(|spread| spread.sd).unwrap_or(0.0);
        let enough = best + noise.max(KNEE_LOSS * (worst - best));
        front.iter().find(|(_, _, badness)| *badness <= enough).map(|(at, ..)| *at)
    }

    /// Which of `rows` are Pareto-optimal in size and measure. Of rows equal in both, only the
    /// first is.
    ///
    /// Rows without a size or measure are not. Sizes are ternary entries.
    pub fn front(&self, rows: &[&SweepRow]) -> Vec<bool> {
        let mut order: Vec<(usize, u64, f64)> = rows
            .iter()
            .enumerate()
            .filter_map(|(at, row)| Some((at, row.size.ternary_entries?, self.badness(row)?)))
            .collect();
        let by_size = |a: &(usize, u64, f64), b: &(usize, u64, f64)| -> Ordering {
            a.1.cmp(&b.1).then(a.2.total_cmp(&b.2)).then(a.0.cmp(&b.0))
        };
        order.sort_by(by_size);
        let mut is_on_front = vec![false; rows.len()];
        let mut best = f64::INFINITY;
        for (at, _, badness) in order {
            if badness < best {
                best = badness;
                is_on_front[at] = true;
            }
        }
        is_on_front
    }
}
