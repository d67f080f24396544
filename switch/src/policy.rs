//! The interface of buffer-sharing policies.

use crate::Buffer;

/// A packet at the moment it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its number, unique at the switch.
    pub id: u64,
    /// Index of the queue it is for ([`dropcast_data::SwitchSpec::queue_index`]).
    pub queue: usize,
    /// Bytes it takes in the buffer; 1 in the slotted model.
    pub size_bytes: u32,
    /// A hash of its flow, 0 if unknown ([`dropcast_data::Event::flow_hash`]).
    pub flow_hash: u64,
    /// [`Packet::FIRST_RTT`] and [`Packet::ECN_CAPABLE`], as in [`dropcast_data::Event::flags`].
    pub flags: u8,
}

impl Packet {
    /// Flag of packets sent in the first round-trip time of their flow (unscheduled).
    pub const FIRST_RTT: u8 = 1;
    /// Flag of packets that can be marked instead of dropped (ECN).
    pub const ECN_CAPABLE: u8 = 2;

    /// A packet of an unknown flow without flags.
    pub fn new(id: u64, queue: usize, size_bytes: u32) -> Self {
        Packet { id, queue, size_bytes, flow_hash: 0, flags: 0 }
    }

    /// Whether it is sent in the first round-trip time of its flow.
    pub fn is_first_rtt(&self) -> bool {
        self.flags & Packet::FIRST_RTT != 0
    }

    /// Whether it can be marked instead of dropped.
    pub fn is_ecn_capable(&self) -> bool {
        self.flags & Packet::ECN_CAPABLE != 0
    }
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
    /// Push the first packet of this queue out, then ask again.
    PushOutHead(usize),
}

/// A buffer-sharing policy. Time is in the unit of the switch's [`crate::TimeModel`]: nanoseconds or
/// slots.
///
/// For each packet the switch calls `advance` up to its arrival time, then `arrives` once, then
/// `decide` until the answer is not a push-out, then `settled` once. Packets of queues outside the
/// shared buffer only `arrive`: they take time on the wire, in virtual queues too. `departed` and `settled` come in time order; `advance` may have been
/// called with a later time than a subsequent `departed`.
pub trait Policy {
    /// Time advances to `now`: a policy with virtual queues serves them.
    fn advance(&mut self, now: u64) {
        let _ = now;
    }

    /// A packet arrives: a policy with thresholds moves them.
    fn arrives(&mut self, packet: &Packet, now: u64) {
        let _ = (packet, now);
    }

    /// What to do with the packet that arrives at `now`, given the buffer before it is added. The packet
    /// has the size that it adds to the shared buffer; one that adds nothing is accepted without asking.
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision;

    /// The packet that arrived at `now` was added to its queue or dropped; `buffer` is the state
    /// after that.
    fn settled(&mut self, buffer: &Buffer, packet: &Packet, accepted: bool, now: u64) {
        let _ = (buffer, packet, accepted, now);
    }

    /// A packet of `size_bytes` left `queue` at `time`, to be transmitted or because the policy
    /// pushed it out; `buffer` is what remains. Also called for queues outside the shared buffer.
    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        let _ = (buffer, queue, size_bytes, time);
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn advance(&mut self, now: u64) {
        (**self).advance(now);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        (**self).arrives(packet, now);
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        (**self).decide(buffer, packet, now)
    }

    fn settled(&mut self, buffer: &Buffer, packet: &Packet, accepted: bool, now: u64) {
        (**self).settled(buffer, packet, accepted, now);
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        (**self).departed(buffer, queue, size_bytes, time);
    }
}
