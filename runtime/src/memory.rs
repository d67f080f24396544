//! The memory of a decision, which belongs to the caller.

use crate::average::Average;
use crate::classes::{CLASSES, ClassState};
use crate::{Keeps, NotReady, Service, SwitchConstants};

/// The end of a list; no packet has this place.
pub(crate) const NOWHERE: u16 = u16::MAX;

/// A bit of [`PacketState::size_bytes`]: the packet's drop was predicted.
pub(crate) const PREDICTED: u32 = 1 << 31;

/// A port of virtual LQD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortState {
    /// When it dequeues next; `u64::MAX` if it is idle.
    pub(crate) due_ns: u64,
    /// End of transmission of the last packet that its ring took.
    pub(crate) sent_ns: u64,
    /// The oldest place of its ring, and how many are in use.
    pub(crate) next: u16,
    pub(crate) begun: u16,
    /// The first queue to consider, and whether it got its quantum.
    pub(crate) turn: u8,
    pub(crate) was_credited: bool,
}

impl PortState {
    /// An idle port.
    pub const IDLE: Self =
        PortState { due_ns: u64::MAX, sent_ns: 0, next: 0, begun: 0, turn: 0, was_credited: false };
}

/// A queue of the switch, and of virtual LQD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueState {
    /// Bytes of virtual LQD's queue in the shared buffer: the threshold.
    pub(crate) bytes: u32,
    /// Bytes of the switch's own queue in the shared buffer.
    pub(crate) real_bytes: u32,
    /// Bytes that arrived recently.
    pub(crate) recent_bytes: u32,
    /// Places of the first and the last packet of virtual LQD; meaningless while there is none.
    pub(crate) head: u16,
    pub(crate) tail: u16,
}

impl QueueState {
    /// An empty queue.
    pub const EMPTY: Self =
        QueueState { bytes: 0, real_bytes: 0, recent_bytes: 0, head: NOWHERE, tail: NOWHERE };

    /// The expected bytes after this many eighths of a base RTT (2, 8 or 16); `drain_bytes` is what the
    /// port sends in two base RTTs. `features/src/projection.rs` defines them.
    pub(crate) fn expected_bytes(&self, drain_bytes: u64, eighths: u32) -> u64 {
        expected_bytes(
            self.bytes,
            self.recent_bytes,
            eighths,
            drain_bytes / u64::from(16 / eighths),
        )
    }
}

/// What a queue holds of the bytes that are reserved for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedState {
    /// Virtual LQD's queue.
    pub(crate) bytes: u32,
    /// The switch's own.
    pub(crate) real_bytes: u32,
}

impl ReservedState {
    /// Of an empty queue.
    pub const EMPTY: Self = ReservedState { bytes: 0, real_bytes: 0 };
}

/// A packet in virtual LQD, or a free place for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketState {
    /// With [`PREDICTED`].
    pub(crate) size_bytes: u32,
    /// The next towards the tail; of a free place, the next free one.
    pub(crate) next: u16,
    /// The next towards the head.
    pub(crate) previous: u16,
}

impl PacketState {
    /// A free place.
    pub const FREE: Self = PacketState { size_bytes: 0, next: NOWHERE, previous: NOWHERE };
}

/// All memory that grows with the switch. Its content is overwritten. Parts that a model or a switch does
/// not need may be empty.
#[derive(Debug)]
pub struct Memory<'a> {
    /// One for each port.
    pub ports: &'a mut [PortState],
    /// One for each queue.
    pub queues: &'a mut [QueueState],
    /// Places for the packets of virtual LQD, at most 65,535: the buffer divided by the smallest packet
    /// is always enough. A packet without a place is not added to virtual LQD, so that thresholds are
    /// lower and more is dropped; [`Credence::unheld`](crate::Credence::unheld) counts them.
    pub packets: &'a mut [PacketState],
    /// One for each queue if the model needs rates of arrivals: when its last event was, ns.
    pub heard_ns: &'a mut [u64],
    /// [`Memory::CLASSES`] if the model needs sums by length class.
    pub classes: &'a mut [ClassState],
    /// One for each queue, and one for the buffer, if the model needs moving averages.
    pub averages: &'a mut [Average],
    /// As many for each port as its transmit ring has packets.
    pub rings: &'a mut [u64],
    /// One for each queue if the ports serve by [`Dwrr`](crate::Service::Dwrr).
    pub deficits: &'a mut [u64],
    /// One for each queue if any has [reserved bytes](SwitchConstants::reserved_bytes).
    pub reserves: &'a mut [ReservedState],
}

impl Memory<'_> {
    /// How many length classes there are.
    pub const CLASSES: usize = CLASSES;

    /// Clears the memory; an error if a part is too short.
    pub(crate) fn prepare(
        &mut self,
        switch: &SwitchConstants<'_>,
        keeps: Keeps,
    ) -> Result<(), NotReady> {
        let queues = switch.queues();
        let of = |is_needed: bool, length: usize| if is_needed { length } else { 0 };
        let ring = switch.transmit_ring_packets as usize;
        for (name, length, needed) in [
            ("ports", self.ports.len(), switch.ports()),
            ("queues", self.queues.len(), queues),
            ("packets", self.packets.len(), 1),
            ("heard_ns", self.heard_ns.len(), of(keeps.arrivals, queues)),
            ("classes", self.classes.len(), of(keeps.classes, CLASSES)),
            ("averages", self.averages.len(), of(keeps.averages, queues + 1)),
            ("rings", self.rings.len(), ring.saturating_mul(switch.ports())),
            (
                "deficits",
                self.deficits.len(),
                of(matches!(switch.service, Service::Dwrr(_)), queues),
            ),
            ("reserves", self.reserves.len(), of(switch.reserves(), queues)),
        ] {
            if length < needed {
                return Err(NotReady::TooLittleMemory(name));
            }
        }
        self.ports.fill(PortState::IDLE);
        self.queues.fill(QueueState::EMPTY);
        self.heard_ns.fill(0);
        self.classes.fill(ClassState::EMPTY);
        self.averages.fill(Average::ZERO);
        self.rings.fill(0);
        self.deficits.fill(0);
        self.reserves.fill(ReservedState::EMPTY);
        let places = self.packets.len().min(usize::from(NOWHERE));
        for (place, packet) in self.packets.iter_mut().enumerate().take(places) {
            // Below `NOWHERE`, the maximum number of places.
            let next = if place + 1 < places { place as u16 + 1 } else { NOWHERE };
            *packet = PacketState { next, ..PacketState::FREE };
        }
        Ok(())
    }
}

/// The recent arrivals of a queue, `elapsed_ns` after its last event; `features/src/projection.rs`
/// defines them.
pub(crate) fn recent_bytes(
    switch: &SwitchConstants<'_>,
    recent_bytes: u32,
    arrived_bytes: u32,
    elapsed_ns: u64,
) -> u32 {
    let window_ns = (switch.base_rtt_ns / 8).max(1);
    decayed(recent_bytes, elapsed_ns, window_ns).saturating_add(arrived_bytes)
}

/// What a queue of `bytes` holds some windows ahead, if as much arrives in each as lately: `drain_bytes` leave by then.
pub(crate) fn expected_bytes(bytes: u32, recent_bytes: u32, windows: u32, drain_bytes: u64) -> u64 {
    if bytes == 0 {
        return 0;
    }
    (u64::from(bytes) + u64::from(windows) * u64::from(recent_bytes)).saturating_sub(drain_bytes)
}

/// What is left of recent arrivals after `elapsed_ns`; the window is at least 1 and below 2^32.
pub(crate) fn decayed(recent_bytes: u32, elapsed_ns: u64, window_ns: u64) -> u32 {
    if elapsed_ns >= window_ns {
        return 0;
    }
    let forgotten = u64::from(recent_bytes) * elapsed_ns / window_ns;
    // Less than there were.
    recent_bytes - forgotten as u32
}
