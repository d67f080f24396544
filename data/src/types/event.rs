//! Packet events: the input of every trace (`docs/events.md`).

use serde::{Deserialize, Serialize};

/// What happened to a packet at a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The packet reached the buffer, whether or not the switch then accepted it.
    Arrival,
    /// The packet left the buffer: its transmission began.
    Departure,
    /// The real switch dropped the packet. Unless it was pushed out, this row is its arrival, too.
    Drop(DropReason),
    /// The port must send nothing from this queue (PFC, IEEE 802.1Qbb). No packet.
    Pause,
    /// The port may send from this queue again. No packet.
    Resume,
}

impl EventKind {
    /// The kind with this number in a file, if there is one.
    pub fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(EventKind::Arrival),
            1 => Some(EventKind::Departure),
            2 => Some(EventKind::Drop(DropReason::Unstated)),
            3 => Some(EventKind::Pause),
            4 => Some(EventKind::Resume),
            _ => None,
        }
    }

    /// Whether a packet reaches the buffer: virtual LQD sees it arrive.
    pub fn is_arrival(self) -> bool {
        match self {
            EventKind::Arrival => true,
            EventKind::Departure | EventKind::Pause | EventKind::Resume => false,
            EventKind::Drop(reason) => reason != DropReason::PushOut,
        }
    }

    /// Whether the event is about a packet.
    pub fn has_packet(self) -> bool {
        !matches!(self, EventKind::Pause | EventKind::Resume)
    }
}

/// Why the real switch dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum DropReason {
    /// The input does not say; the packet was dropped when it arrived.
    Unstated = 1,
    /// There was no room for it when it arrived, or a threshold kept it out.
    Admission = 2,
    /// It had been accepted and was removed from the buffer before its turn.
    PushOut = 3,
    /// A rule dropped it when it arrived though there was room: active queue management, a policer.
    Policy = 4,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [DropReason; 4] =
        [DropReason::Unstated, DropReason::Admission, DropReason::PushOut, DropReason::Policy];

    /// The reason with this number in a file, if there is one.
    pub fn from_code(code: u8) -> Option<Self> {
        DropReason::ALL.into_iter().find(|&reason| reason as u8 == code)
    }
}

/// One packet event. Events of an input are ordered by time, ties in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time in nanoseconds since any fixed origin.
    pub time_ns: u64,
    /// A hash of the packet's flow, 0 where the input has none.
    pub flow_hash: u64,
    /// Bytes the packet takes in the buffer; of no meaning without a packet.
    pub size_bytes: u32,
    /// Which switch.
    pub switch_id: u16,
    /// Output port.
    pub port: u16,
    /// Queue within the port.
    pub queue: u8,
    /// Arrival, departure, drop, pause or resume.
    pub kind: EventKind,
    /// Bit 0: first-RTT (unscheduled); bit 1: ECN-capable; bit 2, where the input
    /// records marks: the real switch marked it ([`Event::ECN_MARK`]). 0 where the input has none.
    pub flags: u8,
}

impl Event {
    /// Flag of packets that the real switch marked (ECN, congestion experienced).
    pub const ECN_MARK: u8 = 4;
    /// Flag of packets of their flow's first round-trip time (unscheduled).
    pub const FIRST_RTT: u8 = 1;

    /// Whether the packet is of its flow's first round-trip time.
    pub fn is_first_rtt(&self) -> bool {
        self.flags & Event::FIRST_RTT != 0
    }

    /// Whether the real switch marked the packet.
    pub fn is_marked(&self) -> bool {
        self.flags & Event::ECN_MARK != 0
    }
}

/// A run of consecutive events of one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventBatch {
    /// The events, in input order.
    pub events: Vec<Event>,
    /// Values of the user's own columns, equally many for each event, one event after the other. Empty if
    /// none were asked for.
    pub own: Vec<u32>,
}

impl EventBatch {
    /// Events without columns of the user's own.
    pub fn new(events: Vec<Event>) -> Self {
        EventBatch { events, own: Vec::new() }
    }
}
