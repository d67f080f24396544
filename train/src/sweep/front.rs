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

    /// The knee of the Pareto front among `rows`: where more entries begin to buy little. That is the
    /// row that is farthest above the straight line from the smallest to the best, with the logarithm
    /// of entries across and the measure upwards, both from 0 to 1 (Satopaa et al., "Finding a
    /// Kneedle in a Haystack", 2011). Of two rows it is the better one. `None` without a front.
    pub fn knee(&self, rows: &[SweepRow]) -> Option<usize> {
        let mut front: Vec<(usize, f64, f64)> = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.pareto)
            .filter_map(|(at, row)| {
                let entries = row.size.ternary_entries?.max(1);
                Some((at, (entries as f64).ln(), -self.badness(row)?))
            })
            .collect();
        front.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.2.total_cmp(&b.2)));
        let (&(_, least, worst), &(last, most, best)) = (front.first()?, front.last()?);
        if front.len() < 3 {
            return Some(last);
        }
        let scaled = |value: f64, from: f64, to: f64| {
            if to > from { (value - from) / (to - from) } else { 0.0 }
        };
        let above = |&(_, entries, quality): &(usize, f64, f64)| {
            scaled(quality, worst, best) - scaled(entries, least, most)
        };
        let mut knee = &front[0];
        for point in &front {
            if above(point) > above(knee) {
                knee = point;
            }
        }
        Some(knee.0)
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
