//! What bins are made from: the training rows of each class, by value.

use crate::edges::ValueCounts;

/// Counts the rows of a feature by value and class: exactly while there are few values, on a fine
/// grid where there are many. Memory is bounded, every row counts, and their order leaves no trace.
#[derive(Clone, Debug)]
pub(crate) struct ValueSketch {
    counts: Counts,
}

#[derive(Clone, Debug)]
enum Counts {
    Few(FewValues),
    Many(Grid),
}

impl ValueSketch {
    pub(crate) fn new() -> Self {
        ValueSketch { counts: Counts::Few(FewValues::new()) }
    }

    /// Takes in the rows of a batch whose class is 0 (accepted) or 1 (dropped); others are not
    /// trained on.
    pub(crate) fn add(&mut self, values: &[u32], classes: &[u8]) {
        let mut rows = values.iter().copied().zip(classes.iter().map(|&class| usize::from(class)));
        if let Counts::Few(few) = &mut self.counts {
            let first_too_many =
                rows.by_ref().find(|&(value, class)| class < 2 && !few.add(value, class));
            let Some((value, class)) = first_too_many else { return };
            let mut grid = few.to_grid();
            grid.add(value, class, 1);
            self.counts = Counts::Many(grid);
        }
        if let Counts::Many(grid) = &mut self.counts {
            grid.make_room(values.len());
            rows.filter(|&(_, class)| class < 2)
                .for_each(|(value, class)| grid.add(value, class, 1));
        }
    }

    /// The counts.
    pub(crate) fn finish(self) -> ValueCounts {
        match self.counts {
            Counts::Few(few) => {
                let mut rows: Vec<(u32, [u64; 2])> = few.rows().collect();
                rows.sort_unstable();
                ValueCounts::new(1, rows.into_iter())
            }
            Counts::Many(grid) => grid.finish(),
        }
    }
}

/// Distinct values at most that are counted one by one: as many as there can be bins.
const FEW: usize = 256;
/// Four times as many, so that most values are found where they are looked for first.
const SLOTS: usize = 4 * FEW;

/// Rows by value, in a table with open addressing.
#[derive(Clone, Debug)]
struct FewValues {
    /// By slot, a value and its accepted and dropped rows; free without rows.
    slots: Vec<(u32, [u64; 2])>,
    values: usize,
}

impl FewValues {
    fn new() -> Self {
        FewValues { slots: vec![(0, [0; 2]); SLOTS], values: 0 }
    }

    /// Counts a row; false, and not counted, if its value would be one too many.
    fn add(&mut self, value: u32, class: usize) -> bool {
        let mut at = (value.wrapping_mul(0x9e37_79b1) >> 16) as usize;
        loop {
            let (found, counts) = &mut self.slots[at % SLOTS];
            let is_free = *counts == [0; 2];
            if !is_free && *found == value {
                counts[class] += 1;
                return true;
            }
            if is_free {
                if self.values == FEW {
                    return false;
                }
                self.values += 1;
                *found = value;
                counts[class] = 1;
                return true;
            }
            at += 1;
        }
    }

    fn rows(&self) -> impl Iterator<Item = (u32, [u64; 2])> {
        self.slots.iter().copied().filter(|(_, counts)| *counts != [0; 2])
    }

    fn to_grid(&self) -> Grid {
        let mut grid = Grid::default();
        for (value, counts) in self.rows() {
            for (class, rows) in counts.into_iter().enumerate() {
                grid.add_many(value, class, rows);
            }
        }
        grid
    }
}

/// Rows counted on a grid whose cells are as narrow as the largest value allows: 1 up to 262,143,
/// 8 around a megabyte.
#[derive(Clone, Debug, Default)]
struct Grid {
    /// A cell is `value >> shift`.
    shift: u32,
    /// By cell, accepted and dropped rows: those since the last carry.
    cells: Vec<[u32; 2]>,
    /// Rows since the last carry, at most.
    rows: u64,
    /// By cell, the rows before.
    carried: Vec<[u64; 2]>,
}

/// Cells of a grid at most; a grid takes 2 MiB, and 4 more beyond four billion rows.
const GRID_BITS: u32 = 18;

impl Grid {
    /// Makes sure that so many rows can be counted.
    fn make_room(&mut self, rows: usize) {
        self.rows += rows as u64;
        if self.rows > u64::from(u32::MAX) {
            self.carry();
            self.rows = rows as u64;
        }
    }

    /// Counts `rows` rows, for which there is room.
    fn add(&mut self, value: u32, class: usize, rows: u32) {
        let at = self.cell(value);
        self.cells[at][class] += rows;
    }

    fn add_many(&mut self, value: u32, class: usize, rows: u64) {
        let at = self.cell(value);
        self.carried.resize(self.cells.len(), [0; 2]);
        self.carried[at][class] += rows;
    }

    fn cell(&mut self, value: u32) -> usize {
        while value >> self.shift >> GRID_BITS > 0 {
            self.widen();
        }
        let at = (value >> self.shift) as usize;
        if at >= self.cells.len() {
            self.cells.resize(at + 1, [0; 2]);
        }
        at
    }

    fn carry(&mut self) {
        self.carried.resize(self.cells.len(), [0; 2]);
        for (carried, cell) in self.carried.iter_mut().zip(&mut self.cells) {
            let [accepts, drops] = std::mem::take(cell);
            carried[0] += u64::from(accepts);
            carried[1] += u64::from(drops);
        }
        self.rows = 0;
    }

    /// Makes one cell of two.
    fn widen(&mut self) {
        let rows = self.rows;
        self.carry();
        let sum = |class: usize, pair: &[[u64; 2]]| pair.iter().map(|cell| cell[class]).sum();
        self.carried = self.carried.chunks(2).map(|pair| [sum(0, pair), sum(1, pair)]).collect();
        self.cells = vec![[0; 2]; self.carried.len()];
        self.shift += 1;
        // Room was made for rows that are still to come.
        self.rows = rows;
    }

    fn finish(mut self) -> ValueCounts {
        self.carry();
        let (width, shift) = (1 << self.shift, self.shift);
        let cells = (0_u32..).zip(self.carried).filter(|(_, counts)| *counts != [0; 2]);
        ValueCounts::new(width, cells.map(|(cell, counts)| (cell << shift, counts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn sketch(rows: &[(u32, u8)], batch: usize) -> ValueCounts {
        let mut sketch = ValueSketch::new();
        for rows in rows.chunks(batch) {
            let (values, classes): (Vec<u32>, Vec<u8>) = rows.iter().copied().unzip();
            sketch.add(&values, &classes);
        }
        sketch.finish()
    }

    /// The same by a sorted map.
    fn counted(rows: &[(u32, u8)]) -> ValueCounts {
        let mut exact: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        for &(value, class) in rows.iter().filter(|row| row.1 < 2) {
            exact.entry(value).or_default()[usize::from(class)] += 1;
        }
        let largest = exact.last_key_value().map_or(0, |(&value, _)| value);
        let bits = (u32::BITS - largest.leading_zeros()).saturating_sub(GRID_BITS);
        let shift = if exact.len() > FEW { bits } else { 0 };
        let mut cells: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        for (value, counts) in exact {
            let cell = cells.entry(value >> shift << shift).or_default();
            cell[0] += counts[0];
            cell[1] += counts[1];
        }
        ValueCounts::new(1 << shift, cells.into_iter())
    }

    proptest! {
        #[test]
        fn rows_are_counted_by_value_in_any_order(
            few in prop::collection::vec((0_u32..200, 0_u8..3), 1..300),
            many in prop::collection::vec((any::<u32>(), 0_u8..3), 0..600),
            below in 0_u32..32,
            batch in 1_usize..99,
        ) {
            let many = many.into_iter().map(|(value, class)| (value >> below, class));
            let mut rows: Vec<(u32, u8)> = few.into_iter().chain(many).collect();
            let expected = counted(&rows);
            prop_assert_eq!(sketch(&rows, batch), expected.clone());
            rows.reverse();
            prop_assert_eq!(sketch(&rows, batch), expected);
        }
    }

    #[test]
    fn more_rows_than_a_cell_holds_are_carried() {
        let mut grid = Grid::default();
        grid.make_room(u32::MAX as usize);
        grid.add(7, 0, u32::MAX);
        grid.make_room(5);
        grid.add(7, 0, 5);
        grid.add(300_000, 1, 1);
        let cells = [(6, [u64::from(u32::MAX) + 5, 0]), (300_000, [0, 1])];
        assert_eq!(grid.finish(), ValueCounts::new(2, cells.into_iter()));
    }
}
