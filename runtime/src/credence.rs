//! Credence for a device: the whole decision about a packet in one call, in fixed memory.

use crate::classes::Cut;
use crate::memory::PREDICTED;
use crate::row::Columns;
use crate::virtual_lqd::VirtualLqd;
use crate::{
    DriftMonitor, DriftRule, DropOracle, Memory, NotReady, PacketVerdict, Situation,
    SwitchConstants, Table,
};

/// A switch's shared buffer under Credence (Algorithm 1): the lengths of its queues, virtual LQD at line
/// rate, whose queue lengths are the thresholds and the source of the features, the oracle, and the
/// precision of its predictions. No allocation; the caller owns all memory that grows with the switch.
///
/// Names and arguments are those of the exported C (`docs/runtime.md`).
#[derive(Debug)]
pub struct Credence<'a, O> {
    lqd: VirtualLqd<'a>,
    oracle: O,
    columns: Columns,
    /// The switch's own queues, `Q`.
    occupancy_bytes: u32,
    /// Own queues of `B/N` bytes or more: the safeguard accepts while there is none.
    long_queues: u32,
    falls_back: bool,
    unmatched: u64,
}

impl<'a> Credence<'a, Table<'a>> {
    /// Credence for an empty switch with the forest of a table.
    ///
    /// # Errors
    /// If the table's averages are not over the base RTT, or as [`with_oracle`](Self::with_oracle).
    pub fn with_table(
        switch: SwitchConstants<'a>,
        memory: Memory<'a>,
        table: Table<'a>,
    ) -> Result<Self, NotReady> {
        match table.average_ns() {
            Some(ns) if u64::from(ns) != switch.base_rtt_ns => Err(NotReady::OtherAverage(ns)),
            _ => Self::with_oracle(switch, memory, table.feature_codes(), table),
        }
    }
}

impl<'a> Credence<'a, Table<'a>> {
    /// A new forest takes over, from the next packet on: the queues, virtual LQD and the precision of predictions stay as they are.
    ///
    /// # Errors
    /// If its features are not those of the forest before, in the same order, or its averages are not over the base RTT; then the
    /// forest before stays.
    pub fn replace_table(&mut self, table: Table<'a>) -> Result<(), NotReady> {
        if let Some(ns) = table.average_ns()
            && u64::from(ns) != self.lqd.switch.base_rtt_ns
        {
            return Err(NotReady::OtherAverage(ns));
        }
        if Columns::new(table.feature_codes())? != self.columns {
            return Err(NotReady::OtherFeatures);
        }
        self.oracle = table;
        Ok(())
    }
}

impl<'a, O: DropOracle> Credence<'a, O> {
    /// Credence for an empty switch with any oracle; `feature_codes` are the codes of its features
    /// ([`Table::feature_codes`]), in the order of its rows.
    ///
    /// # Errors
    /// If a constant is out of range, a feature is not known, or the memory is too short.
    pub fn with_oracle(
        switch: SwitchConstants<'a>,
        mut memory: Memory<'a>,
        feature_codes: &[u8],
        oracle: O,
    ) -> Result<Self, NotReady> {
        if !switch.are_sound() {
            return Err(NotReady::BadConstants);
        }
        let columns = Columns::new(feature_codes)?;
        let keeps = columns.keeps();
        memory.prepare(&switch, keeps)?;
        let first = switch.line_rate_bps[0];
        let is_uniform = switch.line_rate_bps.iter().all(|&rate| rate == first);
        let lqd = VirtualLqd {
            switch,
            memory,
            occupancy_bytes: 0,
            drift: DriftMonitor::new(DriftRule::default()),
            unheld: 0,
            stepped_back: 0,
            keeps,
            cut: Cut::NONE,
            drain_bytes: is_uniform.then(|| switch.drain_bytes(0)),
            free: 0,
            now_ns: 0,
            next_due_ns: u64::MAX,
        };
        let (occupancy_bytes, long_queues, falls_back, unmatched) = (0, 0, false, 0);
        Ok(Credence { lqd, oracle, columns, occupancy_bytes, long_queues, falls_back, unmatched })
    }

    /// A packet of `size_bytes` arrives for a queue of a port, both numbered from 0. If the verdict
    /// accepts, the packet is counted in its queue: add it to the switch's. Time must not go back. The
    /// answer for a queue that does not exist, 0 bytes or 2 GiB is [`PacketVerdict::NoRoom`]; for a packet that fits into the
    /// bytes that are reserved for its queue it is [`PacketVerdict::Accepted`].
    ///
    /// The features are computed, and the oracle is asked, only if the decision may depend on it.
    pub fn arrival(
        &mut self,
        port: u32,
        queue: u32,
        size_bytes: u32,
        now_ns: u64,
    ) -> PacketVerdict {
        let is_packet = (1..PREDICTED).contains(&size_bytes);
        let Some(at) = self.place(port, queue).filter(|_| is_packet) else {
            return PacketVerdict::NoRoom;
        };
        self.lqd.advance(now_ns);
        let part_bytes = self.shared_part(at, size_bytes);
        let mut situation = Situation {
            fits: u64::from(self.occupancy_bytes) + u64::from(part_bytes)
                <= u64::from(self.lqd.switch.buffer_bytes),
            // Any length below or from B/N on: the queues that are that long are counted.
            longest_queue_bytes: if self.long_queues > 0 { u32::MAX } else { 0 },
            buffer_bytes: self.lqd.switch.buffer_bytes,
            ports: self.lqd.switch.ports() as u32,
            queue_bytes: self.lqd.memory.queues[at].real_bytes,
            size_bytes: part_bytes,
            threshold_bytes: self.lqd.memory.queues[at].bytes,
            slack_bytes: self.lqd.switch.slack_bytes,
        };
        let may_ask = situation.fits
            && part_bytes > 0
            && !situation.is_safeguarded()
            && u64::from(situation.queue_bytes)
                <= u64::from(situation.threshold_bytes) + u64::from(situation.slack_bytes);
        let predicted = may_ask && {
            let row = self.columns.observe(&self.lqd, at);
            self.oracle.predicts_drop(&row[..self.columns.length()])
        };
        let added = self.lqd.admit(at, size_bytes);
        situation.threshold_bytes = self.lqd.memory.queues[at].bytes;
        let verdict = match part_bytes {
            0 => PacketVerdict::Accepted,
            _ => situation.decide(|| predicted && self.follows(at, added)),
        };
        if verdict.accepts() {
            self.resize(at, situation.queue_bytes + part_bytes);
            if let Some(beside) = self.lqd.memory.reserves.get_mut(at) {
                beside.real_bytes += size_bytes - part_bytes;
            }
        }
        verdict
    }

    /// A packet that was accepted leaves its queue: its transmission begins, or the port's ring takes
    /// it. A queue never has less than 0 bytes: what else leaves is counted ([`unmatched`](Self::unmatched)).
    pub fn departure(&mut self, port: u32, queue: u32, size_bytes: u32, now_ns: u64) {
        let Some(at) = self.place(port, queue) else {
            self.unmatched += 1;
            return;
        };
        self.lqd.advance(now_ns);
        let before_bytes = self.lqd.memory.queues[at].real_bytes;
        self.resize(at, before_bytes.saturating_sub(size_bytes));
        let mut left_bytes = size_bytes.saturating_sub(before_bytes);
        if let Some(beside) = self.lqd.memory.reserves.get_mut(at) {
            let beside_bytes = left_bytes.min(beside.real_bytes);
            beside.real_bytes -= beside_bytes;
            left_bytes -= beside_bytes;
        }
        self.unmatched += u64::from(left_bytes > 0);
    }

    /// Serves at most `most` packets of virtual LQD's ports that are due by `now_ns`; whether more may be. The next call has the rest to
    /// do: after a long silence that is up to the whole buffer. So call this while no packets arrive.
    pub fn catch_up(&mut self, now_ns: u64, most: u32) -> bool {
        (0..most).all(|_| self.lqd.serve(now_ns))
    }

    /// Whether to accept every packet below its threshold while the precision of predicted drops is
    /// too low; at first it does not.
    pub fn fall_back(&mut self, falls_back: bool) {
        self.falls_back = falls_back;
    }

    /// The share of the last predicted drops that virtual LQD confirmed, in units of
    /// 1 / [`DriftMonitor::ONE`]; measured whether or not it decides.
    pub fn precision(&self) -> u32 {
        self.lqd.drift.precision()
    }

    /// Arrivals that found no place among virtual LQD's packets.
    pub fn unheld(&self) -> u64 {
        self.lqd.unheld
    }

    /// Calls with a time before that of an earlier one: virtual LQD stands still until time has caught up.
    pub fn stepped_back(&self) -> u64 {
        self.lqd.stepped_back
    }

    /// Departures of bytes that no arrival had added: after a restart with packets in queues, of a queue that does not exist.
    pub fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// Bytes of one of the switch's queues in the shared buffer; 0 if there is no such queue.
    pub fn queue_bytes(&self, port: u32, queue: u32) -> u32 {
        self.place(port, queue).map_or(0, |at| self.lqd.memory.queues[at].real_bytes)
    }

    /// The threshold of a queue: the bytes in virtual LQD's; 0 if there is no such queue.
    pub fn threshold_bytes(&self, port: u32, queue: u32) -> u32 {
        self.place(port, queue).map_or(0, |at| self.lqd.memory.queues[at].bytes)
    }

    /// Bytes in the switch's shared buffer, `Q`.
    pub fn occupancy_bytes(&self) -> u32 {
        self.occupancy_bytes
    }

    /// What a packet adds to the shared buffer.
    fn shared_part(&self, at: usize, size_bytes: u32) -> u32 {
        let beside_bytes = self.lqd.memory.reserves.get(at).map_or(0, |beside| beside.real_bytes);
        self.lqd.switch.shared_part(at, beside_bytes, size_bytes)
    }

    fn place(&self, port: u32, queue: u32) -> Option<usize> {
        let per_port = self.lqd.switch.queues_per_port;
        let exists = (port as usize) < self.lqd.switch.ports() && queue < per_port;
        exists.then_some(port as usize * per_port as usize + queue as usize)
    }

    /// A drop is predicted; returns whether to follow the prediction. Until virtual LQD confirms it,
    /// it counts as wrong.
    fn follows(&mut self, at: usize, added: bool) -> bool {
        let is_trusted = self.lqd.drift.predicted();
        if added {
            self.lqd.mark(at);
        } else {
            self.lqd.drift.confirmed();
        }
        is_trusted || !self.falls_back
    }

    /// Sets the length of one of the switch's queues.
    fn resize(&mut self, at: usize, bytes: u32) {
        let switch = &self.lqd.switch;
        let is_long =
            |bytes: u32| u64::from(bytes) * switch.ports() as u64 >= u64::from(switch.buffer_bytes);
        let length = &mut self.lqd.memory.queues[at].real_bytes;
        let (was_long, becomes_long) = (is_long(*length), is_long(bytes));
        self.occupancy_bytes = self.occupancy_bytes - *length + bytes;
        *length = bytes;
        self.long_queues = self.long_queues + u32::from(becomes_long) - u32::from(was_long);
    }
}
