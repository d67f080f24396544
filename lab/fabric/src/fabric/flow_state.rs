//! An active flow: both of its ends.

use super::flow::{Flow, FlowRecord};
use super::packet::{ECN_CAPABLE, MARKED, NO_TRAIL, Packet, PacketKind, UNSCHEDULED};
use crate::transport::{Kept, Receiver, Segment, Sender, Transport};

/// The state of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waiting for the answer to its handshake.
    Connecting,
    Sending,
}

/// Both ends of a flow.
pub(crate) struct FlowState {
    pub(crate) id: u64,
    pub(crate) flow: Flow,
    pub(crate) phase: Phase,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) segments: u32,
    pub(crate) fct_ns: Option<u64>,
    pub(crate) ideal_fct_ns: u64,
    pub(crate) handshake_repeats: u32,
    /// When the handshake is repeated.
    pub(crate) connect_by_ns: Option<u64>,
    /// Time of its valid timer event; earlier ones are stale.
    pub(crate) timer_ns: Option<u64>,
    pub(crate) pace_ns: Option<u64>,
    /// An unresponsive sender's next segment.
    pub(crate) next_segment: u32,
    /// Its end has been reported to sink and workload.
    pub(crate) is_reported: bool,
    path: Path,
    header_bytes: u32,
    data_queue: u8,
    /// Payload sent, repeated or not, and as much of it as is unscheduled, bytes.
    sent_bytes: u64,
    unscheduled_bytes: u64,
}

/// What identifies a connection's packets to switches: hashes and spines, of its data and of its acknowledgements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) hashes: (u64, u64),
    pub(crate) spines: (u16, u16),
}

/// The common fields of a flow's packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    pub(crate) path: Path,
    pub(crate) header_bytes: u32,
    pub(crate) data_queue: u8,
    pub(crate) unscheduled_bytes: u64,
}

impl FlowState {
    pub(crate) fn new(
        id: u64,
        flow: Flow,
        sender: Sender,
        segments: u32,
        ideal_fct_ns: u64,
        framing: Framing,
    ) -> Self {
        let phase = if flow.connects() { Phase::Connecting } else { Phase::Sending };
        FlowState {
            id,
            flow,
            phase,
            sender,
            receiver: Receiver::default(),
            segments,
            fct_ns: None,
            ideal_fct_ns,
            handshake_repeats: 0,
            connect_by_ns: None,
            timer_ns: None,
            pace_ns: None,
            next_segment: 0,
            is_reported: false,
            path: framing.path,
            header_bytes: framing.header_bytes,
            data_queue: framing.data_queue,
            sent_bytes: 0,
            unscheduled_bytes: framing.unscheduled_bytes,
        }
    }

    /// Whether all its payload has arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.receiver.next() == self.segments
    }

    /// Whether its sender has nothing left to do.
    pub(crate) fn is_sent(&self) -> bool {
        match self.flow.transport {
            Transport::Unresponsive => self.next_segment == self.segments,
            _ => self.sender.is_done(),
        }
    }

    /// Time of the next timer event.
    pub(crate) fn deadline_ns(&self) -> Option<u64> {
        match self.phase {
            Phase::Connecting => self.connect_by_ns,
            Phase::Sending => self.sender.deadline_ns(),
        }
    }

    pub(crate) fn record(&self) -> FlowRecord {
        FlowRecord {
            id: self.id,
            flow: self.flow,
            fct_ns: self.fct_ns,
            ideal_fct_ns: self.ideal_fct_ns,
            received_bytes: self.receiver.received_bytes(),
            timeouts: self.sender.timeouts() + self.handshake_repeats,
            retransmissions: self.sender.repeats(),
        }
    }

    /// What is left of it for the next flow on its connection.
    pub(crate) fn keep(self) -> (Kept, Path) {
        (self.sender.keep(), self.path)
    }

    /// The handshake is answered.
    pub(crate) fn connect(&mut self) {
        self.connect_by_ns = None;
        self.phase = Phase::Sending;
    }

    /// The packet of a segment.
    pub(crate) fn data(&mut self, place: u32, segment: &Segment, now_ns: u64) -> Packet {
        let mut packet = self.packet(place, PacketKind::Data, now_ns);
        packet.segment = segment.number;
        packet.size_bytes += segment.bytes;
        packet.queue = self.data_queue;
        if self.flow.transport.is_ecn_capable() {
            packet.flags |= ECN_CAPABLE;
        }
        if self.sent_bytes < self.unscheduled_bytes {
            packet.flags |= UNSCHEDULED;
        }
        self.sent_bytes += u64::from(segment.bytes);
        packet
    }

    /// The first packet of a handshake.
    pub(crate) fn syn(&self, place: u32, now_ns: u64) -> Packet {
        self.packet(place, PacketKind::Syn, now_ns)
    }

    /// The receiver's answer to a packet.
    pub(crate) fn answer(&self, place: u32, to: &Packet, now_ns: u64) -> Packet {
        let kind = match to.kind {
            PacketKind::Data => PacketKind::Ack,
            PacketKind::Trimmed => PacketKind::Nack,
            _ => PacketKind::SynAck,
        };
        let (sack, sack_count) = self.receiver.sack();
        let mut packet = self.packet(place, kind, now_ns);
        (packet.from, packet.to) = (self.flow.to, self.flow.from);
        (packet.flow_hash, packet.spine) = (self.path.hashes.1, self.path.spines.1);
        if kind == PacketKind::Ack {
            packet.sent_ns = self.receiver.echo_ns();
            packet.segment = self.receiver.next();
            packet.size_bytes += 8 * sack_count as u32;
            packet.flags = to.flags & MARKED;
            packet.trail = to.trail;
            (packet.sack, packet.sack_count) = (sack, sack_count as u8);
        } else if kind == PacketKind::Nack {
            packet.segment = to.segment;
        }
        packet
    }

    fn packet(&self, place: u32, kind: PacketKind, now_ns: u64) -> Packet {
        Packet {
            flow_hash: self.path.hashes.0,
            sent_ns: now_ns,
            entered_ns: 0,
            sack: Default::default(),
            flow: place,
            segment: 0,
            size_bytes: self.header_bytes,
            link: 0,
            trail: NO_TRAIL,
            from: self.flow.from,
            to: self.flow.to,
            spine: self.path.spines.0,
            kind,
            queue: 0,
            flags: 0,
            sack_count: 0,
        }
    }
}
