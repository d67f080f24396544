//! How many bytes the decision's state takes.

use super::memory;
use crate::tracker::Kept;
use dropcast_data::{Scheduler, SwitchSpec};

/// Sizes of the state, bytes, where 64-bit integers are aligned to 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Leaves of the tournament among the ports, a power of two.
    pub(super) leaves: usize,
    /// Places for packets.
    pub(super) packets: u32,
    /// A queue.
    pub(super) queue_bytes: usize,
    /// A port, with its share of the tournament.
    pub(super) port_bytes: usize,
    /// A place for a packet.
    pub(super) packet_bytes: usize,
    /// All.
    pub(super) total_bytes: usize,
}

impl Layout {
    /// The state of a switch; there is a place for every packet of at least `least_bytes`.
    pub(super) fn new(switch: &SwitchSpec, kept: Kept, least_bytes: u32) -> Self {
        let (ports, queues) = (switch.ports(), switch.queues());
        let leaves = ports.next_power_of_two();
        let packets = switch.buffer_bytes.div_ceil(least_bytes);
        let place_bytes = if packets <= 65_535 { 2 } else { 4 };
        let packet_bytes = 4 + 2 * place_bytes;
        let port_state_bytes = port_state_bytes(switch);
        let [arrivals, averages, total] =
            [kept.arrivals, kept.averages, kept.total].map(usize::from);
        let bits = if kept.others { memory::words(switch) } else { 0 };
        let wide = 8 * (leaves + bits + queues * arrivals + (queues + 1) * averages + total);
        let words = align(wide + ports * port_state_bytes, 8) + 2 * 8;
        let scanned = memory::scanned(switch);
        let narrow = 4 * (scanned + queues * arrivals + (queues + 1) * averages + queues + 7);
        let places = place_bytes * (2 * queues + 1) + 2 * 2 * leaves;
        let before_packets = align(words + narrow + places, 4);
        Layout {
            leaves,
            packets,
            queue_bytes: 4 + 4 + 2 * place_bytes + 12 * (arrivals + averages),
            port_bytes: port_state_bytes + 8 + 2 * 2,
            packet_bytes,
            total_bytes: align(before_packets + packets as usize * packet_bytes, 8),
        }
    }
}

/// `struct port`.
fn port_state_bytes(switch: &SwitchSpec) -> usize {
    let ring = usize::from(switch.transmit_ring_packets);
    let (ring_bytes, ring_words) = if ring > 0 { (8 + 8 * ring, 2) } else { (0, 0) };
    let queues = usize::from(switch.queues_per_port);
    let (turn_bytes, turn_words) = match switch.scheduler {
        Scheduler::StrictPriority => (0, 0),
        _ if queues == 1 => (0, 0),
        Scheduler::RoundRobin => (0, 1),
        Scheduler::Dwrr => (8 * queues, 2),
    };
    let bytes = ring_bytes + turn_bytes + 4 * (ring_words + turn_words);
    if ring_bytes + turn_bytes > 0 { align(bytes, 8) } else { bytes }
}

/// `bytes`, rounded up to a multiple of `to`.
fn align(bytes: usize, to: usize) -> usize {
    bytes.next_multiple_of(to)
}
