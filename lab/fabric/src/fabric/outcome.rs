//! What a simulation came to.

use super::sink::FabricDropReason;

/// The totals of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulationOutcome {
    /// Time of the last event, nanoseconds.
    pub end_ns: u64,
    /// Events that were processed.
    pub events: u64,
    /// Flows that started.
    pub flows: u64,
    /// Flows that completed.
    pub completed: u64,
    /// Packets that servers sent, including acknowledgements and handshakes.
    pub packets_sent: u64,
    /// Packets that reached their server.
    pub packets_delivered: u64,
    /// Packets in flight at the end.
    pub packets_in_flight: u64,
    /// Packet-hops: packets that crossed a link, once per link.
    pub hops: u64,
    /// Marked packets, once per marking switch.
    pub marked: u64,
    /// Payload that arrived, bytes, without duplicates.
    pub received_bytes: u64,
    /// Between the start of the first flow and that of the last, nanoseconds.
    pub starting_ns: u64,
    /// Payload that had arrived when the last flow started, bytes, without duplicates.
    pub received_while_starting_bytes: u64,
    pub(super) dropped: [u64; 4],
}

impl SimulationOutcome {
    /// Packets dropped for a reason.
    pub fn dropped(&self, reason: FabricDropReason) -> u64 {
        self.dropped[reason as usize]
    }

    /// Packets dropped.
    pub fn all_dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }
}
