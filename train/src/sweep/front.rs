//! The Pareto front of a sweep.

use super::{FrontMeasure, FrontPart, FrontRule, SweepRow};
use std::cmp::Ordering;

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
