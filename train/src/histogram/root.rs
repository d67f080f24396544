//! One thread's counts for the roots of trees that share their draws.

use super::BINS;
use super::cells::Cells;
use crate::binned::Block;
use crate::bootstrap::{EVERY_LANE, LANES, MOST_DRAWS};

/// Counts for the roots of a quad, where all rows are: a cell has 16 bits for each lane.
pub(super) struct RootCells {
    /// By feature, draws and rows.
    cells: Vec<[[u64; 2]; BINS]>,
    rows: usize,
}

/// So many rows fit 16 bits.
const ROOT_ROWS: usize = u16::MAX as usize / MOST_DRAWS as usize;

impl RootCells {
    pub(super) fn new(features: usize) -> Self {
        RootCells { cells: vec![[[0; 2]; BINS]; features], rows: 0 }
    }

    /// Counts rows of a class that were drawn so often; what does not fit goes to `cells`.
    pub(super) fn add(
        &mut self,
        block: &Block<'_>,
        draws: &[u64],
        class: usize,
        cells: &mut [Cells; LANES],
    ) {
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

    fn add_rows<const N: usize>(&mut self, first: usize, columns: [&[u8]; N], draws: &[u64]) {
        let cells = &mut self.cells[first..][..N];
        for (row, &draws) in draws.iter().enumerate() {
            // 1 where there are draws: 7 and what is below has three bits.
            let rows = (draws | draws >> 1 | draws >> 2) & EVERY_LANE;
            for (cells, column) in cells.iter_mut().zip(columns) {
                let cell = &mut cells[usize::from(column[row])];
                // The lanes cannot overflow: see ROOT_ROWS.
                *cell = [cell[0].wrapping_add(draws), cell[1].wrapping_add(rows)];
            }
        }
    }

    /// Moves all counts, which are of one class, to `cells`.
    pub(super) fn flush(&mut self, class: usize, cells: &mut [Cells; LANES]) {
        self.rows = 0;
        let roots = self.cells.as_flattened();
        for (lane, cells) in cells.iter_mut().enumerate().filter(|(_, cells)| cells.nodes() == 1) {
            let of_lane = |packed: u64| packed >> (16 * lane) & 0xffff;
            cells.add_root(class, roots.iter().map(|&cell| cell.map(of_lane)));
        }
        self.cells.as_flattened_mut().fill([0; 2]);
    }
}
