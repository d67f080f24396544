//! Packet storage, addressed by number.

use crate::transport::SackBlocks;

/// `flags`: sent within the first bandwidth-delay product of its flow.
pub(crate) const UNSCHEDULED: u8 = dropcast_switch::Packet::FIRST_RTT;
/// `flags`: may be marked instead of dropped.
pub(crate) const ECN_CAPABLE: u8 = dropcast_switch::Packet::ECN_CAPABLE;
/// `flags`: congestion was experienced (data), or is reported (acknowledgement).
pub(crate) const MARKED: u8 = 4;

/// No telemetry.
pub(crate) const NO_TRAIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketKind {
    Data,
    Ack,
    /// The header of a data packet that a switch trimmed.
    Trimmed,
    /// The receiver's answer to it.
    Nack,
    Syn,
    SynAck,
}

/// A packet in the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) flow_hash: u64,
    /// Data: its send time. Acknowledgement: the send time of the segment it answers.
    pub(crate) sent_ns: u64,
    /// When it entered the switch that it is in.
    pub(crate) entered_ns: u64,
    pub(crate) sack: SackBlocks,
    /// Place of its flow's state.
    pub(crate) flow: u32,
    /// Data: the segment. Acknowledgement: the first segment that has not arrived.
    pub(crate) segment: u32,
    /// Bytes it takes in a buffer.
    pub(crate) size_bytes: u32,
    /// The link it is on.
    pub(crate) link: u32,
    /// Place of its telemetry, or [`NO_TRAIL`].
    pub(crate) trail: u32,
    pub(crate) from: u16,
    pub(crate) to: u16,
    /// The spine it takes.
    pub(crate) spine: u16,
    pub(crate) kind: PacketKind,
    /// Queue within a port.
    pub(crate) queue: u8,
    pub(crate) flags: u8,
    pub(crate) sack_count: u8,
}

/// A slab: values addressed by slot; slots are reused.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    values: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { values: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Stores a value in a free slot.
    pub(crate) fn add(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.values[place as usize] = value;
                place
            }
            None => {
                self.values.push(value);
                (self.values.len() - 1) as u32
            }
        }
    }

    /// Frees a slot.
    pub(crate) fn release(&mut self, place: u32) {
        self.free.push(place);
    }

    /// A free slot, with its old value for reuse, or a new one from `make`.
    pub(crate) fn reuse(&mut self, make: impl FnOnce() -> T) -> u32 {
        match self.free.pop() {
            Some(place) => place,
            None => self.add(make()),
        }
    }

    pub(crate) fn get(&self, place: u32) -> &T {
        &self.values[place as usize]
    }

    pub(crate) fn get_mut(&mut self, place: u32) -> &mut T {
        &mut self.values[place as usize]
    }

    /// Every value, including those in free slots.
    pub(crate) fn all(&self) -> impl Iterator<Item = &T> {
        self.values.iter()
    }

    /// Slots in use.
    pub(crate) fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }
}
