//! How many bytes the decision's state takes.

use super::memory;
use dropcast_data::{Scheduler, SwitchSpec};
use dropcast_runtime::Keeps;

/// By default there is a place for every packet of at least this many bytes, the minimum of Ethernet.
pub(crate) const LEAST_BYTES: u32 = 64;

/// Reserved bytes of a queue that does not draw on the shared buffer.
pub(super) const UNLIMITED: u32 = u32::MAX;

/// Places for that many bytes of the buffer, and beside it; for all queues that do not draw on it as many as for the buffer.
pub(crate) fn places(switch: &SwitchSpec) -> u32 {
    let of = |at| u64::from(switch.reserved_bytes_of(at));
    let (unlimited, limited): (Vec<u64>, Vec<u64>) =
        (0..switch.queues()).map(of).partition(|&bytes| bytes == u64::from(UNLIMITED));
    let buffers = 1 + u64::from(!unlimited.is_empty());
    let bytes = buffers * u64::from(switch.buffer_bytes) + limited.iter().sum::<u64>();
    u32::try_from(bytes.div_ceil(LEAST_BYTES.into())).unwrap_or(u32::MAX)
}

/// Sizes of the state, bytes, where 64-bit integers are aligned to 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Leaves of the tournament among the ports, a power of two.
    pub(super) leaves: usize,
    /// Lengths of the arrays of queues, and of the bits that say which are not empty.
    pub(super) queue_places: usize,
    pub(super) words: usize,
    /// Lengths of the arrays of length classes.
    pub(super) class_places: usize,
    /// Lengths of the arrays of a port's queues.
    pub(super) port_queues: usize,
    /// Places of a transmit ring.
    pub(super) ring_places: usize,
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
    /// The state of a switch; there is a place for every packet of at least [`LEAST_BYTES`]. If
    /// `is_bounded`, arrays have powers of 2 as lengths, and queues that are not empty no list.
    pub(super) fn new(
        switch: &SwitchSpec,
        kept: Keeps,
        counts_busy: bool,
        is_bounded: bool,
    ) -> Self {
        // At least two, so that compilers see that the root is no leaf.
        let leaves = switch.ports().next_power_of_two().max(2);
        let length = |of: usize| if is_bounded { of.next_power_of_two() } else { of };
        let scanned = length(memory::scanned(switch));
        let ports = if is_bounded { leaves } else { switch.ports() };
        let queues = if is_bounded { scanned } else { switch.queues() };
        let packets = places(switch);
        let reserves = usize::from(!switch.reserved_bytes.is_empty());
        let packets = if is_bounded { packets.next_power_of_two() } else { packets };
        let place_bytes = if packets <= 65_535 { 2 } else { 4 };
        let packet_bytes = 4 + 2 * place_bytes;
        let ring_places = match usize::from(switch.transmit_ring_packets) {
            0 => 0,
            ring => length(ring),
        };
        let port_queues = length(usize::from(switch.queues_per_port));
        let port_state_bytes = port_state_bytes(switch, port_queues, ring_places);
        let [arrivals, averages, total] =
            [kept.arrivals, kept.averages, kept.total].map(usize::from);
        let classes = if kept.classes { length(memory::class_count(switch)) } else { 0 };
        let cut = usize::from(kept.classes);
        let words = length(memory::words(switch));
        let bits = if kept.scan && !is_bounded { words } else { 0 };
        let wide = 8
            * (2 * leaves
                + bits
                + queues * arrivals
                + (queues + 1) * averages
                + total
                + classes
                + cut);
        let words = align(wide + ports * port_state_bytes, 8) + 4 * 8;
        let narrow = 4
            * (scanned
                + queues * arrivals
                + (queues + 1) * averages
                + classes
                + 2 * cut
                + usize::from(counts_busy)
                + queues
                + 2 * queues * reserves
                + 7);
        let places = place_bytes * (2 * queues + 1) + 2 * 2 * leaves;
        let before_packets = align(words + narrow + places, 4);
        Layout {
            leaves,
            queue_places: queues,
            class_places: classes,
            words,
            port_queues,
            ring_places,
            packets,
            queue_bytes: 4 + 4 + 8 * reserves + 2 * place_bytes + 12 * (arrivals + averages),
            port_bytes: port_state_bytes + 2 * (8 + 2),
            packet_bytes,
            total_bytes: align(before_packets + packets as usize * packet_bytes, 8),
        }
    }
}

/// `struct port`.
fn port_state_bytes(switch: &SwitchSpec, queues: usize, ring: usize) -> usize {
    let (ring_bytes, ring_words) = if ring > 0 { (8 + 8 * ring, 2) } else { (0, 0) };
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
