//! What a buffer-sharing policy is.

use crate::Buffer;

/// A packet at the moment it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// A number that tells it from every other packet of the switch.
    pub id: u64,
    /// Index of the queue it is for ([`dropcast_data::SwitchSpec::queue_index`]).
    pub queue: usize,
    /// Bytes it takes in the buffer; 1 in the slotted model.
    pub size_bytes: u32,
}

/// What to do with an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Add it.
    Accept,
    /// Drop it.
    Reject,
    /// Push the last packet of this queue out, then ask again.
    PushOut(usize),
}

/// A buffer-sharing policy. Time is whatever the switch's [`crate::Service`] counts: nanoseconds,
/// or slots.
///
/// For each packet the switch calls `advance` up to its arrival time, then `arrives` once, then
/// `decide` until the answer is not a push-out. Queues that do not draw on the shared buffer are
/// never asked about.
pub trait Policy {
    /// Time goes on to `now`: a policy with virtual queues serves them.
    fn advance(&mut self, now: u64) {
        let _ = now;
    }

    /// A packet arrives: a policy with thresholds moves them.
    fn arrives(&mut self, packet: &Packet, now: u64) {
        let _ = (packet, now);
    }

    /// What to do with the packet, given the buffer before it is added.
    fn decide(&mut self, buffer: &Buffer, packet: &Packet) -> Decision;
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn advance(&mut self, now: u64) {
        (**self).advance(now);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        (**self).arrives(packet, now);
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet) -> Decision {
        (**self).decide(buffer, packet)
    }
}
