//! The choice of the edges of a feature's bins.

use crate::rows::row_kind::MOST_COUNTED;
use dropcast_forest::FeatureRange;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Row counts of a feature's values, or of narrow ranges of values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ValueCounts {
    /// How many values a range holds.
    width: u32,
    /// The lowest value of each range that has rows, ascending.
    values: Vec<u32>,
    /// Accepted and dropped rows of each range.
    counts: Vec<[u64; 2]>,
}

impl ValueCounts {
    /// Row counts by range of `width` values: the lowest value, the accepted and the dropped rows
    /// of each; no range is empty.
    pub(crate) fn new(width: u32, ranges: impl Iterator<Item = (u32, [u64; 2])>) -> Self {
        let (values, counts) = ranges.unzip();
        ValueCounts { width, values, counts }
    }

    /// How many values a range holds, and the counts by range.
    pub(super) fn ranges(&self) -> (u32, impl Iterator<Item = (u32, [u64; 2])>) {
        (self.width, self.values.iter().copied().zip(self.counts.iter().copied()))
    }

    /// Whether there are as many counts as ranges, in ascending order, and no count is so large that
    /// sums would overflow.
    pub(crate) fn is_sound(&self) -> bool {
        let fits = |counts: &[u64; 2]| counts.iter().all(|&count| count <= MOST_COUNTED);
        self.width.is_power_of_two()
            && self.values.len() == self.counts.len()
            && self.values.is_sorted_by(|a, b| a < b)
            && self.counts.iter().all(fits)
    }

    /// Accepted and dropped rows of all ranges, which must be [sound](Self::is_sound).
    pub(crate) fn rows(&self) -> [u64; 2] {
        self.counts.iter().fold([0; 2], |sum, counts| {
            std::array::from_fn(|class| sum[class].saturating_add(counts[class]))
        })
    }

    /// Up to `most` edges, the most useful first: alternately one that divides the rows evenly and
    /// one that separates the classes best, until every value has its own bin. So the edges for
    /// fewer bins are a prefix of those for more.
    ///
    /// Either kind alone misses thresholds that matter: in a nearly full buffer, queues that are
    /// pushed out differ from others by single packets.
    pub(crate) fn edges(&self, most: usize) -> Vec<u32> {
        let mut halves = Halves::new(self);
        let mut class_cuts = ClassCuts::new(self);
        let mut cuts = Vec::new();
        let mut made = BTreeSet::new();
        while cuts.len() < most {
            let mut new = |cut: &usize| made.insert(*cut);
            let half = halves.by_ref().find(&mut new);
            let class_cut = class_cuts.by_ref().find(&mut new);
            if half.is_none() && class_cut.is_none() {
                break;
            }
            cuts.extend(half.into_iter().chain(class_cut));
        }
        cuts.truncate(most);
        cuts.into_iter().map(|cut| self.edge(cut)).collect()
    }

    /// The values without the lowest and the highest thousandth of the rows.
    pub(crate) fn middle_range(&self) -> FeatureRange {
        let rows = || self.counts.iter().map(|counts| counts[0] + counts[1]);
        let spare = rows().sum::<u64>() / 1_000;
        let most_spared = |left: &mut u64, rows: u64| {
            *left = left.checked_sub(rows)?;
            Some(())
        };
        let below = rows().scan(spare, most_spared).count();
        let above = rows().rev().scan(spare, most_spared).count();
        let lowest = self.values.get(below).copied().unwrap_or(0);
        let last = self.values.iter().rev().nth(above);
        let highest = last.map_or(0, |last| last + (self.width - 1));
        FeatureRange { lowest, highest }
    }

    /// The edge below range number `cut`: scikit-learn's midpoint between neighbours, rounded down,
    /// which decides the same for integers.
    fn edge(&self, cut: usize) -> u32 {
        let (below, above) = (self.values[cut - 1] + (self.width - 1), self.values[cut]);
        below + (above - below) / 2
    }
}

/// Cuts that halve the rows, always of the heaviest part. A cut is the index of the first value
/// above it.
///
/// Accepted and dropped rows have the same total mass: drops are a thousandth of the rows, and the
/// ones to resolve.
struct Halves {
    /// By value, the mass below it; the last entry is the total.
    below: Vec<u128>,
    /// Parts of two or more values: mass, first value (lower first), end.
    open: BTreeSet<(u128, Reverse<usize>, usize)>,
}

impl Halves {
    fn new(values: &ValueCounts) -> Self {
        let total = |class: usize| values.counts.iter().map(|counts| counts[class]).sum::<u64>();
        let (accepts, drops) = (total(0), total(1));
        let mut below = Vec::with_capacity(values.counts.len() + 1);
        let mut sum = 0;
        below.push(sum);
        for &[accepted, dropped] in &values.counts {
            sum += u128::from(accepted) * u128::from(drops.max(1))
                + u128::from(dropped) * u128::from(accepts.max(1));
            below.push(sum);
        }
        let mut halves = Halves { below, open: BTreeSet::new() };
        halves.add(0, values.counts.len());
        halves
    }

    fn add(&mut self, from: usize, to: usize) {
        if to - from > 1 {
            self.open.insert((self.below[to] - self.below[from], Reverse(from), to));
        }
    }
}

impl Iterator for Halves {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let (_, Reverse(from), to) = self.open.pop_last()?;
        // The cut with half of the mass below it, or the one before, whichever is closer.
        let below = &self.below;
        let twice = |cut: usize| 2 * (below[cut] - below[from]);
        let all = below[to] - below[from];
        let cut =
            from + 1 + below[from + 1..to - 1].partition_point(|&b| 2 * (b - below[from]) < all);
        let is_nearer = cut > from + 1 && all - twice(cut - 1) <= twice(cut).abs_diff(all);
        let cut = if is_nearer { cut - 1 } else { cut };
        self.add(from, cut);
        self.add(cut, to);
        Some(cut)
    }
}

/// The cuts of a decision tree on this feature alone, grown best-first by Gini impurity until the
/// classes are separated.
struct ClassCuts {
    ends: Vec<Sum>,
    open: Vec<Cut>,
}

/// The rows of all values below the one at `at`.
struct Sum {
    at: usize,
    rows: [u64; 2],
}

/// A cut between two ends, at a third one.
struct Cut {
    from: usize,
    at: usize,
    to: usize,
    gain: f64,
}

impl ClassCuts {
    fn new(values: &ValueCounts) -> Self {
        // A best cut never separates neighbours that are both purely of one class (Fayyad and
        // Irani, On the handling of continuous-valued attributes in decision tree generation,
        // 1992).
        let counts = &values.counts;
        let mut ends = vec![Sum { at: 0, rows: [0, 0] }];
        let mut rows = [0, 0];
        for (at, here) in counts.iter().enumerate() {
            let one_class = |class: usize| at > 0 && counts[at - 1][class] == 0 && here[class] == 0;
            if at > 0 && !one_class(0) && !one_class(1) {
                ends.push(Sum { at, rows });
            }
            rows = [rows[0] + here[0], rows[1] + here[1]];
        }
        ends.push(Sum { at: counts.len(), rows });
        let open = best_cut(&ends, 0, ends.len() - 1).into_iter().collect();
        ClassCuts { ends, open }
    }
}

impl Iterator for ClassCuts {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let best = (0..self.open.len()).max_by(|&a, &b| {
            let (a, b) = (&self.open[a], &self.open[b]);
            a.gain.total_cmp(&b.gain).then(b.at.cmp(&a.at))
        });
        let Cut { from, at, to, .. } = self.open.swap_remove(best?);
        self.open.extend(best_cut(&self.ends, from, at));
        self.open.extend(best_cut(&self.ends, at, to));
        Some(self.ends[at].at)
    }
}

/// The cut between the ends `from` and `to` that lowers the Gini impurity most, if one does. See
/// [`crate::growth::best_split`] for the formula.
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
    // With fewer than 2^32 rows, products of counts fit 64 bits, which is faster.
    let is_few = all[0] + all[1] < 1 << 32;
    let apart = |left: [u64; 2], right: [u64; 2]| {
        if is_few {
            (left[1] * right[0]).abs_diff(right[1] * left[0]) as f64
        } else {
            let cross = |a: [u64; 2], b: [u64; 2]| u128::from(a[1]) * u128::from(b[0]);
            cross(left, right).abs_diff(cross(right, left)) as f64
        }
    };
    let mut best: Option<Cut> = None;
    for at in from + 1..to {
        let (left, right) = (side(from, at), side(at, to));
        let apart = apart(left, right);
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
    use proptest::prelude::*;

    fn counts(rows: &[(u32, u64, u64)]) -> ValueCounts {
        ValueCounts::new(1, rows.iter().map(|&(value, accepts, drops)| (value, [accepts, drops])))
    }

    #[test]
    fn class_cuts_enclose_where_rows_are_dropped_and_stop_when_all_is_parted() {
        let sample = counts(&[(0, 90, 0), (1, 5, 0), (2, 0, 4), (3, 0, 2), (4, 3, 0), (5, 8, 0)]);
        let cuts = |sample: &ValueCounts| Vec::from_iter(ClassCuts::new(sample));
        assert_eq!(cuts(&sample), [2, 4], "more accepted rows lie below the drops than above");
        assert_eq!(cuts(&counts(&[(0, 3, 0), (1, 4, 0)])), [0; 0]);
    }

    #[test]
    fn halves_are_as_even_as_values_allow_and_end_when_each_is_alone() {
        // One drop weighs as much as all 20 accepted rows.
        let sample = counts(&[(0, 1, 0), (1, 1, 0), (2, 16, 0), (3, 1, 0), (4, 1, 0), (5, 0, 1)]);
        assert_eq!(Vec::from_iter(Halves::new(&sample)), [5, 2, 3, 1, 4]);
        assert_eq!(Vec::from_iter(Halves::new(&counts(&[(7, 1, 1)]))), [0; 0]);
        assert_eq!(Vec::from_iter(Halves::new(&counts(&[]))), [0; 0]);
    }

    #[test]
    fn edges_are_midpoints_of_both_kinds_of_cut() {
        let sample = counts(&[(0, 9, 0), (10, 9, 0), (21, 0, 1), (30, 9, 0), (40, 9, 0)]);
        assert_eq!(sample.edges(1), [15], "the drop weighs half and lies above the half");
        assert_eq!(sample.edges(2), [15, 25]);
        assert_eq!(sample.edges(20), [15, 25, 5, 35]);
        let ranges = [(0, [1, 0]), (8, [0, 1]), (24, [1, 0])];
        let wide = ValueCounts::new(8, ranges.into_iter());
        let mut edges = wide.edges(4);
        edges.sort_unstable();
        assert_eq!(edges, [7, 19], "15 is the last value of the middle range");
    }

    proptest! {
        #[test]
        fn a_range_leaves_out_a_thousandth_at_either_end(
            rows in prop::collection::btree_map(0_u32..50, (0_u64..90, 0_u64..4), 1..50)
        ) {
            let rows: Vec<(u32, u64, u64)> = rows.into_iter().map(|(value, (a, d))| (value, a + 1, d)).collect();
            let each = |&(value, a, d): &(u32, u64, u64)| vec![value; (a + d) as usize];
            let all: Vec<u32> = rows.iter().flat_map(each).collect();
            let spare = all.len() / 1_000;
            let expected = FeatureRange { lowest: all[spare], highest: all[all.len() - 1 - spare] };
            prop_assert_eq!(counts(&rows).middle_range(), expected);
            let wide = ValueCounts::new(8, rows.iter().map(|&(value, a, d)| (8 * value, [a, d])));
            let FeatureRange { lowest, highest } = expected;
            prop_assert_eq!(wide.middle_range(), FeatureRange { lowest: 8 * lowest, highest: 8 * highest + 7 });
        }

        #[test]
        fn a_multiple_of_the_rows_has_the_same_cuts(
            rows in prop::collection::vec((0_u64..50, 0_u64..4), 1..80)
        ) {
            let times = |factor: u64| {
                let rows = (0_u32..).zip(&rows).map(|(value, &(a, d))| (value, (a + 1) * factor, d * factor));
                Vec::from_iter(ClassCuts::new(&counts(&rows.collect::<Vec<_>>())))
            };
            prop_assert_eq!(times(1), times(1 << 33));
        }

        #[test]
        fn fewer_edges_are_the_first_of_more_and_in_the_end_there_are_all(
            rows in prop::collection::btree_map(0_u32..5000, (0_u64..50, 0_u64..4), 1..120)
        ) {
            let rows: Vec<(u32, u64, u64)> =
                rows.into_iter().map(|(value, (a, d))| (value, a + 1, d)).collect();
            let sample = counts(&rows);
            let all = sample.edges(1000);
            prop_assert_eq!(all.len(), rows.len() - 1);
            prop_assert_eq!(&sample.edges(7)[..], &all[..all.len().min(7)]);
            let mut sorted = all;
            sorted.sort_unstable();
            let midpoints: Vec<u32> =
                rows.windows(2).map(|pair| (pair[0].0 + pair[1].0) / 2).collect();
            prop_assert_eq!(sorted, midpoints);
        }
    }
}
