//! Rows that wait for their label.

use dropcast_data::{ArrivalColumns, DropReason, Event, LabelledBatch, Outcome};
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
    /// Why the real switch dropped the packet, if it did.
    pub(crate) real_drop: Option<DropReason>,
    /// Whether the real switch marked the packet (ECN).
    pub(crate) is_marked: bool,
    /// Half of the flow's hash, enough to find a packet that is pushed out.
    pub(crate) flow: u32,
    /// Only the first entries are used, one per feature.
    pub(crate) values: [u32; Feature::ALL.len()],
}

/// Rows in order of arrival, from the first on that may not be given out yet. A row's number is the count of
/// arrivals before it.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    rows: VecDeque<(Row, Option<Outcome>)>,
    /// How many columns of the user's own there are.
    pub(crate) own_columns: usize,
    /// Their values, row by row.
    own: VecDeque<u32>,
    /// Number of the first row.
    first: u64,
    /// Whether some row so far was dropped by the real switch.
    tells_real_drops: bool,
    /// Whether the input tells which packets the real switch marked.
    pub(crate) tells_marks: bool,
}

impl Waiting {
    /// The number the next row will get.
    pub(crate) fn next_number(&self) -> u64 {
        self.first + self.rows.len() as u64
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds a row with its values of the user's own columns.
    pub(crate) fn push(&mut self, row: Row, own: &[u32]) {
        self.own.extend(own);
        self.tells_real_drops |= row.real_drop.is_some();
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

    /// The real switch pushes out the last packet of a queue that has this size and flow. Returns
    /// whether there is one among these rows.
    pub(crate) fn push_out(&mut self, event: &Event) -> bool {
        let is_it = |(row, _): &&mut (Row, Option<Outcome>)| {
            row.port == event.port
                && row.queue == event.queue
                && row.switch_id == event.switch_id
                && row.size_bytes == event.size_bytes
                && row.flow == half(event.flow_hash)
                && row.real_drop.is_none()
        };
        let found = self.rows.iter_mut().rev().find(is_it);
        if let Some((row, _)) = found {
            row.real_drop = Some(DropReason::PushOut);
            self.tells_real_drops = true;
            return true;
        }
        false
    }

    /// Removes and returns the rows before the first that has no label. Of the last `most_held` rows,
    /// those that arrived at `held_since_ns` or later stay, too.
    pub(crate) fn take_known(
        &mut self,
        features: usize,
        held_since_ns: u64,
        most_held: usize,
    ) -> LabelledBatch {
        let sure = self.rows.len().saturating_sub(most_held);
        let is_known = |(at, (row, outcome)): &(usize, &(Row, Option<Outcome>))| {
            outcome.is_some() && (row.time_ns < held_since_ns || *at < sure)
        };
        let known = self.rows.iter().enumerate().take_while(is_known).count();
        let rows = || self.rows.iter().take(known).map(|(row, _)| row);
        let outcome: Vec<Outcome> =
            self.rows.iter().take(known).filter_map(|&(_, outcome)| outcome).collect();
        let computed = (0..features).map(|nth| rows().map(|row| row.values[nth]).collect());
        let columns = self.own_columns;
        let known_own = known * columns;
        let own = (0..columns)
            .map(|nth| self.own.range(..known_own).skip(nth).step_by(columns).copied().collect());
        let batch = LabelledBatch {
            arrivals: Some(ArrivalColumns {
                time_ns: rows().map(|row| row.time_ns).collect(),
                switch_id: rows().map(|row| row.switch_id).collect(),
                port: rows().map(|row| row.port).collect(),
                queue: rows().map(|row| row.queue).collect(),
                size_bytes: rows().map(|row| row.size_bytes).collect(),
            }),
            features: computed.chain(own).collect(),
            drop: outcome.iter().map(|outcome| outcome.is_drop()).collect(),
            outcome: Some(outcome),
            ecn_mark: self.tells_marks.then(|| rows().map(|row| row.is_marked).collect()),
            real_drop: self.tells_real_drops.then(|| rows().map(|row| row.real_drop).collect()),
        };
        self.rows.drain(..known);
        self.own.drain(..known_own);
        self.first += known as u64;
        batch
    }
}

/// Half of a hash.
pub(crate) fn half(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
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
