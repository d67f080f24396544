//! Labelled traces in memory: columns of features and outcomes (`docs/trace.md`).

use crate::DropReason;
use serde::{Deserialize, Serialize};

/// What the virtual Longest Queue Drop did with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Outcome {
    /// Transmitted.
    Departed = 1,
    /// Accepted, then pushed out to make room for another packet.
    PushedOut = 2,
    /// Never accepted.
    Rejected = 3,
}

impl Outcome {
    /// The label of the packet: whether LQD dropped it.
    pub fn is_drop(self) -> bool {
        self != Outcome::Departed
    }

    /// The outcome with this number in a file, if there is one.
    pub fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Outcome::Departed),
            2 => Some(Outcome::PushedOut),
            3 => Some(Outcome::Rejected),
            _ => None,
        }
    }
}

/// The order of a labelled trace's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// One row per arrival, in order of arrival: can be replayed.
    Arrival,
    /// One row per departure or push-out, in that order (the Credence artifact's CSV): can be
    /// trained and scored on, but not replayed or split by time.
    Departure,
}

/// When and where each packet arrived: one value per row in each column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrivalColumns {
    /// Arrival time, nanoseconds.
    pub time_ns: Vec<u64>,
    /// Switch.
    pub switch_id: Vec<u16>,
    /// Output port.
    pub port: Vec<u16>,
    /// Queue within the port.
    pub queue: Vec<u8>,
    /// Bytes in the buffer.
    pub size_bytes: Vec<u32>,
}

/// A run of consecutive rows of a labelled trace, by columns.
///
/// `features[f][r]` is the value of feature `f` in row `r`. Whoever requested the batch knows which
/// features these are, and their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelledBatch {
    /// Absent if the input does not have them (the artifact's CSV).
    pub arrivals: Option<ArrivalColumns>,
    /// One column per feature, each as long as `drop`.
    pub features: Vec<Vec<u32>>,
    /// The label: whether LQD dropped the packet.
    pub drop: Vec<bool>,
    /// The packet's outcome; absent if the input has only the label.
    pub outcome: Option<Vec<Outcome>>,
    /// Why the real switch dropped the packet, none if it did not; absent if the input tells of no
    /// real drops.
    pub real_drop: Option<Vec<Option<DropReason>>>,
    /// Whether the real switch marked the packet (ECN); absent if the input does not tell.
    pub ecn_mark: Option<Vec<bool>>,
}

impl LabelledBatch {
    /// An empty batch with `features` feature columns that has every other column too.
    pub fn with_arrivals(features: usize) -> Self {
        LabelledBatch {
            arrivals: Some(ArrivalColumns::default()),
            features: vec![Vec::new(); features],
            drop: Vec::new(),
            outcome: Some(Vec::new()),
            real_drop: None,
            ecn_mark: None,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.drop.len()
    }

    /// Whether the batch has no rows.
    pub fn is_empty(&self) -> bool {
        self.drop.is_empty()
    }

    /// Takes the rows from number `row` on out of the batch.
    pub fn split_off(&mut self, row: usize) -> LabelledBatch {
        let arrivals = self.arrivals.as_mut().map(|arrivals| ArrivalColumns {
            time_ns: arrivals.time_ns.split_off(row),
            switch_id: arrivals.switch_id.split_off(row),
            port: arrivals.port.split_off(row),
            queue: arrivals.queue.split_off(row),
            size_bytes: arrivals.size_bytes.split_off(row),
        });
        LabelledBatch {
            arrivals,
            features: self.features.iter_mut().map(|column| column.split_off(row)).collect(),
            drop: self.drop.split_off(row),
            outcome: self.outcome.as_mut().map(|outcome| outcome.split_off(row)),
            real_drop: self.real_drop.as_mut().map(|real_drop| real_drop.split_off(row)),
            ecn_mark: self.ecn_mark.as_mut().map(|ecn_mark| ecn_mark.split_off(row)),
        }
    }

    /// Adds rows with the same columns behind its own.
    pub fn append(&mut self, mut rows: LabelledBatch) {
        if self.is_empty() {
            *self = rows;
            return;
        }
        if self.real_drop.is_some() || rows.real_drop.is_some() {
            // Rows that are known to have no real drop have no such column.
            let none = |rows| vec![None; rows];
            let (own, added) = (self.len(), rows.len());
            let real_drop = self.real_drop.get_or_insert_with(|| none(own));
            real_drop.append(&mut rows.real_drop.take().unwrap_or_else(|| none(added)));
        }
        if let (Some(arrivals), Some(more)) = (&mut self.arrivals, &mut rows.arrivals) {
            arrivals.time_ns.append(&mut more.time_ns);
            arrivals.switch_id.append(&mut more.switch_id);
            arrivals.port.append(&mut more.port);
            arrivals.queue.append(&mut more.queue);
            arrivals.size_bytes.append(&mut more.size_bytes);
        }
        for (column, more) in self.features.iter_mut().zip(&mut rows.features) {
            column.append(more);
        }
        self.drop.append(&mut rows.drop);
        if let (Some(outcome), Some(more)) = (&mut self.outcome, &mut rows.outcome) {
            outcome.append(more);
        }
        if let (Some(ecn_mark), Some(more)) = (&mut self.ecn_mark, &mut rows.ecn_mark) {
            ecn_mark.append(more);
        }
    }

    /// Keeps the rows for which `keep`, one value per row, is true.
    pub fn retain(&mut self, keep: &[bool]) {
        fn column<T>(values: &mut Vec<T>, keep: &[bool]) {
            let mut flags = keep.iter();
            values.retain(|_| flags.next().copied().unwrap_or(false));
        }
        if let Some(arrivals) = &mut self.arrivals {
            column(&mut arrivals.time_ns, keep);
            column(&mut arrivals.switch_id, keep);
            column(&mut arrivals.port, keep);
            column(&mut arrivals.queue, keep);
            column(&mut arrivals.size_bytes, keep);
        }
        for feature in &mut self.features {
            column(feature, keep);
        }
        column(&mut self.drop, keep);
        if let Some(outcome) = &mut self.outcome {
            column(outcome, keep);
        }
        if let Some(real_drop) = &mut self.real_drop {
            column(real_drop, keep);
        }
        if let Some(ecn_mark) = &mut self.ecn_mark {
            column(ecn_mark, keep);
        }
    }
}
