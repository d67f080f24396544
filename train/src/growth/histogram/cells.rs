//! One thread's counts for the nodes of a tree.

use super::node_histogram::{Count, NodeHistogram};
use crate::growth::bootstrap::MOST_DRAWS;
use crate::rows::binned::Block;
use dropcast_forest::binning::BINS;

/// A drawn row of a block, in a counted node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Listed {
    /// Its index in the block.
    pub(super) row: u16,
    /// The index of its node among the counted ones.
    pub(super) node: u8,
    pub(super) draws: u8,
}

/// Counts: draws in the low half of a cell, rows in the high half.
pub(super) struct Cells {
    nodes: usize,
    features: usize,
    /// Whether distinct rows are counted; if not, draws stand in for them.
    distinct: bool,
    /// By class, node and feature.
    packed: Vec<[u64; BINS]>,
    /// Upper bound on the rows counted in it.
    rows: u64,
    /// Counts moved out before they overflow.
    carried: Vec<[Count; BINS]>,
}

const ONE_ROW: u64 = 1 << 32;
/// Number of rows that fit the halves of a cell.
const PACKED_ROWS: u64 = (ONE_ROW - 1) / MOST_DRAWS as u64;

impl Cells {
    /// No rows yet.
    pub(super) fn new(nodes: usize, features: usize, distinct: bool) -> Self {
        let packed = vec![[0; BINS]; 2 * nodes * features];
        Cells { nodes, features, distinct, packed, rows: 0, carried: Vec::new() }
    }

    /// Makes room for `rows` more rows.
    pub(super) fn make_room(&mut self, rows: u64) {
        self.rows += rows;
        if self.rows > PACKED_ROWS {
            self.carried.resize(self.packed.len(), [Count::default(); BINS]);
            let carried = self.carried.as_flattened_mut();
            for (carried, packed) in carried.iter_mut().zip(self.packed.as_flattened_mut()) {
                carried.add(unpack(*packed));
                *packed = 0;
            }
            self.rows = rows;
        }
    }

    /// Number of counted nodes.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Adds draws and rows of a class to the only node; `counts` are by feature and bin.
    pub(super) fn add_root(&mut self, class: usize, counts: impl Iterator<Item = (u64, u64)>) {
        let of_class = &mut self.packed[class * self.features..][..self.features];
        for (cell, (draws, rows)) in of_class.as_flattened_mut().iter_mut().zip(counts) {
            *cell = cell.wrapping_add(draws + rows * ONE_ROW);
        }
    }

    /// Counts rows of a class; the caller has made room.
    pub(super) fn add(&mut self, block: &Block<'_>, class: usize, listed: &[Listed]) {
        let of_class = self.nodes * self.features;
        let mut of_class = FeatureCells {
            cells: &mut self.packed[class * of_class..][..of_class],
            features: self.features,
            distinct: self.distinct,
        };
        for (nth, columns) in block.columns.chunks(4).enumerate() {
            let from = 4 * nth;
            match *columns {
                [a, b, c, d] => of_class.add_rows(from, [a, b, c, d], listed),
                [a, b, c] => of_class.add_rows(from, [a, b, c], listed),
                [a, b] => of_class.add_rows(from, [a, b], listed),
                _ => of_class.add_rows(from, [columns[0]], listed),
            }
        }
    }

    /// Adds to the histograms of the nodes.
    pub(super) fn add_to(self, nodes: &mut [NodeHistogram]) {
        let of_class = self.nodes * self.features;
        for (node, histogram) in nodes.iter_mut().enumerate() {
            for class in 0..2 {
                let from = class * of_class + node * self.features;
                for (feature, counts) in histogram.0.iter_mut().enumerate() {
                    let packed = &self.packed[from + feature];
                    for (counts, packed) in counts.iter_mut().zip(packed) {
                        counts[class].add(unpack(*packed));
                    }
                    if let Some(carried) = self.carried.get(from + feature) {
                        for (counts, carried) in counts.iter_mut().zip(carried) {
                            counts[class].add(*carried);
                        }
                    }
                }
            }
        }
    }
}

fn unpack(packed: u64) -> Count {
    Count { draws: packed & (ONE_ROW - 1), rows: packed / ONE_ROW }
}

/// The cells of a class, by node and feature.
struct FeatureCells<'a> {
    cells: &'a mut [[u64; BINS]],
    features: usize,
    distinct: bool,
}

impl FeatureCells<'_> {
    /// Counts rows in `N` features at once, from `first` on: neighbouring rows are often equal, and
    /// additions to different cells need not wait for each other.
    fn add_rows<const N: usize>(&mut self, first: usize, columns: [&[u8]; N], listed: &[Listed]) {
        for listed in listed {
            let draws = u64::from(listed.draws);
            let add = draws | if self.distinct { ONE_ROW } else { draws * ONE_ROW };
            let of_node = usize::from(listed.node) * self.features + first;
            let cells = &mut self.cells[of_node..][..N];
            for (cells, column) in cells.iter_mut().zip(columns) {
                let cell = &mut cells[usize::from(column[usize::from(listed.row)])];
                // The halves cannot overflow: see PACKED_ROWS.
                *cell = cell.wrapping_add(add);
            }
        }
    }
}
