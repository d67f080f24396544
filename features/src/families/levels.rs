//! The occupancy if every queue were cut down to the length of the packet's queue, now and later.
//!
//! Longest Queue Drop pushes a packet out only after everything above the level of its queue, so it
//! drops the packet when this level reaches the buffer size.

use crate::cost::FeatureWork;
use crate::descriptor::{Arrival, Descriptor};
use crate::history::FeatureMemory;
use crate::projection::Horizon;
use crate::view::saturated;

/// The level now.
pub(crate) const LEVEL_OCCUPANCY: Descriptor = Descriptor {
    code: 8,
    name: "level_occupancy",
    unit: "bytes",
    definition: "bytes that the shared buffer would hold if all its queues were cut down to the length of the packet's queue",
    scales_with_buffer: true,
    rises: true,
    memory: FeatureMemory::Nothing,
    parts: &[FeatureWork::Level],
    observe: |packet| saturated(packet.buffer.bytes_up_to(packet.queue_bytes)),
};

/// The level in a quarter of a base RTT.
pub(crate) const LEVEL_IN_QUARTER_RTT: Descriptor = Descriptor {
    code: 9,
    name: "level_in_quarter_rtt",
    unit: "bytes",
    definition: "bytes in a quarter of a base RTT if arrivals kept their rate and all queues were cut down to the present length of the packet's queue",
    scales_with_buffer: true,
    rises: true,
    memory: FeatureMemory::ArrivalRates(Horizon::QuarterRtt),
    parts: &[FeatureWork::Arrivals, FeatureWork::Expected(2), FeatureWork::LevelAhead(2)],
    observe: |packet| level(packet, Horizon::QuarterRtt),
};

/// The level in one base RTT.
pub(crate) const LEVEL_IN_ONE_RTT: Descriptor = Descriptor {
    code: 10,
    name: "level_in_one_rtt",
    unit: "bytes",
    definition: "bytes in one base RTT if arrivals kept their rate and all queues were cut down to the present length of the packet's queue",
    scales_with_buffer: true,
    rises: true,
    memory: FeatureMemory::ArrivalRates(Horizon::OneRtt),
    parts: &[FeatureWork::Arrivals, FeatureWork::Expected(8), FeatureWork::LevelAhead(8)],
    observe: |packet| level(packet, Horizon::OneRtt),
};

/// The level in two base RTTs.
pub(crate) const LEVEL_IN_TWO_RTTS: Descriptor = Descriptor {
    code: 11,
    name: "level_in_two_rtts",
    unit: "bytes",
    definition: "bytes in two base RTTs if arrivals kept their rate and all queues were cut down to the present length of the packet's queue",
    scales_with_buffer: true,
    rises: true,
    memory: FeatureMemory::ArrivalRates(Horizon::TwoRtts),
    parts: &[FeatureWork::Arrivals, FeatureWork::Expected(16), FeatureWork::LevelAhead(16)],
    observe: |packet| level(packet, Horizon::TwoRtts),
};

fn level(packet: &Arrival<'_>, horizon: Horizon) -> u32 {
    packet.history.projection().bytes_up_to(horizon, packet.queue_bytes)
}
