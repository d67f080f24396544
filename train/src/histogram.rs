//! Integer histograms of the nodes of a level: how many rows of each class are in each bin of each
//! feature. Sums of integers, so the order of rows and threads leaves no trace.

use crate::Part;
use crate::TrainError;
use crate::binned::{BLOCK_ROWS, BinnedRows, Block, Loaded};
use crate::bootstrap::{Bootstrap, LANES, MOST_DRAWS};
use crate::growing::{GrowingTree, NEAR_LEVELS, Placing};

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

/// Bins of a feature in a histogram, whether or not it has as many: no bin is out of bounds.
pub(crate) const BINS: usize = 256;

/// A node's counts by feature, bin and class.
#[derive(Clone, Debug)]
pub(crate) struct NodeHistogram(Vec<[[Count; 2]; BINS]>);

impl NodeHistogram {
    fn new(features: usize) -> Self {
        NodeHistogram(vec![[[Count::default(); 2]; BINS]; features])
    }

    /// The counts by bin of `feature`: `[accepted, dropped]`.
    pub(crate) fn of(&self, feature: usize) -> &[[Count; 2]; BINS] {
        &self.0[feature]
    }

    /// The counts of a node without those of one of its children: those of the other.
    pub(crate) fn without(mut self, child: &NodeHistogram) -> Self {
        let cells = self.0.as_flattened_mut().as_flattened_mut();
        for (cell, child) in cells.iter_mut().zip(child.0.as_flattened().as_flattened()) {
            *cell = cell.minus(*child);
        }
        self
    }

    /// Bytes of one.
    pub(crate) fn bytes(features: usize) -> usize {
        features * size_of::<[[Count; 2]; BINS]>()
    }
}

/// What to count for one tree.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) tree: &'a GrowingTree,
    /// The places on the level whose nodes are counted.
    pub(crate) places: Vec<u8>,
}

/// What to count for trees that share their draws.
#[derive(Debug)]
pub(crate) struct CountedQuad<'a> {
    pub(crate) bootstrap: Bootstrap,
    /// The column of each of the trees' features.
    pub(crate) columns: &'a [usize],
    pub(crate) lanes: [Option<Counted<'a>>; LANES],
}

/// Counts the training rows of nodes on one level: by quad, lane and place.
pub(crate) fn count_level(
    rows: &BinnedRows,
    level: usize,
    quads: &[CountedQuad<'_>],
    threads: usize,
) -> Result<Vec<[Vec<NodeHistogram>; LANES]>, TrainError> {
    let counters = rows.each_chunk(
        threads,
        |kind| kind.part == Part::Train,
        || {
            (
                Vec::from_iter(quads.iter().map(|quad| QuadCounter::new(quad, level))),
                Scratch::default(),
            )
        },
        |(counters, scratch), chunk| {
            counters.iter_mut().for_each(|counter| counter.add(chunk, scratch));
        },
    )?;
    let mut found: Vec<[Vec<NodeHistogram>; LANES]> = Vec::new();
    for quad in quads {
        let empty = |lane: &Option<Counted<'_>>| {
            let nodes = lane.as_ref().map_or(0, |lane| lane.places.len());
            vec![NodeHistogram::new(quad.columns.len()); nodes]
        };
        found.push(std::array::from_fn(|lane| empty(&quad.lanes[lane])));
    }
    for (counters, _) in counters {
        for (nodes, counter) in found.iter_mut().zip(counters) {
            for (nodes, cells) in nodes.iter_mut().zip(counter.cells) {
                cells.add_to(nodes);
            }
        }
    }
    Ok(found)
}

/// What a thread needs while it counts a block; for any quad.
#[derive(Default)]
struct Scratch {
    draws: Vec<u32>,
    places: Placing,
    listed: Vec<Listed>,
}

/// A drawn row of a block that is in a counted node.
#[derive(Clone, Copy, Default)]
struct Listed {
    /// Within the block.
    row: u16,
    /// At first its place on some level, then the place of its node among the counted ones.
    place: u8,
    draws: u8,
}

/// One thread's counts for a quad.
struct QuadCounter<'a> {
    quad: &'a CountedQuad<'a>,
    level: usize,
    /// By lane and place on the level, which counted node it is; [`NONE`] for others.
    nodes: [[u8; 256]; LANES],
    /// By lane and place on the level where rows are listed, whether counted nodes are below.
    listed: [[bool; 256]; LANES],
    cells: [Cells; LANES],
    root: RootCells,
}

const NONE: u8 = u8::MAX;

impl<'a> QuadCounter<'a> {
    fn new(quad: &'a CountedQuad<'a>, level: usize) -> Self {
        let mut nodes = [[NONE; 256]; LANES];
        let mut listed = [[false; 256]; LANES];
        for (lane, counted) in quad.lanes.iter().enumerate() {
            let places = counted.iter().flat_map(|counted| &counted.places);
            for (node, &place) in (0_u8..).zip(places) {
                nodes[lane][usize::from(place)] = node;
                listed[lane][usize::from(place >> level.saturating_sub(NEAR_LEVELS))] = true;
            }
        }
        let features = quad.columns.len();
        let cells = |lane: usize| {
            let nodes = quad.lanes[lane].as_ref().map_or(0, |counted| counted.places.len());
            Cells::new(nodes, features)
        };
        let root = RootCells::new(if level == 0 { features } else { 0 });
        QuadCounter { quad, level, nodes, listed, cells: std::array::from_fn(cells), root }
    }

    fn add(&mut self, chunk: &Loaded<'_>, scratch: &mut Scratch) {
        let kind = &chunk.chunk.kind;
        for cells in &mut self.cells {
            cells.make_room(chunk.chunk.rows as u64);
        }
        for block in chunk.blocks(self.quad.columns) {
            scratch.draws.resize(block.rows, 0);
            self.quad.bootstrap.draw(kind, block.first, &mut scratch.draws);
            if self.level == 0 {
                self.root.add(&block, &scratch.draws, kind.class(), &mut self.cells);
            } else {
                (0..LANES).for_each(|lane| self.add_lane(&block, lane, kind.class(), scratch));
            }
        }
        if self.level == 0 {
            self.root.flush(kind.class(), &mut self.cells);
        }
    }

    fn add_lane(&mut self, block: &Block<'_>, lane: usize, class: usize, scratch: &mut Scratch) {
        let Some(Counted { tree, places }) = &self.quad.lanes[lane] else { return };
        if places.is_empty() {
            return;
        }
        let near = self.level.min(NEAR_LEVELS);
        let mut places_of_rows = scratch.places.start(block.rows);
        tree.place(block, 0..near, &mut places_of_rows);
        let at = places_of_rows.at;
        scratch.listed.resize(BLOCK_ROWS, Listed::default());
        let wanted = &self.listed[lane];
        let mut listed = 0;
        for (row, (&place, draws)) in (0..).zip(at.iter().zip(&scratch.draws)) {
            let draws = draws.to_le_bytes()[lane];
            // Written always and kept if it counts: no branch to guess wrong.
            scratch.listed[listed] = Listed { row, place, draws };
            listed += usize::from(wanted[usize::from(place)] & (draws > 0));
        }
        let nodes = &self.nodes[lane];
        if self.level > near {
            let (rows, mut counted) = (listed, 0);
            for at in 0..rows {
                let Listed { row, place, draws } = scratch.listed[at];
                let place = tree.descend(block, usize::from(row), near, place, self.level);
                let node = nodes[usize::from(place)];
                scratch.listed[counted] = Listed { row, place: node, draws };
                counted += usize::from(node != NONE);
            }
            listed = counted;
        } else {
            for listed in &mut scratch.listed[..listed] {
                listed.place = nodes[usize::from(listed.place)];
            }
        }
        self.cells[lane].add(block, class, &scratch.listed[..listed]);
    }
}

/// One thread's counts for a tree: draws in the low half of a cell, rows in the high half.
#[derive(Default)]
struct Cells {
    nodes: usize,
    features: usize,
    /// By class, node and feature.
    packed: Vec<[u64; BINS]>,
    /// Rows in it at most.
    rows: u64,
    /// What did not fit.
    carried: Vec<[Count; BINS]>,
}

const ONE_ROW: u64 = 1 << 32;
/// So many rows fit the halves of a cell.
const PACKED_ROWS: u64 = (ONE_ROW - 1) / MOST_DRAWS as u64;

impl Cells {
    fn new(nodes: usize, features: usize) -> Self {
        let cells = 2 * nodes * features;
        Cells { nodes, features, packed: vec![[0; BINS]; cells], rows: 0, carried: Vec::new() }
    }

    fn make_room(&mut self, rows: u64) {
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

    fn add(&mut self, block: &Block<'_>, class: usize, listed: &[Listed]) {
        let of_class = self.nodes * self.features;
        let cells = &mut self.packed[class * of_class..][..of_class];
        for (nth, columns) in block.columns.chunks(4).enumerate() {
            let from = 4 * nth;
            match *columns {
                [a, b, c, d] => add_rows(cells, self.features, from, [a, b, c, d], listed),
                [a, b, c] => add_rows(cells, self.features, from, [a, b, c], listed),
                [a, b] => add_rows(cells, self.features, from, [a, b], listed),
                _ => add_rows(cells, self.features, from, [columns[0]], listed),
            }
        }
    }

    fn add_to(self, nodes: &mut [NodeHistogram]) {
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

/// Counts rows in `N` features at once: neighbouring rows are often equal, and what is added to
/// one cell after another need not wait.
fn add_rows<const N: usize>(
    cells: &mut [[u64; BINS]],
    features: usize,
    first: usize,
    columns: [&[u8]; N],
    listed: &[Listed],
) {
    for listed in listed {
        let add = ONE_ROW | u64::from(listed.draws);
        let cells = &mut cells[usize::from(listed.place) * features + first..][..N];
        for (cells, column) in cells.iter_mut().zip(columns) {
            let cell = &mut cells[usize::from(column[usize::from(listed.row)])];
            // The halves cannot overflow: see PACKED_ROWS.
            *cell = cell.wrapping_add(add);
        }
    }
}

/// Counts for the roots of a quad, where all rows are: a cell has 16 bits for each lane.
struct RootCells {
    /// By feature, draws and rows.
    cells: Vec<[[u64; 2]; BINS]>,
    rows: usize,
}

/// So many rows fit 16 bits.
const ROOT_ROWS: usize = u16::MAX as usize / MOST_DRAWS as usize;

impl RootCells {
    fn new(features: usize) -> Self {
        RootCells { cells: vec![[[0; 2]; BINS]; features], rows: 0 }
    }

    fn add(&mut self, block: &Block<'_>, draws: &[u32], class: usize, cells: &mut [Cells; LANES]) {
        if self.rows + block.rows > ROOT_ROWS {
            self.flush(class, cells);
        }
        self.rows += block.rows;
        for (nth, columns) in block.columns.chunks(4).enumerate() {
            let from = 4 * nth;
            match *columns {
                [a, b, c, d] => self.add_rows(from, [a, b, c, d], draws),
                [a, b, c] => self.add_rows(from, [a, b, c], draws),
                [a, b] => self.add_rows(from, [a, b], draws),
                _ => self.add_rows(from, [columns[0]], draws),
            }
        }
    }

    fn add_rows<const N: usize>(&mut self, first: usize, columns: [&[u8]; N], draws: &[u32]) {
        let cells = &mut self.cells[first..][..N];
        for (row, &draws) in draws.iter().enumerate() {
            let draws = spread(draws);
            // 1 where there are draws: 7 and what is below has three bits.
            let rows = (draws | draws >> 1 | draws >> 2) & 0x0001_0001_0001_0001;
            for (cells, column) in cells.iter_mut().zip(columns) {
                let cell = &mut cells[usize::from(column[row])];
                // The lanes cannot overflow: see ROOT_ROWS.
                *cell = [cell[0].wrapping_add(draws), cell[1].wrapping_add(rows)];
            }
        }
    }

    fn flush(&mut self, class: usize, cells: &mut [Cells; LANES]) {
        self.rows = 0;
        for (lane, cells) in cells.iter_mut().enumerate().filter(|(_, cells)| cells.nodes == 1) {
            let of_lane = |packed: u64| packed >> (16 * lane) & 0xffff;
            let features = cells.features;
            let of_class = &mut cells.packed[class * features..][..features];
            let roots = self.cells.as_flattened();
            for (cell, &[draws, rows]) in of_class.as_flattened_mut().iter_mut().zip(roots) {
                *cell = cell.wrapping_add(of_lane(draws) + of_lane(rows) * ONE_ROW);
            }
        }
        self.cells.as_flattened_mut().fill([0; 2]);
    }
}

/// Four bytes, 16 bits apart.
fn spread(bytes: u32) -> u64 {
    let pairs = (u64::from(bytes) | u64::from(bytes) << 16) & 0x0000_ffff_0000_ffff;
    (pairs | pairs << 8) & 0x00ff_00ff_00ff_00ff
}
