//! Labelled traces in memory: columns of features and outcomes (`docs/trace.md`).

use crate::DropReason;
use serde::{Deserialize, Serialize};
use std::ops::Range;

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
    /// Of which flows they are; absent if the input does not record it.
    pub flows: Option<FlowColumns>,
}

/// Of which flow each packet is, for policies that look at flows: one value per row in each column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowColumns {
    /// A hash of the flow, 0 if unknown ([`Event::flow_hash`](crate::Event::flow_hash)).
    pub hash: Vec<u64>,
    /// Whether the packet is of its flow's first round-trip time (unscheduled).
    pub first_rtt: Vec<bool>,
}

impl FlowColumns {
    fn split_off(&mut self, row: usize) -> Self {
        FlowColumns { hash: self.hash.split_off(row), first_rtt: self.first_rtt.split_off(row) }
    }

    fn append(&mut self, mut rows: Self) {
        self.hash.append(&mut rows.hash);
        self.first_rtt.append(&mut rows.first_rtt);
    }

    /// Rows of unknown flows.
    fn unknown(rows: usize) -> Self {
        FlowColumns { hash: vec![0; rows], first_rtt: vec![false; rows] }
    }
}

impl ArrivalColumns {
    /// These rows.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn rows(&self, rows: Range<usize>) -> Self {
        ArrivalColumns {
            time_ns: self.time_ns[rows.clone()].to_vec(),
            switch_id: self.switch_id[rows.clone()].to_vec(),
            port: self.port[rows.clone()].to_vec(),
            queue: self.queue[rows.clone()].to_vec(),
            size_bytes: self.size_bytes[rows.clone()].to_vec(),
            flows: self.flows.as_ref().map(|flows| FlowColumns {
                hash: flows.hash[rows.clone()].to_vec(),
                first_rtt: flows.first_rtt[rows].to_vec(),
            }),
        }
    }

    /// The length of each column.
    pub fn lengths(&self) -> Vec<usize> {
        let ArrivalColumns { time_ns, switch_id, port, queue, size_bytes, flows } = self;
        let mut lengths =
            vec![time_ns.len(), switch_id.len(), port.len(), queue.len(), size_bytes.len()];
        lengths.extend(flows.iter().flat_map(|flows| [flows.hash.len(), flows.first_rtt.len()]));
        lengths
    }

    fn split_off(&mut self, row: usize) -> Self {
        ArrivalColumns {
            time_ns: self.time_ns.split_off(row),
            switch_id: self.switch_id.split_off(row),
            port: self.port.split_off(row),
            queue: self.queue.split_off(row),
            size_bytes: self.size_bytes.split_off(row),
            flows: self.flows.as_mut().map(|flows| flows.split_off(row)),
        }
    }

    fn append(&mut self, mut rows: Self) {
        if self.flows.is_some() || rows.flows.is_some() {
            let own = self.time_ns.len();
            let added = || FlowColumns::unknown(rows.time_ns.len());
            let flows = self.flows.get_or_insert_with(|| FlowColumns::unknown(own));
            flows.append(rows.flows.take().unwrap_or_else(added));
        }
        self.time_ns.append(&mut rows.time_ns);
        self.switch_id.append(&mut rows.switch_id);
        self.port.append(&mut rows.port);
        self.queue.append(&mut rows.queue);
        self.size_bytes.append(&mut rows.size_bytes);
    }

    fn retain(&mut self, keep: &[bool]) {
        retain(&mut self.time_ns, keep);
        retain(&mut self.switch_id, keep);
        retain(&mut self.port, keep);
        retain(&mut self.queue, keep);
        retain(&mut self.size_bytes, keep);
        if let Some(flows) = &mut self.flows {
            retain(&mut flows.hash, keep);
            retain(&mut flows.first_rtt, keep);
        }
    }
}

/// Keeps the values for which `keep`, one for each, is true.
fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut flags = keep.iter();
    values.retain(|_| flags.next().copied().unwrap_or(false));
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
    /// Why the real switch dropped the packet, none if it did not; absent if the input records no
    /// real drops.
    pub real_drop: Option<Vec<Option<DropReason>>>,
    /// Whether the real switch marked the packet (ECN); absent if the input does not record it.
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
        LabelledBatch {
            arrivals: self.arrivals.as_mut().map(|arrivals| arrivals.split_off(row)),
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
        if let (Some(arrivals), Some(more)) = (&mut self.arrivals, rows.arrivals.take()) {
            arrivals.append(more);
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
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.retain(keep);
        }
        for feature in &mut self.features {
            retain(feature, keep);
        }
        retain(&mut self.drop, keep);
        if let Some(outcome) = &mut self.outcome {
            retain(outcome, keep);
        }
        if let Some(real_drop) = &mut self.real_drop {
            retain(real_drop, keep);
        }
        if let Some(ecn_mark) = &mut self.ecn_mark {
            retain(ecn_mark, keep);
        }
    }
}
