//! The level in a quarter of a base RTT from two sums, with the scan spread over packets.

use crate::cost::Part;
use crate::descriptor::Descriptor;
use crate::history::Memory;

/// The level from the sums on either side of a cut.
pub(crate) const SPREAD_IN_QUARTER_RTT: Descriptor = Descriptor {
    code: 14,
    name: "spread_in_quarter_rtt",
    unit: "bytes",
    definition: "level_in_quarter_rtt near the level at which the buffer would be full, from sums in which each event counts five queues anew; elsewhere more",
    scales_with_buffer: true,
    rises: true,
    memory: Memory::SpreadCut,
    parts: &[Part::Arrivals, Part::Expected(2), Part::Spread, Part::NearSpread],
    observe: |packet| packet.history.spread().bytes_up_to(packet.queue_bytes),
};
