//! How a row is identified.

use crate::source::RunRows;
use std::collections::BTreeMap;
use std::ops::Range;

/// Counts the rows of each run and switch: a row is identified by its run, its switch (0 if the
/// input has none) and its number among their rows, from 0. Its part in a random split is a
/// function of the seed and these; its bootstrap draws use its number among the rows of its
/// `RowKind`.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowNumbers {
    next: BTreeMap<(u64, u16), u64>,
}

impl RowNumbers {
    /// Begins with these numbers of each run and switch: of rows that came before.
    pub(crate) fn after(next: BTreeMap<(u64, u16), u64>) -> Self {
        RowNumbers { next }
    }

    /// Rows of each run and switch, with those that came before.
    pub(crate) fn rows(self) -> BTreeMap<(u64, u16), u64> {
        self.next
    }

    /// The numbers of the next rows.
    pub(crate) fn number(&mut self, rows: &RunRows<'_>) -> Vec<u64> {
        let mut numbers = Vec::with_capacity(rows.len());
        self.each_stretch(rows, |_, of_rows| numbers.extend(of_rows));
        numbers
    }

    /// The same, of each stretch of rows of one switch.
    pub(crate) fn each_stretch(
        &mut self,
        rows: &RunRows<'_>,
        mut visit: impl FnMut(u16, Range<u64>),
    ) {
        let mut add = |switch: u16, rows_of_run: usize| {
            let next = self.next.entry((rows.run, switch)).or_default();
            let after = *next + rows_of_run as u64;
            visit(switch, *next..after);
            *next = after;
        };
        match &rows.arrivals {
            None => add(0, rows.len()),
            Some(arrivals) => {
                let same_switch = arrivals.switch_id.chunk_by(|a, b| a == b);
                same_switch.for_each(|same| add(same[0], same.len()));
            }
        }
    }
}
