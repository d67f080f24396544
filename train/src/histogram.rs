//! Integer histograms of a level of a tree: how many rows of each class are in each bin of each
//! feature, in each node. Sums of integers, so the order of rows and threads leaves no trace.

use crate::binned::{BLOCK_ROWS, BinnedRows, Block, on_threads};
use crate::growing::GrowingTree;
use crate::random::{Poisson, Purpose, Stream};

/// Rows, and how often they were drawn into the tree's sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Draws: what impurity and leaf weights are made from.
    pub(crate) draws: u64,
    /// Distinct rows.
    pub(crate) rows: u64,
}

impl Count {
    pub(crate) fn add(&mut self, other: Count) {
        self.draws += other.draws;
        self.rows += other.rows;
    }

    pub(crate) fn minus(self, other: Count) -> Count {
        Count { draws: self.draws - other.draws, rows: self.rows - other.rows }
    }
}

/// Bins of a feature in a histogram, whether or not it has as many.
const BINS: usize = 256;
/// Cells of a feature in a node: a class of a bin each, accepted rows first.
const CELLS: usize = 2 * BINS;

/// The histograms of the open nodes of one level of one tree.
#[derive(Debug)]
pub(crate) struct Histogram {
    nodes: usize,
    cells: Vec<Count>,
}

impl Histogram {
    /// The counts of `node` (among the open ones) by bin of `feature`: `[accepted, dropped]`.
    pub(crate) fn of(&self, feature: usize, node: usize) -> &[[Count; 2]] {
        let from = (feature * self.nodes + node) * CELLS;
        self.cells[from..from + CELLS].as_chunks().0
    }
}

/// How the rows of a tree are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bootstrap {
    pub(crate) seed: u64,
    pub(crate) tree: u64,
    /// `None`: every row once.
    pub(crate) poisson: Option<Poisson>,
}

/// One level of a tree.
#[derive(Debug)]
pub(crate) struct Level<'a> {
    pub(crate) tree: &'a GrowingTree,
    pub(crate) level: usize,
    /// The places on this level whose nodes may be split.
    pub(crate) open: &'a [u16],
    pub(crate) bootstrap: Bootstrap,
}

/// Counts the training rows of a level's open nodes.
pub(crate) fn count_level(rows: &BinnedRows, level: &Level<'_>, threads: usize) -> Histogram {
    let blocks = rows.blocks();
    let parts = on_threads(&blocks, threads, |blocks| {
        let mut counter = Counter::new(level, rows.features());
        blocks.iter().for_each(|block| counter.add(block));
        counter.finish()
    });
    let mut cells = vec![Count::default(); rows.features() * level.open.len() * CELLS];
    for part in parts {
        cells.iter_mut().zip(part).for_each(|(cell, more)| cell.add(more));
    }
    Histogram { nodes: level.open.len(), cells }
}

/// Counts blocks of rows, one thread's share of a level.
struct Counter<'a> {
    level: &'a Level<'a>,
    /// By place on the level, where its cells begin; [`CLOSED`] for nodes that are not split.
    base: Vec<u32>,
    /// By feature, node, bin and class: draws in the low half, rows in the high half.
    packed: Vec<u64>,
    packed_rows: usize,
    cells: Vec<Count>,
    places: Vec<u16>,
    drawn: Vec<Drawn>,
}

/// A drawn row of a block.
#[derive(Clone, Copy, Default)]
struct Drawn {
    /// Within the block.
    row: u32,
    /// Its cell in bin 0 of a feature.
    cell: u32,
    /// What is added to its cells.
    add: u64,
}

const CLOSED: u32 = u32::MAX;
const ONE_ROW: u64 = 1 << 32;
/// So many rows fit the halves of a packed cell: below 2^32 draws even if each is drawn 16 times.
const PACKED_ROWS: usize = 1 << 27;

impl<'a> Counter<'a> {
    fn new(level: &'a Level<'a>, features: usize) -> Self {
        let mut base = vec![CLOSED; 1 << level.level];
        for (node, &place) in (0_u32..).zip(level.open) {
            base[usize::from(place)] = node * CELLS as u32;
        }
        let cells = features * level.open.len() * CELLS;
        Counter {
            level,
            base,
            packed: vec![0; cells],
            packed_rows: 0,
            cells: vec![Count::default(); cells],
            places: Vec::new(),
            drawn: vec![Drawn::default(); BLOCK_ROWS],
        }
    }

    fn add(&mut self, block: &Block<'_>) {
        self.level.tree.place(block, self.level.level, &mut self.places);
        let drawn = self.draw(block);
        let node_cells = self.level.open.len() * CELLS;
        for (column, cells) in block.group.columns.iter().zip(self.packed.chunks_mut(node_cells)) {
            let column = &column[block.rows.clone()];
            for drawn in &self.drawn[..drawn] {
                let bin = usize::from(column[drawn.row as usize]);
                let cell = &mut cells[drawn.cell as usize + 2 * bin];
                // The halves cannot overflow: see PACKED_ROWS.
                *cell = cell.wrapping_add(drawn.add);
            }
        }
        self.packed_rows += drawn;
        if self.packed_rows > PACKED_ROWS - BLOCK_ROWS {
            self.unpack();
        }
    }

    /// Lists the block's rows that train, were drawn, and are in an open node; how many they are.
    fn draw(&mut self, block: &Block<'_>) -> usize {
        let Bootstrap { seed, tree, poisson } = self.level.bootstrap;
        let key = [tree, block.group.run, u64::from(block.group.switch)];
        let stream = Stream::new(seed, Purpose::Bootstrap, &key);
        let marks = &block.group.marks[block.rows.clone()];
        let mut listed = 0;
        for (row, (&mark, &place)) in (0_u32..).zip(marks.iter().zip(&self.places)) {
            let number = block.rows.start as u64 + u64::from(row);
            let draws = poisson.map_or(1, |poisson| poisson.draw(stream.at(number)));
            let base = self.base[usize::from(place)];
            let counts = mark.is_train() & (draws > 0) & (base != CLOSED);
            // Written always and kept if it counts: no branch to guess wrong.
            self.drawn[listed] = Drawn {
                row,
                cell: base.wrapping_add(mark.class() as u32),
                add: ONE_ROW | u64::from(draws),
            };
            listed += usize::from(counts);
        }
        listed
    }

    fn unpack(&mut self) {
        for (cell, packed) in self.cells.iter_mut().zip(&mut self.packed) {
            cell.add(Count { draws: *packed & (ONE_ROW - 1), rows: *packed / ONE_ROW });
            *packed = 0;
        }
        self.packed_rows = 0;
    }

    fn finish(mut self) -> Vec<Count> {
        self.unpack();
        self.cells
    }
}
