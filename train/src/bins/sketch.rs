//! Counts of the training rows by value and class, from which bins are made.

use crate::bins::edges::ValueCounts;
use crate::rows::training_marks::TrainingMarks;
use std::collections::BTreeMap;

/// Counts the rows of a feature by value and class: exactly while values are few or small, on a
/// fine grid otherwise. Memory is bounded, every row counts, and row order does not matter.
#[derive(Clone, Debug)]
pub(crate) struct ValueSketch {
    counts: SketchCounts,
}

#[derive(Clone, Debug)]
enum SketchCounts {
    Few(FewValues),
    Many(Grid),
}

impl ValueSketch {
    pub(crate) fn new() -> Self {
        ValueSketch { counts: SketchCounts::Many(Grid::new()) }
    }

    /// Counts the rows that train.
    pub(crate) fn add(&mut self, values: &[u32], marks: &TrainingMarks) {
        if marks.rows() == 0 {
            return;
        }
        if let SketchCounts::Many(grid) = &mut self.counts {
            let bits = bits(values, marks);
            let few = if grid.has_cells_for(bits) { None } else { FewValues::from_grid(grid) };
            match few {
                Some(few) => self.counts = SketchCounts::Few(few),
                None => return grid.add(values, bits, marks),
            }
        }
        if let SketchCounts::Few(few) = &mut self.counts {
            let mut more = few.clone();
            if more.add(values, marks) {
                *few = more;
            } else {
                let bits = bits(values, marks);
                let mut grid = few.to_grid(bits);
                grid.add(values, bits, marks);
                self.counts = SketchCounts::Many(grid);
            }
        }
    }

    /// The counts.
    pub(crate) fn finish(self) -> ValueCounts {
        match self.counts {
            SketchCounts::Few(few) => {
                let mut rows: Vec<(u32, Rows)> = few.rows().collect();
                rows.sort_unstable_by_key(|&(value, _)| value);
                ValueCounts::new(1, rows.into_iter().map(|(value, rows)| (value, rows.by_class())))
            }
            SketchCounts::Many(grid) => grid.finish(),
        }
    }
}

/// The counts of all rows of two sketches: what one sketch of these rows would have counted.
pub(crate) fn merge_counts(a: &ValueCounts, b: &ValueCounts) -> ValueCounts {
    let ((a_width, a_ranges), (b_width, b_ranges)) = (a.ranges(), b.ranges());
    let mut ranges: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
    let mut add = |(value, counts): (u32, [u64; 2])| {
        let sum = ranges.entry(value).or_default();
        *sum = [sum[0] + counts[0], sum[1] + counts[1]];
    };
    a_ranges.for_each(&mut add);
    b_ranges.for_each(&mut add);
    let largest = ranges.last_key_value().map_or(0, |(&value, _)| value);
    let is_exact = a_width.max(b_width) == 1;
    if is_exact && (ranges.len() <= FEW || shift_for(largest) == 0) {
        return ValueCounts::new(1, ranges.into_iter());
    }
    // A wide range begins at a multiple of its width, so its largest value needs no more bits.
    let shift = shift_for(largest).max(a_width.max(b_width).trailing_zeros());
    let mut cells: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
    for (value, counts) in ranges {
        let sum = cells.entry(value >> shift << shift).or_default();
        *sum = [sum[0] + counts[0], sum[1] + counts[1]];
    }
    ValueCounts::new(1 << shift, cells.into_iter())
}

/// The cells of a grid that values of these bits need are this shift wide.
fn shift_for(bits: u32) -> u32 {
    (u32::BITS - bits.leading_zeros()).saturating_sub(GRID_BITS)
}

/// Training rows of a value or a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Rows {
    all: u64,
    drops: u64,
}

impl Rows {
    /// Accepted and dropped ones.
    fn by_class(self) -> [u64; 2] {
        [self.all - self.drops, self.drops]
    }
}

/// Maximum number of distinct values that are counted one by one, however large: the maximum number
/// of bins.
const FEW: usize = 256;
/// Four times as many slots, so that most values are found at the first probe.
const SLOTS: usize = 4 * FEW;

/// Rows by value, in a table with open addressing.
#[derive(Clone, Debug)]
struct FewValues {
    /// By slot, a value and its rows; a slot without rows is free.
    slots: Vec<(u32, Rows)>,
    values: usize,
}

impl FewValues {
    /// The rows of a grid with one value per cell, if few values occur.
    fn from_grid(grid: &Grid) -> Option<Self> {
        if grid.shift > 0 {
            return None;
        }
        let mut few = FewValues { slots: vec![(0, Rows::default()); SLOTS], values: 0 };
        for (value, rows) in grid.rows() {
            *few.slot(value)? = rows;
        }
        Some(few)
    }

    /// Counts rows; false if there are too many values, and then the table is no longer usable.
    fn add(&mut self, values: &[u32], marks: &TrainingMarks) -> bool {
        let mut all_fit = true;
        marks.each(values, |value, trains| {
            if trains == 1 && all_fit {
                match self.slot(value) {
                    Some(rows) => rows.all += 1,
                    None => all_fit = false,
                }
            }
        });
        for &drop in marks.drops() {
            if all_fit && let Some(rows) = self.slot(values[drop as usize]) {
                rows.drops += 1;
            }
        }
        all_fit
    }

    /// The counters of a value, which the caller will increment; `None` if it would be one value
    /// too many.
    fn slot(&mut self, value: u32) -> Option<&mut Rows> {
        let mut at = (value.wrapping_mul(0x9e37_79b1) >> 16) as usize % SLOTS;
        loop {
            let (found, rows) = self.slots[at];
            if rows.all == 0 {
                if self.values == FEW {
                    return None;
                }
                self.values += 1;
                self.slots[at].0 = value;
                break;
            }
            if found == value {
                break;
            }
            at = (at + 1) % SLOTS;
        }
        Some(&mut self.slots[at].1)
    }

    fn rows(&self) -> impl Iterator<Item = (u32, Rows)> {
        self.slots.iter().copied().filter(|(_, rows)| rows.all > 0)
    }

    /// A grid with cells for values of these bits too.
    fn to_grid(&self, bits: u32) -> Grid {
        let mut grid = Grid::new();
        grid.widen_for(self.rows().fold(bits, |bits, (value, _)| bits | value));
        let rows = self.rows().map(|(_, rows)| rows.all).sum();
        if rows > u64::from(u32::MAX) {
            grid.carried.resize(CELLS, Rows::default());
        } else {
            grid.rows = rows;
        }
        for (value, rows) in self.rows() {
            let cell = (value >> grid.shift) as usize;
            match grid.carried.get_mut(cell) {
                Some(carried) => {
                    carried.all += rows.all;
                    carried.drops += rows.drops;
                }
                None => {
                    grid.all[cell] += rows.all as u32;
                    grid.drops[cell] += rows.drops as u32;
                }
            }
        }
        grid
    }
}

/// Rows counted on a grid with cells as narrow as the largest value allows: width 1 up to 262,143,
/// 8 around a megabyte.
#[derive(Clone, Debug)]
struct Grid {
    /// A cell is `value >> shift`.
    shift: u32,
    /// By cell, the number of rows and of dropped rows since the last carry.
    all: Box<[u32; CELLS]>,
    drops: Box<[u32; CELLS]>,
    /// Rows since the last carry.
    rows: u64,
    /// By cell, the rows before the last carry; empty if there was none.
    carried: Vec<Rows>,
}

/// Cells of a grid: 2 MiB, and 4 MiB more beyond four billion rows.
const GRID_BITS: u32 = 18;
const CELLS: usize = 1 << GRID_BITS;

impl Grid {
    fn new() -> Self {
        Grid { shift: 0, all: zeros(), drops: zeros(), rows: 0, carried: Vec::new() }
    }

    /// Whether values of these bits have cells.
    fn has_cells_for(&self, bits: u32) -> bool {
        bits >> self.shift >> GRID_BITS == 0
    }

    /// Counts rows; `bits` is the bitwise or of their values.
    fn add(&mut self, values: &[u32], bits: u32, marks: &TrainingMarks) {
        self.widen_for(bits);
        if self.rows + marks.rows() > u64::from(u32::MAX) {
            self.carry();
        }
        self.rows += marks.rows();
        let shift = self.shift;
        // Rows that do not train may have values beyond the grid.
        let cell = |value: u32| (value >> shift) as usize % CELLS;
        marks.each(values, |value, trains| {
            let rows = &mut self.all[cell(value)];
            *rows = rows.wrapping_add(u32::from(trains));
        });
        for &drop in marks.drops() {
            self.drops[cell(values[drop as usize])] += 1;
        }
    }

    /// Widens the cells until values of these bits have one.
    fn widen_for(&mut self, bits: u32) {
        let shift = shift_for(bits);
        if shift <= self.shift {
            return;
        }
        if self.rows > 0 || !self.carried.is_empty() {
            self.carry();
            let sum = |cells: &[Rows]| Rows {
                all: cells.iter().map(|rows| rows.all).sum(),
                drops: cells.iter().map(|rows| rows.drops).sum(),
            };
            self.carried = self.carried.chunks(1 << (shift - self.shift)).map(sum).collect();
        }
        self.shift = shift;
    }

    /// Empties the cells into the carried counts.
    fn carry(&mut self) {
        self.carried.resize(CELLS, Rows::default());
        let cells = self.all.iter_mut().zip(&mut *self.drops);
        for (carried, (all, drops)) in self.carried.iter_mut().zip(cells) {
            carried.all += u64::from(std::mem::take(all));
            carried.drops += u64::from(std::mem::take(drops));
        }
        self.rows = 0;
    }

    /// Rows by the lowest value of each nonempty cell, ascending.
    fn rows(&self) -> impl Iterator<Item = (u32, Rows)> {
        (0..CELLS).filter_map(|cell| {
            let before = self.carried.get(cell).copied().unwrap_or_default();
            let rows = Rows {
                all: before.all + u64::from(self.all[cell]),
                drops: before.drops + u64::from(self.drops[cell]),
            };
            (rows.all > 0).then_some(((cell as u32) << self.shift, rows))
        })
    }

    fn finish(self) -> ValueCounts {
        let rows = self.rows().map(|(value, rows)| (value, rows.by_class()));
        ValueCounts::new(1 << self.shift, rows)
    }
}

fn zeros() -> Box<[u32; CELLS]> {
    vec![0; CELLS].try_into().expect("the length is right")
}

/// The bitwise or of the training rows' values.
fn bits(values: &[u32], marks: &TrainingMarks) -> u32 {
    let mut bits = 0;
    marks.each(values, |value, trains| bits |= value & 0_u32.wrapping_sub(trains.into()));
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Part;
    use crate::source::RunRows;
    use crate::splits::Parts;
    use proptest::prelude::*;

    /// From rows of class 0 or 1; class 2 does not train.
    fn sketch(rows: &[(u32, u8)], batch: usize) -> ValueCounts {
        let mut sketch = ValueSketch::new();
        for rows in rows.chunks(batch) {
            let (values, classes): (Vec<u32>, Vec<u8>) = rows.iter().copied().unzip();
            sketch.add(&values, &marks(&classes));
        }
        sketch.finish()
    }

    fn marks(classes: &[u8]) -> TrainingMarks {
        let drop: Vec<bool> = classes.iter().map(|&class| class == 1).collect();
        let part = |&class: &u8| if class == 2 { Part::Test } else { Part::Train };
        let parts = Parts::Each(classes.iter().map(part).collect());
        let rows = RunRows { run: 0, arrivals: None, features: Vec::new(), drop: &drop };
        TrainingMarks::new(&rows, &parts)
    }

    /// The same counts by a sorted map.
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
            prop_assert_eq!(sketch(&rows, batch), expected.clone());
            let (head, tail) = rows.split_at(batch.min(rows.len()));
            prop_assert_eq!(merge_counts(&sketch(head, 7), &sketch(tail, 99)), expected);
        }
    }

    #[test]
    fn more_rows_than_a_cell_holds_are_carried() {
        let mut grid = Grid::new();
        grid.all[7] = u32::MAX;
        grid.rows = u64::from(u32::MAX);
        grid.add(&[7; 5], 7, &marks(&[0; 5]));
        grid.add(&[300_000], 300_000, &marks(&[1]));
        let cells = [(6, [u64::from(u32::MAX) + 5, 0]), (300_000, [0, 1])];
        assert_eq!(grid.finish(), ValueCounts::new(2, cells.into_iter()));
    }
}
