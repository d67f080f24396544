//! Arrivals to replay: rows of a labelled trace, what is wrong with them, and what a packet carries of them.

use dropcast_data::{ArrivalColumns, SwitchSpec, SwitchSpecs};
use dropcast_switch::{BuildError, Packet};
use std::collections::BTreeMap;

/// A row of a labelled trace with its prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Arrival time, nanoseconds.
    pub time_ns: u64,
    /// Switch.
    pub switch_id: u16,
    /// Output port.
    pub port: u16,
    /// Queue within the port.
    pub queue: u8,
    /// Bytes in the buffer.
    pub size_bytes: u32,
    /// A hash of its flow, 0 if unknown.
    pub flow_hash: u64,
    /// Whether it is of its flow's first round-trip time.
    pub first_rtt: bool,
    /// The label: whether LQD dropped the packet.
    pub dropped: bool,
    /// Whether a drop was predicted.
    pub predicted: bool,
    /// Whether it counts; other packets only occupy the buffer.
    pub counted: bool,
}

impl Arrival {
    /// Row `row` of these columns, with its label: predicted to be accepted, and not counted.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn of(columns: &ArrivalColumns, row: usize, dropped: bool) -> Self {
        Arrival {
            time_ns: columns.time_ns[row],
            switch_id: columns.switch_id[row],
            port: columns.port[row],
            queue: columns.queue[row],
            size_bytes: columns.size_bytes[row],
            flow_hash: columns.flows.as_ref().map_or(0, |flows| flows.hash[row]),
            first_rtt: columns.flows.as_ref().is_some_and(|flows| flows.first_rtt[row]),
            dropped,
            predicted: false,
            counted: false,
        }
    }

    /// Checks that it can arrive at a switch like `spec`, after another at `before_ns`.
    #[inline]
    pub(crate) fn check(&self, spec: &SwitchSpec, before_ns: u64) -> Result<(), ReplayError> {
        let &Arrival { switch_id, port, queue, time_ns, size_bytes, .. } = self;
        let (ports, queues) = (spec.ports(), spec.queues_per_port);
        if usize::from(port) >= ports || queue >= queues {
            return Err(ReplayError::UnknownQueue { switch_id, port, queue, ports, queues });
        }
        let buffer_bytes = spec.buffer_bytes;
        if size_bytes == 0 || size_bytes > buffer_bytes {
            return Err(ReplayError::BadSize { switch_id, size_bytes, buffer_bytes });
        }
        if time_ns < before_ns {
            return Err(ReplayError::TimeGoesBack { switch_id, time_ns, before_ns });
        }
        Ok(())
    }

    /// The same packet of the arrival's flow.
    #[inline]
    pub(crate) fn of_its_flow(&self, packet: Packet) -> Packet {
        let flags = if self.first_rtt { Packet::FIRST_RTT } else { 0 };
        Packet { flow_hash: self.flow_hash, flags, ..packet }
    }

    /// The packet, number `number` at its switch.
    #[inline]
    pub(crate) fn packet(&self, spec: &SwitchSpec, number: u64) -> Packet {
        let queue = spec.queue_index(self.port, self.queue);
        self.of_its_flow(Packet::new(tag(number, self), queue, self.size_bytes))
    }
}

/// Checks that arrivals can be replayed, without replaying them.
#[derive(Debug)]
pub struct ArrivalChecker {
    specs: SwitchSpecs,
    /// Time of the last arrival at each switch.
    times_ns: BTreeMap<u16, u64>,
}

impl ArrivalChecker {
    /// For arrivals at these switches.
    pub fn new(specs: SwitchSpecs) -> Self {
        ArrivalChecker { specs, times_ns: BTreeMap::new() }
    }

    /// Checks the next arrival.
    ///
    /// # Errors
    /// Those of [`Replay::arrive`](crate::Replay::arrive).
    pub fn check(&mut self, arrival: &Arrival) -> Result<(), ReplayError> {
        let &Arrival { switch_id, time_ns, .. } = arrival;
        let spec = self.specs.get(switch_id).ok_or(ReplayError::UnknownSwitch(switch_id))?;
        let before_ns = self.times_ns.entry(switch_id).or_default();
        arrival.check(spec, *before_ns)?;
        *before_ns = time_ns;
        Ok(())
    }
}

/// Why an arrival cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A packet that is empty or larger than the buffer.
    #[error(
        "switch {switch_id}: a packet of {size_bytes} bytes, expected 1 to the buffer's {buffer_bytes}"
    )]
    BadSize {
        /// Which switch.
        switch_id: u16,
        /// The packet.
        size_bytes: u32,
        /// The buffer.
        buffer_bytes: u32,
    },
    /// A switch that is not described.
    #[error("an arrival at switch {0}, which the trace's switch description does not have")]
    UnknownSwitch(u16),
    /// A queue that the switch does not have.
    #[error(
        "an arrival at switch {switch_id} for port {port}, queue {queue}, but it has {ports} ports with {queues} queues each"
    )]
    UnknownQueue {
        /// The switch.
        switch_id: u16,
        /// The port of the arrival.
        port: u16,
        /// Its queue.
        queue: u8,
        /// Number of ports.
        ports: usize,
        /// Number of queues per port.
        queues: u8,
    },
    /// Arrivals out of order.
    #[error("an arrival at switch {switch_id} at {time_ns} ns, after one at {before_ns} ns")]
    TimeGoesBack {
        /// The switch.
        switch_id: u16,
        /// Time of the arrival.
        time_ns: u64,
        /// Time of the arrival before.
        before_ns: u64,
    },
    /// A policy that the switch cannot have.
    #[error("{policy} at switch {switch_id}: {source}")]
    Policy {
        /// The policy.
        policy: &'static str,
        /// The switch.
        switch_id: u16,
        /// What is wrong.
        source: BuildError,
    },
}

impl ReplayError {
    /// A short name, as bad events have.
    pub fn name(&self) -> &'static str {
        match self {
            ReplayError::BadSize { size_bytes: 0, .. } => "size-zero",
            ReplayError::BadSize { .. } => "size-over-buffer",
            ReplayError::UnknownSwitch(_) => "unknown-switch",
            ReplayError::UnknownQueue { port, ports, .. } if usize::from(*port) >= *ports => {
                "port-out-of-range"
            }
            ReplayError::UnknownQueue { .. } => "queue-out-of-range",
            ReplayError::TimeGoesBack { .. } => "time-backwards",
            ReplayError::Policy { .. } => "policy",
        }
    }
}

/// A packet's number with its flags, so that only the packets in the buffers take memory: bit 0 is
/// the prediction, bit 1 the label, bit 2 whether it counts.
fn tag(number: u64, arrival: &Arrival) -> u64 {
    let &Arrival { counted, dropped, predicted, .. } = arrival;
    number << 3 | u64::from(counted) << 2 | u64::from(dropped) << 1 | u64::from(predicted)
}

pub(crate) fn is_predicted(tag: u64) -> bool {
    tag & 1 != 0
}

pub(crate) fn is_dropped(tag: u64) -> bool {
    tag & 2 != 0
}

pub(crate) fn is_counted(tag: u64) -> bool {
    tag & 4 != 0
}

pub(crate) fn number(tag: u64) -> u64 {
    tag >> 3
}

/// The same packet with a predicted drop.
pub(crate) fn predicted_drop(packet: &Packet) -> Packet {
    Packet { id: packet.id | 1, ..*packet }
}
