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
        let mut batch = with_room(features, known);
        for (row, outcome) in self.rows.drain(..known) {
            if let Some(outcome) = outcome {
                append(&mut batch, &row, outcome);
            }
        }
        self.first += known as u64;
        batch
    }
}

/// An empty batch for `rows` rows.
fn with_room(features: usize, rows: usize) -> LabelledBatch {
    LabelledBatch {
        arrivals: Some(ArrivalColumns {
            time_ns: Vec::with_capacity(rows),
            switch_id: Vec::with_capacity(rows),
            port: Vec::with_capacity(rows),
            queue: Vec::with_capacity(rows),
            size_bytes: Vec::with_capacity(rows),
        }),
        features: (0..features).map(|_| Vec::with_capacity(rows)).collect(),
        drop: Vec::with_capacity(rows),
        outcome: Some(Vec::with_capacity(rows)),
    }
}

fn append(batch: &mut LabelledBatch, row: &Row, outcome: Outcome) {
    if let Some(arrivals) = &mut batch.arrivals {
        arrivals.time_ns.push(row.time_ns);
        arrivals.switch_id.push(row.switch_id);
        arrivals.port.push(row.port);
        arrivals.queue.push(row.queue);
        arrivals.size_bytes.push(row.size_bytes);
    }
    for (column, value) in batch.features.iter_mut().zip(row.values) {
        column.push(value);
    }
    batch.drop.push(outcome.is_drop());
    if let Some(outcomes) = &mut batch.outcome {
        outcomes.push(outcome);
    }
}
