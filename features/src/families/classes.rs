//! The level in a quarter of a base RTT from sums by length class: what a chip can have, since nothing
//! looks at every queue.

use crate::cost::FeatureWork;
use crate::descriptor::Descriptor;
use crate::history::FeatureMemory;

/// The level by classes.
pub(crate) const CLASSED_IN_QUARTER_RTT: Descriptor = Descriptor {
    code: 12,
    name: "classed_in_quarter_rtt",
    unit: "bytes",
    definition: "level_in_quarter_rtt from the counts and sums of queues by length class, four classes for each octave",
    scales_with_buffer: true,
    rises: true,
    memory: FeatureMemory::LengthClasses,
    parts: &[
        FeatureWork::Arrivals,
        FeatureWork::Expected(2),
        FeatureWork::Classes,
        FeatureWork::AllClasses,
    ],
    observe: |packet| packet.history.classes().bytes_up_to(packet.queue_bytes),
};

/// The level near the cut.
pub(crate) const CUT_IN_QUARTER_RTT: Descriptor = Descriptor {
    code: 13,
    name: "cut_in_quarter_rtt",
    unit: "bytes",
    definition: "classed_in_quarter_rtt near the class at which the buffer would be full, which each event moves by at most one; elsewhere more",
    scales_with_buffer: true,
    rises: true,
    memory: FeatureMemory::LengthClasses,
    parts: &[
        FeatureWork::Arrivals,
        FeatureWork::Expected(2),
        FeatureWork::Classes,
        FeatureWork::Cut,
        FeatureWork::NearCut,
    ],
    observe: |packet| packet.history.classes().bytes_up_to_near_cut(packet.queue_bytes),
};
