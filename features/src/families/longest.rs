//! How far the packet's queue is from being the longest, from which Longest Queue Drop pushes out.

use crate::cost::FeatureWork;
use crate::descriptor::Descriptor;
use crate::history::FeatureMemory;

/// Length of the longest queue.
pub(crate) const LONGEST_QUEUE: Descriptor = Descriptor {
    code: 4,
    name: "longest_queue",
    unit: "bytes",
    definition: "bytes in the longest queue of the shared buffer",
    scales_with_buffer: true,
    rises: false,
    memory: FeatureMemory::Nothing,
    parts: &[FeatureWork::Longest],
    observe: |packet| packet.buffer.longest_queue_bytes(),
};

/// Number of queues that are longer than the packet's queue.
pub(crate) const RANK: Descriptor = Descriptor {
    code: 5,
    name: "rank",
    unit: "queues",
    definition: "queues of the shared buffer longer than the packet's queue",
    scales_with_buffer: false,
    rises: false,
    memory: FeatureMemory::Nothing,
    parts: &[FeatureWork::Rank],
    observe: |packet| packet.buffer.queues_longer_than(packet.queue_bytes),
};

/// How much longer the longest queue is than the packet's queue.
pub(crate) const LONGEST_GAP: Descriptor = Descriptor {
    code: 6,
    name: "longest_gap",
    unit: "bytes",
    definition: "bytes by which the longest queue of the shared buffer is longer than the packet's queue",
    scales_with_buffer: true,
    rises: false,
    memory: FeatureMemory::Nothing,
    parts: &[FeatureWork::Longest, FeatureWork::Gap],
    observe: |packet| packet.buffer.longest_queue_bytes().saturating_sub(packet.queue_bytes),
};
