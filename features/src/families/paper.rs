//! The four features of the Credence paper (NSDI '24, section 4.1), as the authors' ns-3 code
//! computes them.

use crate::cost::FeatureWork;
use crate::descriptor::Descriptor;
use crate::history::FeatureMemory;

/// Length of the packet's queue.
pub(crate) const QUEUE_LENGTH: Descriptor = Descriptor {
    code: 0,
    name: "queue_length",
    unit: "bytes",
    definition: "bytes in the packet's queue before it is added",
    scales_with_buffer: true,
    rises: true,
    memory: FeatureMemory::Nothing,
    parts: &[FeatureWork::OwnLength],
    observe: |packet| packet.queue_bytes,
};

/// Moving average of the length of the packet's queue.
pub(crate) const AVG_QUEUE_LENGTH: Descriptor = Descriptor {
    code: 1,
    name: "avg_queue_length",
    unit: "bytes",
    definition: "moving average of the queue's bytes, updated when a packet leaves it, time constant base RTT",
    scales_with_buffer: true,
    rises: false,
    memory: FeatureMemory::MovingAverages,
    parts: &[FeatureWork::QueueAverages],
    observe: |packet| packet.history.averages().queue_bytes(packet.queue),
};

/// Bytes in the shared buffer.
pub(crate) const OCCUPANCY: Descriptor = Descriptor {
    code: 2,
    name: "occupancy",
    unit: "bytes",
    definition: "bytes in the shared buffer before the packet is added",
    scales_with_buffer: true,
    rises: true,
    memory: FeatureMemory::Nothing,
    parts: &[FeatureWork::Occupancy],
    observe: |packet| packet.occupancy_bytes,
};

/// Moving average of the occupancy.
pub(crate) const AVG_OCCUPANCY: Descriptor = Descriptor {
    code: 3,
    name: "avg_occupancy",
    unit: "bytes",
    definition: "moving average of the occupancy, updated when a packet leaves the switch, time constant base RTT",
    scales_with_buffer: true,
    rises: false,
    memory: FeatureMemory::MovingAverages,
    parts: &[FeatureWork::OccupancyAverage],
    observe: |packet| packet.history.averages().occupancy_bytes(),
};
