//! Rows that wait for their label.

use dropcast_data::{
    ArrivalColumns, DropReason, Event, EventKind, FlowColumns, LabelledBatch, Outcome,
};
use std::ops::Range;

/// Rows in order of arrival, from the first on that may not be given out yet: a column for each thing that is
/// known of a row. A row's number is the count of arrivals before it.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// Number of the first row in the columns.
    first: u64,
    /// Rows at the front of the columns that were given out.
    given: usize,
    /// Rows of the columns whose packet has arrived; behind them is place for more.
    arrived: usize,
    arrivals: ArrivalColumns,
    /// How many features are computed.
    computed: usize,
    /// How many there are with the user's own columns.
    columns: usize,
    /// Computed features, then the user's own columns, row after row: a packet's are written at once.
    features: Vec<u32>,
    outcome: Vec<Option<Outcome>>,
    /// Why the real switch dropped the packet, if it did; none while no row was dropped, unless the input
    /// records drops.
    real_drop: Option<Vec<Option<DropReason>>>,
    /// Whether the real switch marked the packet (ECN), if the input records it.
    ecn_mark: Option<Vec<bool>>,
    /// Half of the flow's hash, enough to find a packet that is pushed out, if the input records push-outs.
    flow: Option<Vec<u32>>,
}

impl Waiting {
    /// No rows, with so many columns of features.
    pub(crate) fn new(features: usize) -> Self {
        Waiting { computed: features, columns: features, ..Waiting::default() }
    }

    /// Adds columns of the user's own.
    pub(crate) fn add_features(&mut self, columns: usize) {
        self.columns += columns;
    }

    /// Rows keep of which flows their packets are.
    pub(crate) fn keep_flows(&mut self) {
        self.arrivals.flows = Some(FlowColumns::default());
    }

    /// The input records which packets the real switch marked.
    pub(crate) fn keep_marks(&mut self) {
        self.ecn_mark = Some(Vec::new());
    }

    /// The input records which packets the real switch dropped.
    pub(crate) fn keep_drops(&mut self) {
        self.real_drop = Some(Vec::new());
    }

    /// The input records which packets the real switch pushed out.
    pub(crate) fn keep_flow_halves(&mut self) {
        self.flow = Some(Vec::new());
    }

    /// The number the next row will get.
    pub(crate) fn next_number(&self) -> u64 {
        self.first + self.arrived as u64
    }

    /// Rows that wait.
    pub(crate) fn len(&self) -> usize {
        self.arrived - self.given
    }

    /// Makes place for this many rows more.
    pub(crate) fn make_place(&mut self, rows: usize) {
        let rows = self.arrived + rows;
        self.arrivals.time_ns.resize(rows, 0);
        self.arrivals.switch_id.resize(rows, 0);
        self.arrivals.port.resize(rows, 0);
        self.arrivals.queue.resize(rows, 0);
        self.arrivals.size_bytes.resize(rows, 0);
        if let Some(flows) = &mut self.arrivals.flows {
            flows.hash.resize(rows, 0);
            flows.first_rtt.resize(rows, false);
        }
        self.features.resize(rows * self.columns, 0);
        self.outcome.resize(rows, None);
        if let Some(column) = &mut self.real_drop {
            column.resize(rows, None);
        }
        if let Some(column) = &mut self.ecn_mark {
            column.resize(rows, false);
        }
        if let Some(column) = &mut self.flow {
            column.resize(rows, 0);
        }
    }

    /// Adds a row for an arrival with its values of the user's own columns; returns the place for its
    /// features. There must be place for the row.
    #[inline(always)]
    pub(crate) fn add(&mut self, event: &Event, own: &[u32]) -> &mut [u32] {
        let at = self.arrived;
        self.arrived += 1;
        self.arrivals.time_ns[at] = event.time_ns;
        self.arrivals.switch_id[at] = event.switch_id;
        self.arrivals.port[at] = event.port;
        self.arrivals.queue[at] = event.queue;
        self.arrivals.size_bytes[at] = event.size_bytes;
        if let Some(flows) = &mut self.arrivals.flows {
            flows.hash[at] = event.flow_hash;
            flows.first_rtt[at] = event.is_first_rtt();
        }
        if let EventKind::Drop(reason) = event.kind {
            self.set_real_drop(at, reason);
        }
        if let Some(ecn_mark) = &mut self.ecn_mark {
            ecn_mark[at] = event.is_marked();
        }
        if let Some(flow) = &mut self.flow {
            flow[at] = half(event.flow_hash);
        }
        let row = &mut self.features[at * self.columns..][..self.columns];
        let (values, copied) = row.split_at_mut(self.computed);
        if !own.is_empty() {
            copied.copy_from_slice(own);
        }
        values
    }

    /// The row in this place of the columns was dropped by the real switch.
    fn set_real_drop(&mut self, at: usize, reason: DropReason) {
        let rows = self.outcome.len();
        self.real_drop.get_or_insert_with(|| vec![None; rows])[at] = Some(reason);
    }

    /// The arrival that the others wait for, and its number.
    pub(crate) fn first(&self) -> Option<(u64, ArrivalPlace)> {
        let at = self.given;
        if at == self.arrived {
            return None;
        }
        let place = ArrivalPlace {
            time_ns: self.arrivals.time_ns[at],
            switch_id: self.arrivals.switch_id[at],
            port: self.arrivals.port[at],
            queue: self.arrivals.queue[at],
        };
        Some((self.first + at as u64, place))
    }

    /// Gives row `number` its outcome.
    #[inline(always)]
    pub(crate) fn resolve(&mut self, number: u64, outcome: Outcome) {
        let at = usize::try_from(number - self.first).expect("as many rows as fit in memory");
        self.outcome[at] = Some(outcome);
    }

    /// The real switch pushes out the last packet of a queue that has this size and flow. Returns
    /// whether there is one among these rows.
    pub(crate) fn push_out(&mut self, event: &Event) -> bool {
        let Some(flow) = &self.flow else { return false };
        let is_it = |&at: &usize| {
            flow[at] == half(event.flow_hash)
                && self.arrivals.port[at] == event.port
                && self.arrivals.queue[at] == event.queue
                && self.arrivals.switch_id[at] == event.switch_id
                && self.arrivals.size_bytes[at] == event.size_bytes
                && self.real_drop.as_ref().is_none_or(|dropped| dropped[at].is_none())
        };
        let Some(at) = (self.given..self.arrived).rev().find(is_it) else { return false };
        self.set_real_drop(at, DropReason::PushOut);
        true
    }

    /// Removes and returns the rows before the first that has no label. Of the last `most_held` rows,
    /// those that arrived at `held_since_ns` or later stay, too.
    pub(crate) fn take_known(&mut self, held_since_ns: u64, most_held: usize) -> LabelledBatch {
        let sure = self.arrived.saturating_sub(most_held);
        let unknown = self.outcome[self.given..self.arrived].iter().position(Option::is_none);
        let known = unknown.map_or(self.arrived, |rows| self.given + rows);
        let held =
            (sure.max(self.given)..known).find(|&at| self.arrivals.time_ns[at] >= held_since_ns);
        let rows = self.given..held.unwrap_or(known);
        let outcomes = self.outcome[rows.clone()].iter();
        let outcome: Vec<Outcome> =
            outcomes.map(|outcome| outcome.unwrap_or(Outcome::Departed)).collect();
        let batch = LabelledBatch {
            arrivals: Some(self.arrivals.rows(rows.clone())),
            features: self.feature_columns(rows.clone()),
            drop: outcome.iter().map(|outcome| outcome.is_drop()).collect(),
            outcome: Some(outcome),
            ecn_mark: self.ecn_mark.as_ref().map(|column| column[rows.clone()].to_vec()),
            real_drop: self.real_drop.as_ref().map(|column| column[rows.clone()].to_vec()),
        };
        self.given = rows.end;
        // Moves each row at most once on average.
        if self.given > self.arrived / 2 {
            self.forget_given();
        }
        batch
    }

    fn feature_columns(&self, rows: Range<usize>) -> Vec<Vec<u32>> {
        let values = &self.features[rows.start * self.columns..rows.end * self.columns];
        // A named set has one feature or four. Where the compiler knows how many, a value takes two
        // instructions instead of ten.
        match self.columns {
            1 => vec![values.to_vec()],
            4 => columns_of(values.as_chunks::<4>().0),
            columns => {
                let column = |at: usize| values.chunks_exact(columns).map(move |row| row[at]);
                (0..columns).map(|at| column(at).collect()).collect()
            }
        }
    }

    fn forget_given(&mut self) {
        let rows = ..self.given;
        self.arrivals.time_ns.drain(rows);
        self.arrivals.switch_id.drain(rows);
        self.arrivals.port.drain(rows);
        self.arrivals.queue.drain(rows);
        self.arrivals.size_bytes.drain(rows);
        if let Some(flows) = &mut self.arrivals.flows {
            flows.hash.drain(rows);
            flows.first_rtt.drain(rows);
        }
        self.features.drain(..self.given * self.columns);
        self.outcome.drain(rows);
        if let Some(column) = &mut self.real_drop {
            column.drain(rows);
        }
        if let Some(column) = &mut self.ecn_mark {
            column.drain(rows);
        }
        if let Some(column) = &mut self.flow {
            column.drain(rows);
        }
        self.first += self.given as u64;
        self.arrived -= self.given;
        self.given = 0;
    }
}

/// The columns of these rows.
fn columns_of<const N: usize>(rows: &[[u32; N]]) -> Vec<Vec<u32>> {
    let columns: [Vec<u32>; N] = std::array::from_fn(|at| rows.iter().map(|row| row[at]).collect());
    columns.into()
}

/// When and where a packet arrived.
pub(crate) struct ArrivalPlace {
    pub(crate) time_ns: u64,
    pub(crate) switch_id: u16,
    pub(crate) port: u16,
    pub(crate) queue: u8,
}

/// Half of a hash.
fn half(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(time_ns: u64) -> Event {
        let kind = EventKind::Arrival;
        let (flow_hash, size_bytes, switch_id, port, queue, flags) = (0, 1, 0, 0, 0, 0);
        Event { time_ns, flow_hash, size_bytes, switch_id, port, queue, kind, flags }
    }

    /// The help of `--max-waiting-rows` and the default limit count on it.
    #[test]
    fn a_waiting_row_takes_18_bytes_and_4_for_each_feature() {
        let mut waiting = Waiting::new(3);
        waiting.make_place(1);
        waiting.add(&arrival(0), &[]);
        let Waiting { arrivals, features, outcome, .. } = &waiting;
        let ArrivalColumns { time_ns, switch_id, port, queue, size_bytes, .. } = arrivals;
        let others = [
            size_of_val(&time_ns[..]),
            size_of_val(&switch_id[..]),
            size_of_val(&port[..]),
            size_of_val(&queue[..]),
            size_of_val(&size_bytes[..]),
            size_of_val(&outcome[..]),
        ];
        assert_eq!((others.iter().sum::<usize>(), size_of_val(&features[..])), (18, 3 * 4));
    }

    #[test]
    fn rows_leave_in_order_of_arrival_once_they_are_known() {
        let mut waiting = Waiting::new(1);
        let mut given = Vec::new();
        for number in 0..100_u32 {
            waiting.make_place(1 + number as usize % 2);
            waiting.add(&arrival(u64::from(number)), &[])[0] = number;
            // Row 10 is known last of the first forty.
            match number {
                10 => {}
                40 => waiting.resolve(10, Outcome::PushedOut),
                _ => waiting.resolve(u64::from(number), Outcome::Departed),
            }
            let batch = waiting.take_known(u64::MAX, 0);
            given.extend(batch.features[0].iter().copied().zip(batch.drop));
            let first = waiting.first().map(|(first, _)| first);
            let expected = match number {
                0..10 => None,
                10..40 => Some(10),
                _ => Some(40),
            };
            assert_eq!(first, expected);
        }
        assert_eq!(given, (0..40).map(|number| (number, number == 10)).collect::<Vec<_>>());
        waiting.resolve(40, Outcome::Departed);
        assert_eq!(waiting.take_known(50, 100).len(), 10, "later ones are held");
        assert_eq!(waiting.take_known(50, 5).len(), 45, "but no more than five");
        assert_eq!((waiting.len(), waiting.next_number()), (5, 100));
    }
}
