//! Bin edges: the integer thresholds among which splits are chosen.

use crate::RowId;
use crate::random::{Purpose, Stream};
use crate::sample::Smallest;
use std::collections::BTreeSet;

/// The edges of one feature, ascending. A value `x` is in bin `b` if `b` edges are below it, so
/// `x <= edges[b]` if and only if its bin is at most `b`: a split between bins is a split of
/// values, and nothing is lost by working on bins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bins {
    edges: Vec<u32>,
    /// Values are looked up by their high bits first: `value >> shift`.
    shift: u32,
    /// By high bits, how many edges lie below every such value.
    first: Vec<u8>,
}

/// Values are looked up by this many bits.
const LOOKUP_BITS: u32 = 12;

impl Bins {
    /// Bins with these edges: ascending, at most 255 of them.
    pub(crate) fn new(edges: Vec<u32>) -> Self {
        let largest = edges.last().copied().unwrap_or(0);
        let shift = (u32::BITS - largest.leading_zeros()).saturating_sub(LOOKUP_BITS);
        let first = (0..=(largest >> shift) + 1)
            .map(|high| {
                let below =
                    edges.partition_point(|&edge| u64::from(edge) < u64::from(high) << shift);
                u8::try_from(below).expect("there are at most 255 edges")
            })
            .collect();
        Bins { edges, shift, first }
    }

    /// The edges.
    pub(crate) fn edges(&self) -> &[u32] {
        &self.edges
    }

    /// The bin of `value`.
    pub(crate) fn bin(&self, value: u32) -> u8 {
        let high = (value >> self.shift) as usize;
        let Some((&from, &to)) = self.first.get(high).zip(self.first.get(high + 1)) else {
            return self.edges.len() as u8;
        };
        let within = &self.edges[usize::from(from)..usize::from(to)];
        from + within.partition_point(|&edge| edge < value) as u8
    }

    /// The edge to split at where a node has rows in bins `below` and `above` but none between:
    /// the one in the middle of the gap, as far as there are edges.
    pub(crate) fn middle(&self, below: u8, above: u8) -> u8 {
        let gap = &self.edges[usize::from(below)..usize::from(above)];
        let (first, last) = (gap[0], gap[gap.len() - 1]);
        let middle = first + (last - first) / 2;
        // The first edge is never above the middle, so the count is at least 1.
        below + (gap.partition_point(|&edge| edge <= middle) - 1) as u8
    }
}

/// Gathers what bins are made from, in bounded memory and without regard to the order of rows:
/// the distinct values of a feature while they are few, and samples of accepted and of dropped
/// rows for the others.
#[derive(Debug)]
pub(crate) struct BinSketch {
    seed: u64,
    max_bins: usize,
    distinct: Vec<Distinct>,
    accepts: Smallest<SampledRow>,
    drops: Smallest<SampledRow>,
}

/// The hash that drew a row, and the row's features.
type SampledRow = (u64, Box<[u32]>);

/// Rows sampled of each class. Drops are a thousandth of all rows and are what the edges must
/// resolve, so they have a sample of their own.
const SAMPLED: usize = 1 << 16;

impl BinSketch {
    /// A sketch for bins of `features` features, at most `max_bins` of each.
    pub(crate) fn new(features: usize, max_bins: u16, seed: u64) -> Self {
        BinSketch {
            seed,
            max_bins: usize::from(max_bins),
            distinct: vec![Distinct::default(); features],
            accepts: Smallest::new(SAMPLED),
            drops: Smallest::new(SAMPLED),
        }
    }

    /// Takes in row `at` of the columns `features`.
    pub(crate) fn add(&mut self, id: RowId, features: &[Vec<u32>], at: usize, drop: bool) {
        for (distinct, column) in self.distinct.iter_mut().zip(features) {
            distinct.add(column[at], self.max_bins);
        }
        let sample = if drop { &mut self.drops } else { &mut self.accepts };
        let hash = Stream::of_row(self.seed, Purpose::BinSample, id);
        if !sample.refuses(|limit| hash > limit.0) {
            sample.offer((hash, features.iter().map(|column| column[at]).collect()));
        }
    }

    /// The bins of each feature.
    pub(crate) fn finish(self) -> Vec<Bins> {
        let (accepts, drops) = (self.accepts.into_sorted(), self.drops.into_sorted());
        let column = |rows: &[SampledRow], feature: usize| -> Vec<u32> {
            rows.iter().map(|(_, row)| row[feature]).collect()
        };
        let bins = |(feature, distinct): (usize, Distinct)| match distinct.finish() {
            Some(values) => Bins::new(edges_between(&values)),
            None => {
                let masses = masses(column(&accepts, feature), column(&drops, feature));
                Bins::new(quantile_edges(&masses, self.max_bins))
            }
        };
        self.distinct.into_iter().enumerate().map(bins).collect()
    }
}

/// The distinct values of a feature, given up when there are too many.
#[derive(Clone, Debug, Default)]
struct Distinct {
    values: BTreeSet<u32>,
    many: bool,
    last: Option<u32>,
}

impl Distinct {
    fn add(&mut self, value: u32, most: usize) {
        if self.many || self.last == Some(value) {
            return;
        }
        self.last = Some(value);
        self.values.insert(value);
        if self.values.len() > most {
            self.many = true;
            self.values.clear();
        }
    }

    fn finish(self) -> Option<Vec<u32>> {
        (!self.many).then(|| self.values.into_iter().collect())
    }
}

/// The edge between neighbouring values `a < b`: scikit-learn's midpoint, rounded down. For
/// integers both decide alike.
fn between(a: u32, b: u32) -> u32 {
    a + (b - a) / 2
}

fn edges_between(values: &[u32]) -> Vec<u32> {
    values.windows(2).map(|pair| between(pair[0], pair[1])).collect()
}

/// Distinct values with their mass, ascending. Accepted and dropped rows have the same mass in
/// total, so half of the bins resolve the values at which rows are dropped.
fn masses(accepts: Vec<u32>, drops: Vec<u32>) -> Vec<(u32, u64)> {
    let of_accept = if accepts.is_empty() { 0 } else { drops.len().max(1) as u64 };
    let of_drop = if drops.is_empty() { 0 } else { accepts.len().max(1) as u64 };
    let mut rows: Vec<(u32, u64)> = accepts.into_iter().map(|value| (value, of_accept)).collect();
    rows.extend(drops.into_iter().map(|value| (value, of_drop)));
    rows.sort_unstable();
    rows.chunk_by(|a, b| a.0 == b.0)
        .map(|same| (same[0].0, same.iter().map(|&(_, mass)| mass).sum()))
        .collect()
}

/// Edges of at most `max_bins` bins of about the same mass. A value that is heavier than a bin
/// gets one of its own; what it leaves is shared by the others.
fn quantile_edges(masses: &[(u32, u64)], max_bins: usize) -> Vec<u32> {
    let mut left: u64 = masses.iter().map(|&(_, mass)| mass).sum();
    let mut bins_left = max_bins as u64;
    let mut edges = Vec::new();
    let mut filled = 0;
    for pair in masses.windows(2) {
        let ((value, mass), (next, next_mass)) = (pair[0], pair[1]);
        filled += mass;
        if bins_left == 1 {
            break;
        }
        let is_full = filled * bins_left >= left;
        let next_is_heavy = next_mass * bins_left >= left;
        if is_full || next_is_heavy {
            edges.push(between(value, next));
            left -= filled;
            bins_left -= 1;
            filled = 0;
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sketch(rows: &[(u32, bool)], max_bins: u16) -> Bins {
        let mut sketch = BinSketch::new(1, max_bins, 1);
        let column = [rows.iter().map(|&(value, _)| value).collect::<Vec<u32>>()];
        for (at, &(_, drop)) in rows.iter().enumerate() {
            let id = RowId { run: 0, switch: 0, row: at as u64 };
            sketch.add(id, &column, at, drop);
        }
        sketch.finish().remove(0)
    }

    #[test]
    fn few_values_have_a_bin_each() {
        let bins = sketch(&[(7, false), (0, true), (10, false), (7, true), (1, false)], 255);
        assert_eq!(bins.edges(), [0, 4, 8]);
        assert_eq!([0, 1, 4, 5, 8, 9, u32::MAX].map(|x| bins.bin(x)), [0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(sketch(&[(5, true)], 255).edges(), [0; 0]);
    }

    #[test]
    fn a_skewed_feature_is_resolved_where_rows_are_dropped() {
        let mut rows: Vec<(u32, bool)> =
            (0..100_000).map(|row| (row % 10 / 9 * row, false)).collect();
        rows.extend((0..100).map(|row| (900_000 + 1000 * row, true)));
        let bins = sketch(&rows, 64);
        assert!(bins.edges().len() < 64);
        let among_drops = bins.edges().iter().filter(|&&edge| edge >= 900_000).count();
        assert!(among_drops >= 24, "{among_drops}");
        assert_eq!(bins.edges()[0], 4, "0 is nine tenths of the accepted rows and has its own bin");
    }

    #[test]
    fn the_middle_of_a_gap_is_measured_in_values() {
        let bins = Bins::new(vec![10, 11, 12, 100]);
        assert_eq!(bins.middle(1, 2), 1);
        assert_eq!(bins.middle(0, 3), 1);
        assert_eq!(bins.middle(1, 4), 2, "12 is the last edge up to 55");
    }

    proptest! {
        #[test]
        fn bins_count_the_edges_below(
            edges in prop::collection::btree_set(any::<u32>(), 0..255),
            small in prop::collection::btree_set(0_u32..600, 0..255),
            values in prop::collection::vec(any::<u32>(), 0..50),
        ) {
            for edges in [edges, small] {
                let edges: Vec<u32> = edges.into_iter().collect();
                let bins = Bins::new(edges.clone());
                let near = edges.iter().flat_map(|&e| [e, e.saturating_add(1), e.saturating_sub(1)]);
                for value in values.iter().copied().chain(near).chain([0, u32::MAX]) {
                    let below = edges.iter().filter(|&&edge| edge < value).count();
                    prop_assert_eq!(usize::from(bins.bin(value)), below);
                }
            }
        }

        #[test]
        fn edges_ascend_and_are_no_more_than_asked(
            rows in prop::collection::vec((0_u32..2000, any::<bool>()), 1..400),
            max_bins in 2_u16..40,
        ) {
            let bins = sketch(&rows, max_bins);
            prop_assert!(bins.edges().len() < usize::from(max_bins));
            prop_assert!(bins.edges().windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
