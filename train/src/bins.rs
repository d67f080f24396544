//! Bin edges: the integer thresholds among which splits are chosen.

use crate::edges::{ValueCounts, every_edge};
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

/// Counts what bins are made from: of each feature, its distinct values while they are few, and
/// the rows of each class on a fine grid of values. Memory is bounded, every row counts, and
/// their order leaves no trace.
#[derive(Debug)]
pub(crate) struct BinSketch {
    max_bins: usize,
    features: Vec<(Distinct, Grid)>,
}

impl BinSketch {
    /// A sketch for bins of `features` features, at most `max_bins` of each.
    pub(crate) fn new(features: usize, max_bins: u16) -> Self {
        BinSketch { max_bins: usize::from(max_bins), features: vec![Default::default(); features] }
    }

    /// Takes in row `at` of the columns `features`.
    pub(crate) fn add(&mut self, features: &[Vec<u32>], at: usize, drop: bool) {
        for ((distinct, grid), column) in self.features.iter_mut().zip(features) {
            distinct.add(column[at], self.max_bins);
            grid.add(column[at], drop);
        }
    }

    /// The bins of each feature.
    pub(crate) fn finish(self) -> Vec<Bins> {
        let edges = |(distinct, grid): (Distinct, Grid)| match distinct.finish() {
            Some(values) => every_edge(&values),
            None => grid.into_counts().edges(self.max_bins),
        };
        self.features.into_iter().map(|feature| Bins::new(edges(feature))).collect()
    }
}

/// Rows counted on a grid whose cells are as narrow as the largest value allows: 1 up to 262,143,
/// 8 around a megabyte.
#[derive(Clone, Debug, Default)]
struct Grid {
    /// A cell is `value >> shift`.
    shift: u32,
    /// By cell, accepted and dropped rows.
    cells: Vec<[u64; 2]>,
}

/// Cells of a grid at most; a grid takes 4 MiB at most.
const GRID_BITS: u32 = 18;

impl Grid {
    fn add(&mut self, value: u32, drop: bool) {
        while value >> self.shift >> GRID_BITS > 0 {
            self.widen();
        }
        let at = (value >> self.shift) as usize;
        if at >= self.cells.len() {
            self.cells.resize(at + 1, [0; 2]);
        }
        self.cells[at][usize::from(drop)] += 1;
    }

    /// Makes one cell of two.
    fn widen(&mut self) {
        let pairs = self.cells.chunks(2);
        let sum = |class: usize, pair: &[[u64; 2]]| pair.iter().map(|cell| cell[class]).sum();
        self.cells = pairs.map(|pair| [sum(0, pair), sum(1, pair)]).collect();
        self.shift += 1;
    }

    fn into_counts(self) -> ValueCounts {
        let width = 1 << self.shift;
        let cells = (0_u32..).zip(self.cells).filter(|(_, counts)| *counts != [0; 2]);
        ValueCounts::new(width, cells.map(|(cell, counts)| (cell << self.shift, counts)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sketch(rows: &[(u32, bool)], max_bins: u16) -> Bins {
        let mut sketch = BinSketch::new(1, max_bins);
        let column = [rows.iter().map(|&(value, _)| value).collect::<Vec<u32>>()];
        for (at, &(_, drop)) in rows.iter().enumerate() {
            sketch.add(&column, at, drop);
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
        assert_eq!(bins.edges()[0], 5, "0 is nine tenths of the accepted rows and has its own bin");
    }

    #[test]
    fn the_middle_of_a_gap_is_measured_in_values() {
        let bins = Bins::new(vec![10, 11, 12, 100]);
        assert_eq!(bins.middle(1, 2), 1);
        assert_eq!(bins.middle(0, 3), 1);
        assert_eq!(bins.middle(1, 4), 2, "12 is the last edge up to 55");
    }

    #[test]
    fn wide_cells_count_what_narrow_ones_would() {
        let values = [3, 70_000, 1_052_672, 1_052_671, 5, u32::MAX, 8, 1_052_672];
        let mut growing = Grid::default();
        values.iter().for_each(|&value| growing.add(value, value % 2 == 1));
        let mut grown = Grid { shift: 14, cells: Vec::new() };
        values.iter().for_each(|&value| grown.add(value, value % 2 == 1));
        assert_eq!((growing.shift, growing.cells.len()), (14, 1 << GRID_BITS));
        assert_eq!(growing.cells, grown.cells);
        assert_eq!(growing.cells[0], [1, 2]);
        assert_eq!(growing.cells[1_052_672 >> 14], [2, 1]);
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
