//! Packet events: the input of every trace (`docs/events.md`).

/// What happened to a packet at a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EventKind {
    /// The packet reached the buffer, whether or not the switch then accepted it.
    Arrival = 0,
    /// The packet left the buffer: its transmission began.
    Departure = 1,
}

impl EventKind {
    /// The kind with this number in a file, if there is one.
    pub fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(EventKind::Arrival),
            1 => Some(EventKind::Departure),
            _ => None,
        }
    }
}

/// One packet event. Events of an input are ordered by time, ties in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time in nanoseconds since any fixed origin.
    pub time_ns: u64,
    /// A hash of the packet's flow, 0 where the input has none.
    pub flow_hash: u64,
    /// Bytes the packet takes in the buffer.
    pub size_bytes: u32,
    /// Which switch.
    pub switch_id: u16,
    /// Output port.
    pub port: u16,
    /// Queue within the port.
    pub queue: u8,
    /// Arrival or departure.
    pub kind: EventKind,
    /// Bit 0: first-RTT (unscheduled); bit 1: ECN-capable. 0 where the input has none.
    pub flags: u8,
}

/// A run of consecutive events of one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventBatch {
    /// The events, in input order.
    pub events: Vec<Event>,
}
