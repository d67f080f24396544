//! The Pareto front of a sweep.

use super::{FrontMeasure, FrontPart, FrontRule, SweepRow};
use std::cmp::Ordering;

/// Whether a fair coin shows heads at most so often in at most 5% of all series of so many throws.
fn is_rare(heads: usize, throws: usize) -> bool {
    // The share of series with exactly `n` heads is `choose(throws, n) / 2^throws`.
    let first = 0.5_f64.powi(i32::try_from(throws).unwrap_or(i32::MAX));
    let shares = (0..heads).scan(first, |share, n| {
        *share *= (throws - n) as f64 / (n + 1) as f64;
        Some(*share)
    });
    first + shares.sum::<f64>() <= 0.05
}

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

    /// The row that stands for a configuration, among its rows of all seeds: the one with the median measure, the worse
    /// of the two in the middle of an even number. Rows without a measure are the worst.
    pub(super) fn median(&self, rows: &[SweepRow]) -> Option<usize> {
        let worst_last = |&at: &usize| self.badness(&rows[at]).unwrap_or(f64::INFINITY);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|a, b| worst_last(a).total_cmp(&worst_last(b)));
        order.get(order.len() / 2).copied()
    }

    /// Whether rows of one configuration are, seed by seed, no worse than those of another beyond noise: a sign test
    /// with 5% to be wrong, or, of fewer than five seeds, any that is no worse.
    pub(super) fn is_within_noise(&self, rows: &[SweepRow], best: &[SweepRow]) -> bool {
        let badness = |row| self.badness(row).unwrap_or(f64::INFINITY);
        let pairs = || rows.iter().zip(best).map(|(row, best)| (badness(row), badness(best)));
        let worse = pairs().filter(|(row, best)| row > best).count();
        let better = pairs().filter(|(row, best)| row < best).count();
        let differing = worse + better;
        worse == 0 || better > 0 && (differing < 5 || !is_rare(better, differing))
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

#[cfg(test)]
mod tests {
    use super::is_rare;

    #[test]
    fn eight_seeds_allow_for_one_that_is_better() {
        // 9 of 256 series of eight throws have at most one heads, 37 at most two.
        assert!(is_rare(1, 8) && !is_rare(2, 8));
        assert!(is_rare(0, 5) && !is_rare(0, 4));
        assert!(!is_rare(8, 8));
    }
}
