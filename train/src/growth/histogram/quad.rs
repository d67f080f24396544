//! One thread's counts for trees that share their draws.

use super::cells::{Cells, Listed};
use super::counted::CountedQuad;
use super::root::RootCells;
use crate::growth::bootstrap::LANES;
use crate::rows::binned::{BLOCK_ROWS, Block, Loaded};
use crate::rows::row_kind::RowKind;
use dropcast_forest::binning::BinMasks;

/// Counts of nodes on one level.
pub(super) struct QuadCounter<'a> {
    quad: &'a CountedQuad,
    words: Vec<LaneWord>,
    /// On level 0.
    root: Option<RootCells>,
    cells: [Cells; LANES],
}

/// Trees whose counted nodes share a 64-bit word of masks, which finds a row's nodes.
struct LaneWord {
    masks: BinMasks,
    lanes: Vec<LaneBits>,
}

/// The bits of a tree's nodes.
struct LaneBits {
    lane: usize,
    first: u32,
    /// As many low bits as there are nodes.
    mask: u64,
}

/// A thread's buffers for counting a block, of any quad.
pub(super) struct Scratch {
    words: Vec<u64>,
    rows: Vec<u16>,
    draws: Vec<u64>,
    listed: Vec<Listed>,
}

impl Scratch {
    pub(super) fn new() -> Self {
        Scratch {
            words: vec![0; BLOCK_ROWS],
            rows: vec![0; BLOCK_ROWS],
            draws: vec![0; BLOCK_ROWS],
            listed: vec![Listed::default(); BLOCK_ROWS],
        }
    }
}

impl<'a> QuadCounter<'a> {
    pub(super) fn new(quad: &'a CountedQuad, level: usize) -> Self {
        let features = quad.columns.len();
        let cells = |lane: usize| {
            let nodes = quad.lanes[lane].as_ref().map_or(0, |counted| counted.places.len());
            Cells::new(nodes, features, quad.distinct)
        };
        let root = (level == 0).then(|| RootCells::new(features, quad.distinct));
        let words = if level == 0 { Vec::new() } else { LaneWord::of_quad(quad, level) };
        QuadCounter { quad, words, root, cells: std::array::from_fn(cells) }
    }

    /// The counts by lane.
    pub(super) fn finish(self) -> [Cells; LANES] {
        self.cells
    }

    /// Counts the rows of a chunk.
    pub(super) fn add(&mut self, chunk: &Loaded<'_>, scratch: &mut Scratch) {
        let kind = &chunk.chunk.kind;
        for cells in &mut self.cells {
            cells.make_room(chunk.chunk.rows as u64);
        }
        for block in chunk.blocks(&self.quad.columns) {
            match &mut self.root {
                Some(root) => {
                    let draws = &mut scratch.draws[..block.rows];
                    self.quad.bootstrap.draw(kind, block.first, draws);
                    root.add(&block, draws, kind.class(), &mut self.cells);
                }
                None => self.add_block(&block, kind, scratch),
            }
        }
        if let Some(root) = &mut self.root {
            root.flush(kind.class(), &mut self.cells);
        }
    }

    fn add_block(&mut self, block: &Block<'_>, kind: &RowKind, scratch: &mut Scratch) {
        for word in &self.words {
            let Scratch { words, rows, .. } = scratch;
            let rows = word.masks.find(&block.columns, u64::MAX, &mut words[..block.rows], rows);
            let draws = &mut scratch.draws[..rows];
            self.quad.bootstrap.draw_some(kind, block.first, &scratch.rows, draws);
            for bits in &word.lanes {
                let listed = bits.list(rows, scratch);
                self.cells[bits.lane].add(block, kind.class(), &scratch.listed[..listed]);
            }
        }
    }
}

impl LaneWord {
    /// Packs the trees of a quad into words.
    fn of_quad(quad: &CountedQuad, level: usize) -> Vec<Self> {
        let mut words: Vec<(u32, Vec<LaneBits>)> = Vec::new();
        for (lane, counted) in quad.lanes.iter().enumerate() {
            let nodes = counted.as_ref().map_or(0, |counted| counted.places.len() as u32);
            if nodes == 0 {
                continue;
            }
            match words.last() {
                Some((used, _)) if used + nodes <= u64::BITS => {}
                _ => words.push((0, Vec::new())),
            }
            if let Some((used, lanes)) = words.last_mut() {
                let mask = u64::MAX >> (u64::BITS - nodes);
                lanes.push(LaneBits { lane, first: *used, mask });
                *used += nodes;
            }
        }
        words.into_iter().map(|(_, lanes)| LaneWord::new(quad, level, lanes)).collect()
    }

    fn new(quad: &CountedQuad, level: usize, lanes: Vec<LaneBits>) -> Self {
        let all = lanes.iter().fold(0, |all, bits| all | bits.mask << bits.first);
        let mut masks = BinMasks::new(all);
        for bits in &lanes {
            let Some(counted) = &quad.lanes[bits.lane] else { continue };
            for (bit, &place) in (bits.first as usize..).zip(&counted.places) {
                for (feature, elsewhere) in counted.tree.tests_above(level, place) {
                    masks.rule_out(bit, feature, elsewhere);
                }
            }
        }
        LaneWord { masks, lanes }
    }
}

impl LaneBits {
    /// Lists those of the first `rows` that were drawn and are in a counted node of this tree;
    /// returns their number.
    fn list(&self, rows: usize, scratch: &mut Scratch) -> usize {
        let listed = &mut scratch.listed[..rows];
        let found = scratch.rows[..rows].iter().zip(&scratch.words).zip(&scratch.draws);
        let mut kept = 0;
        for ((&row, word), draws) in found {
            let node = word >> self.first & self.mask;
            let draws = (draws >> (16 * self.lane)) as u8;
            listed[kept] = Listed { row, node: node.trailing_zeros() as u8, draws };
            kept += usize::from((node != 0) & (draws > 0));
        }
        kept
    }
}
