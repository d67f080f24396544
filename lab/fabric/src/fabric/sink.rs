//! Observers of a fabric.

use super::flow::FlowRecord;
use dropcast_data::{Event, EventBatch};
use serde::{Deserialize, Serialize};

/// Why a packet was dropped at a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum FabricDropReason {
    /// It did not fit into the buffer.
    Full,
    /// It fitted, and the buffer-sharing policy rejected it.
    Policy,
    /// The policy pushed it out for another.
    PushOut,
    /// Dropped early by active queue management.
    Aqm,
}

impl FabricDropReason {
    /// Every reason.
    pub const ALL: &'static [FabricDropReason] =
        <FabricDropReason as strum::VariantArray>::VARIANTS;

    /// Its name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A packet that a switch dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedPacket {
    /// When, nanoseconds.
    pub time_ns: u64,
    /// Number of its flow, in order of start.
    pub flow_id: u64,
    /// Which switch.
    pub switch_id: u16,
    /// Output port.
    pub port: u16,
    /// Queue within the port.
    pub queue: u8,
    /// Bytes it takes in the buffer.
    pub size_bytes: u32,
    /// Why.
    pub reason: FabricDropReason,
    /// Length of its queue without it, bytes.
    pub queue_bytes: u32,
    /// Whether the queue was shorter than an equal share of the buffer, `B/N`.
    pub is_innocent: bool,
}

/// A sample of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// When, nanoseconds.
    pub time_ns: u64,
    /// Which switch.
    pub switch_id: u16,
    /// Bytes in its buffer.
    pub occupancy_bytes: u32,
    /// Bytes in its longest queue.
    pub longest_queue_bytes: u32,
    /// Size of its buffer, bytes.
    pub buffer_bytes: u32,
}

/// What a switch reports when a packet leaves its buffer: in-band telemetry (INT), the fields that
/// PowerTCP uses (NSDI 2022, Algorithm 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Telemetry {
    /// When, nanoseconds.
    pub time_ns: u64,
    /// Number of the packet's flow, in order of start.
    pub flow_id: u64,
    /// Which switch.
    pub switch_id: u16,
    /// Output port.
    pub port: u16,
    /// Queue within the port.
    pub queue: u8,
    /// Length of the queue without the packet, bytes.
    pub queue_bytes: u32,
    /// Bytes that the port has sent before the packet.
    pub sent_bytes: u64,
    /// Rate of the port's link, bits per second.
    pub rate_bps: u64,
}

/// An observer, called in time order.
pub trait FabricObserver {
    /// Whether it needs packet events; they cost time.
    const WANTS_EVENTS: bool = false;
    /// Whether it wants telemetry; it costs time.
    const WANTS_TELEMETRY: bool = false;

    /// A packet left the buffer of a switch. Only if [`FabricObserver::WANTS_TELEMETRY`].
    fn left(&mut self, telemetry: &Telemetry) {
        let _ = telemetry;
    }

    /// A packet reached a switch or left its buffer. Only if [`FabricObserver::WANTS_EVENTS`].
    fn packet_event(&mut self, event: &Event) {
        let _ = event;
    }

    /// A switch dropped a packet.
    fn dropped(&mut self, drop: &DroppedPacket) {
        let _ = drop;
    }

    /// A switch was sampled.
    fn sampled(&mut self, occupancy: &Occupancy) {
        let _ = occupancy;
    }

    /// A flow has ended, in order of completion; incomplete flows come at the end.
    fn flow_ended(&mut self, record: &FlowRecord) {
        let _ = record;
    }
}

/// No observer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl FabricObserver for Unwatched {}

/// Two sinks.
impl<A: FabricObserver, B: FabricObserver> FabricObserver for (A, B) {
    const WANTS_EVENTS: bool = A::WANTS_EVENTS || B::WANTS_EVENTS;
    const WANTS_TELEMETRY: bool = A::WANTS_TELEMETRY || B::WANTS_TELEMETRY;

    fn left(&mut self, telemetry: &Telemetry) {
        self.0.left(telemetry);
        self.1.left(telemetry);
    }

    fn packet_event(&mut self, event: &Event) {
        self.0.packet_event(event);
        self.1.packet_event(event);
    }

    fn dropped(&mut self, drop: &DroppedPacket) {
        self.0.dropped(drop);
        self.1.dropped(drop);
    }

    fn sampled(&mut self, occupancy: &Occupancy) {
        self.0.sampled(occupancy);
        self.1.sampled(occupancy);
    }

    fn flow_ended(&mut self, record: &FlowRecord) {
        self.0.flow_ended(record);
        self.1.flow_ended(record);
    }
}

impl<S: FabricObserver> FabricObserver for &mut S {
    const WANTS_EVENTS: bool = S::WANTS_EVENTS;
    const WANTS_TELEMETRY: bool = S::WANTS_TELEMETRY;

    fn left(&mut self, telemetry: &Telemetry) {
        (**self).left(telemetry);
    }

    fn packet_event(&mut self, event: &Event) {
        (**self).packet_event(event);
    }

    fn dropped(&mut self, drop: &DroppedPacket) {
        (**self).dropped(drop);
    }

    fn sampled(&mut self, occupancy: &Occupancy) {
        (**self).sampled(occupancy);
    }

    fn flow_ended(&mut self, record: &FlowRecord) {
        (**self).flow_ended(record);
    }
}

/// Events of a batch, except the last.
const BATCH_EVENTS: usize = 8192;

/// Packet events in batches, for a tracer or a writer.
#[derive(Clone, Debug)]
pub struct PacketEvents<F: FnMut(EventBatch)> {
    batch: EventBatch,
    take: F,
}

impl<F: FnMut(EventBatch)> PacketEvents<F> {
    /// `take` gets each batch, in order.
    pub fn new(take: F) -> Self {
        PacketEvents { batch: EventBatch::default(), take }
    }

    /// Hands over the remaining events.
    pub fn finish(mut self) -> F {
        if !self.batch.events.is_empty() {
            (self.take)(self.batch);
        }
        self.take
    }
}

impl<F: FnMut(EventBatch)> FabricObserver for PacketEvents<F> {
    const WANTS_EVENTS: bool = true;

    fn packet_event(&mut self, event: &Event) {
        self.batch.events.push(*event);
        if self.batch.events.len() == BATCH_EVENTS {
            let next = EventBatch::new(Vec::with_capacity(BATCH_EVENTS));
            (self.take)(std::mem::replace(&mut self.batch, next));
        }
    }
}
