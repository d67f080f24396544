//! One thread's counts for the roots of trees that share their draws.

use super::cells::Cells;
use crate::growth::bootstrap::{EVERY_LANE, LANES};
use crate::rows::binned::Block;
use dropcast_forest::binning::BINS;

/// Counts for the roots of a quad, which all rows reach.
pub(super) struct RootCells {
    draws: LaneCells,
    /// Present if distinct rows are needed.
    rows: Option<LaneCells>,
    /// Upper bound on the draws in any lane.
    drawn: u64,
}

/// By feature and bin, 16 bits per lane.
struct LaneCells(Vec<[u64; BINS]>);

impl RootCells {
    pub(super) fn new(features: usize, distinct: bool) -> Self {
        let cells = || LaneCells(vec![[0; BINS]; features]);
        RootCells { draws: cells(), rows: distinct.then(cells), drawn: 0 }
    }

    /// Counts rows of a class with these draws; overflow goes to `cells`. Overwrites `draws`.
    pub(super) fn add(
        &mut self,
        block: &Block<'_>,
        draws: &mut [u64],
        class: usize,
        cells: &mut [Cells; LANES],
    ) {
        let drawn = most_drawn(draws);
        if self.drawn + drawn > u64::from(u16::MAX) {
            self.flush(class, cells);
        }
        self.drawn += drawn;
        self.draws.add(block, draws);
        if let Some(rows) = &mut self.rows {
            // 1 for a nonzero lane: draws are at most 7, three bits.
            let is_drawn = |draws: u64| (draws | draws >> 1 | draws >> 2) & EVERY_LANE;
            draws.iter_mut().for_each(|draws| *draws = is_drawn(*draws));
            rows.add(block, draws);
        }
    }

    /// Moves all counts, all of one class, to `cells`.
    pub(super) fn flush(&mut self, class: usize, cells: &mut [Cells; LANES]) {
        self.drawn = 0;
        let rows = self.rows.as_ref().unwrap_or(&self.draws);
        for (lane, cells) in cells.iter_mut().enumerate().filter(|(_, cells)| cells.nodes() == 1) {
            cells.add_root(class, self.draws.lane(lane).zip(rows.lane(lane)));
        }
        self.draws.0.as_flattened_mut().fill(0);
        if let Some(rows) = &mut self.rows {
            rows.0.as_flattened_mut().fill(0);
        }
    }
}

/// The most draws of any lane; a block's fit 16 bits.
fn most_drawn(draws: &[u64]) -> u64 {
    let sums = draws.iter().fold(0, |sums: u64, &draws| sums.wrapping_add(draws));
    (0..LANES).map(|lane| sums >> (16 * lane) & 0xffff).max().unwrap_or(0)
}

impl LaneCells {
    fn add(&mut self, block: &Block<'_>, counts: &[u64]) {
        for (columns, cells) in block.columns.chunks(4).zip(self.0.chunks_mut(4)) {
            match *columns {
                [a, b, c, d] => add_rows(cells, [a, b, c, d], counts),
                [a, b, c] => add_rows(cells, [a, b, c], counts),
                [a, b] => add_rows(cells, [a, b], counts),
                _ => add_rows(cells, [columns[0]], counts),
            }
        }
    }

    /// The counts of a lane by feature and bin.
    fn lane(&self, lane: usize) -> impl Iterator<Item = u64> {
        self.0.as_flattened().iter().map(move |cell| cell >> (16 * lane) & 0xffff)
    }
}

fn add_rows<const N: usize>(cells: &mut [[u64; BINS]], columns: [&[u8]; N], counts: &[u64]) {
    let cells = &mut cells[..N];
    let columns = columns.map(|column| &column[..counts.len()]);
    for (row, &counts) in counts.iter().enumerate() {
        for (cells, column) in cells.iter_mut().zip(columns) {
            let cell = &mut cells[usize::from(column[row])];
            // The lanes cannot overflow: see RootCells::drawn.
            *cell = cell.wrapping_add(counts);
        }
    }
}
