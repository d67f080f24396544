//! Rows that wait for their label.

use dropcast_data::{ArrivalColumns, LabelledBatch, Outcome};
use dropcast_features::Feature;
use std::collections::VecDeque;

/// An arrival with its features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) time_ns: u64,
    pub(crate) size_bytes: u32,
    pub(crate) switch_id: u16,
    pub(crate) port: u16,
    pub(crate) queue: u8,
    /// Only the first entries are used, one per feature.
    pub(crate) values: [u32; Feature::ALL.len()],
}

/// Rows in order of arrival, from the first without a label on. A row's number is the count of
/// arrivals before it.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    rows: VecDeque<(Row, Option<Outcome>)>,
    /// Number of the first row.
    first: u64,
}

impl Waiting {
    /// The number the next row will get.
    pub(crate) fn next_number(&self) -> u64 {
        self.first + self.rows.len() as u64
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn push(&mut self, row: Row) {
        self.rows.push_back((row, None));
    }

    /// The row that the others wait for, and its number.
    pub(crate) fn first(&self) -> Option<(u64, &Row)> {
        self.rows.front().map(|(row, _)| (self.first, row))
    }

    /// Gives row `number` its outcome.
    pub(crate) fn resolve(&mut self, number: u64, outcome: Outcome) {
        let at = usize::try_from(number - self.first).expect("as many rows as fit in memory");
        self.rows[at].1 = Some(outcome);
    }

    /// Removes and returns the rows before the first that still waits.
    pub(crate) fn take_known(&mut self, features: usize) -> LabelledBatch {
        let known = self.rows.iter().take_while(|(_, outcome)| outcome.is_some()).count();
        let rows = || self.rows.iter().take(known).map(|(row, _)| row);
        let outcome: Vec<Outcome> =
            self.rows.iter().take(known).filter_map(|&(_, outcome)| outcome).collect();
        let batch = LabelledBatch {
            arrivals: Some(ArrivalColumns {
                time_ns: rows().map(|row| row.time_ns).collect(),
                switch_id: rows().map(|row| row.switch_id).collect(),
                port: rows().map(|row| row.port).collect(),
                queue: rows().map(|row| row.queue).collect(),
                size_bytes: rows().map(|row| row.size_bytes).collect(),
            }),
            features: (0..features)
                .map(|nth| rows().map(|row| row.values[nth]).collect())
                .collect(),
            drop: outcome.iter().map(|outcome| outcome.is_drop()).collect(),
            outcome: Some(outcome),
        };
        self.rows.drain(..known);
        self.first += known as u64;
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The help of `--max-waiting-rows` and the default limit count on it.
    #[test]
    fn a_waiting_row_takes_80_bytes() {
        assert_eq!(size_of::<(Row, Option<Outcome>)>(), 80);
    }
}
