//! Where to put the edges of a feature that has more values than bins.

use std::collections::BTreeSet;

/// The edges of a feature whose `values`, ascending, have a bin each.
pub(crate) fn every_edge(values: &[u32]) -> Vec<u32> {
    values.windows(2).map(|pair| between(pair[0], pair[1])).collect()
}

/// The edge between neighbouring values `a < b`: scikit-learn's midpoint, rounded down. For
/// integers both decide alike.
fn between(a: u32, b: u32) -> u32 {
    a + (b - a) / 2
}

/// The rows of a feature's values, or of narrow ranges of values.
#[derive(Debug)]
pub(crate) struct ValueCounts {
    /// How many values a range holds.
    width: u32,
    /// The lowest value of each range that has rows, ascending.
    values: Vec<u32>,
    /// By range, its accepted and dropped rows.
    counts: Vec<[u64; 2]>,
}

impl ValueCounts {
    /// Rows by range of `width` values: its lowest value, and its accepted and dropped rows, at
    /// least one in each.
    pub(crate) fn new(width: u32, ranges: impl Iterator<Item = (u32, [u64; 2])>) -> Self {
        let (values, counts) = ranges.unzip();
        ValueCounts { width, values, counts }
    }

    /// Edges for at most `max_bins` bins, ascending: half of them at quantiles, the others where
    /// they part the classes best.
    ///
    /// Either half alone loses thresholds that matter: in a buffer that is nearly full, queues
    /// that are pushed out differ from others by single packets.
    pub(crate) fn edges(&self, max_bins: usize) -> Vec<u32> {
        let mut cuts = self.quantile_cuts(max_bins.div_ceil(2));
        self.add_class_cuts(&mut cuts, max_bins - 1);
        let edge = |cut: usize| between(self.values[cut - 1] + (self.width - 1), self.values[cut]);
        cuts.into_iter().map(edge).collect()
    }

    /// Adds to `cuts` those of a decision tree on this feature alone, grown best first by Gini
    /// impurity, until there are `most` or the classes are parted.
    fn add_class_cuts(&self, cuts: &mut BTreeSet<usize>, most: usize) {
        // A best cut never parts neighbours that are both of one class (Fayyad and Irani, On the
        // handling of continuous-valued attributes in decision tree generation, 1992).
        let mut ends = vec![Sum { at: 0, rows: [0, 0] }];
        let mut rows = [0, 0];
        for (at, counts) in self.counts.iter().enumerate() {
            let one_class =
                |class: usize| at > 0 && self.counts[at - 1][class] == 0 && counts[class] == 0;
            if at > 0 && !one_class(0) && !one_class(1) {
                ends.push(Sum { at, rows });
            }
            rows = [rows[0] + counts[0], rows[1] + counts[1]];
        }
        ends.push(Sum { at: self.counts.len(), rows });
        let mut open: Vec<Cut> = best_cut(&ends, 0, ends.len() - 1).into_iter().collect();
        while cuts.len() < most {
            let nth = (0..open.len()).max_by(|&a, &b| {
                open[a].gain.total_cmp(&open[b].gain).then(open[b].at.cmp(&open[a].at))
            });
            let Some(nth) = nth else { break };
            let Cut { from, at, to, .. } = open.swap_remove(nth);
            cuts.insert(ends[at].at);
            open.extend(best_cut(&ends, from, at));
            open.extend(best_cut(&ends, at, to));
        }
    }

    /// Cuts into at most `max_bins` bins of about the same mass. Accepted and dropped rows have
    /// the same mass in total: drops are a thousandth of the rows and what must be resolved. A
    /// value that is heavier than a bin gets one of its own; what it leaves the others share. A cut
    /// is the index of the first value above it.
    fn quantile_cuts(&self, max_bins: usize) -> BTreeSet<usize> {
        let total = |class: usize| self.counts.iter().map(|counts| counts[class]).sum::<u64>();
        let (accepts, drops) = (total(0), total(1));
        let mass = |at: usize| {
            let [accepted, dropped] = self.counts[at];
            u128::from(accepted) * u128::from(drops.max(1))
                + u128::from(dropped) * u128::from(accepts.max(1))
        };
        let mut left: u128 = (0..self.counts.len()).map(mass).sum();
        let mut bins_left = max_bins as u128;
        let (mut cuts, mut filled) = (BTreeSet::new(), 0);
        for at in 1..self.counts.len() {
            if bins_left <= 1 {
                break;
            }
            filled += mass(at - 1);
            let is_full = filled * bins_left >= left;
            let next_is_heavy = mass(at) * bins_left >= left;
            if is_full || next_is_heavy {
                cuts.insert(at);
                left -= filled;
                bins_left -= 1;
                filled = 0;
            }
        }
        cuts
    }
}

/// The rows of all values below the one at `at`.
struct Sum {
    at: usize,
    rows: [u64; 2],
}

/// A cut of what lies between two ends, at a third one.
struct Cut {
    from: usize,
    at: usize,
    to: usize,
    gain: f64,
}

/// The cut between the ends `from` and `to` that lowers the Gini impurity most, if one does. See
/// [`crate::best_split`] for the formula.
fn best_cut(ends: &[Sum], from: usize, to: usize) -> Option<Cut> {
    let side = |a: usize, b: usize| {
        let (a, b) = (ends[a].rows, ends[b].rows);
        [b[0] - a[0], b[1] - a[1]]
    };
    let rows = |[accepts, drops]: [u64; 2]| (accepts + drops) as f64;
    let all = side(from, to);
    if all.contains(&0) {
        return None;
    }
    let mut best: Option<Cut> = None;
    for at in from + 1..to {
        let (left, right) = (side(from, at), side(at, to));
        let cross = |a: [u64; 2], b: [u64; 2]| u128::from(a[1]) * u128::from(b[0]);
        let apart = cross(left, right).abs_diff(cross(right, left)) as f64;
        let gain = apart * apart / (rows(left) * rows(right) * rows(all));
        if gain > best.as_ref().map_or(0.0, |best| best.gain) {
            best = Some(Cut { from, at, to, gain });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rows: &[(u32, u64, u64)]) -> ValueCounts {
        ValueCounts::new(1, rows.iter().map(|&(value, accepts, drops)| (value, [accepts, drops])))
    }

    #[test]
    fn class_cuts_enclose_where_rows_are_dropped_and_stop_when_all_is_parted() {
        let sample = counts(&[(0, 90, 0), (1, 5, 0), (2, 0, 4), (3, 0, 2), (4, 3, 0), (5, 8, 0)]);
        let class_cuts = |sample: &ValueCounts, most| {
            let mut cuts = BTreeSet::new();
            sample.add_class_cuts(&mut cuts, most);
            Vec::from_iter(cuts)
        };
        assert_eq!(class_cuts(&sample, 10), [2, 4]);
        assert_eq!(
            class_cuts(&sample, 1),
            [2],
            "more accepted rows lie below the drops than above"
        );
        assert_eq!(class_cuts(&counts(&[(0, 3, 0), (1, 4, 0)]), 9), [0; 0]);
    }

    #[test]
    fn quantiles_give_a_heavy_value_a_bin_of_its_own() {
        // One drop weighs as much as all 20 accepted rows.
        let sample = counts(&[(0, 1, 0), (1, 1, 0), (2, 16, 0), (3, 1, 0), (4, 1, 0), (5, 0, 1)]);
        assert_eq!(sample.quantile_cuts(4), [2, 3, 5].into());
        assert_eq!(sample.quantile_cuts(1), [].into());
        assert_eq!(sample.quantile_cuts(99), [1, 2, 3, 4, 5].into());
    }

    #[test]
    fn edges_are_midpoints_of_both_kinds_of_cut() {
        let sample = counts(&[(0, 9, 0), (10, 9, 0), (21, 0, 1), (30, 9, 0), (40, 9, 0)]);
        assert_eq!(sample.edges(2), [15], "one cut for the classes, the lower of two as good");
        assert_eq!(sample.edges(3), [15, 25]);
        assert_eq!(sample.edges(20), [5, 15, 25, 35]);
        let ranges = [(0, [1, 0]), (8, [0, 1]), (24, [1, 0])];
        let wide = ValueCounts::new(8, ranges.into_iter());
        assert_eq!(wide.edges(4), [7, 19], "15 is the last value of the middle range");
    }
}
