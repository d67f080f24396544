//! The level in a quarter of a base RTT with the queues in their present order, kept by exchanging neighbours.

use crate::cost::Part;
use crate::descriptor::Descriptor;
use crate::history::Memory;

/// The level in the present order.
pub(crate) const ORDERED_IN_QUARTER_RTT: Descriptor = Descriptor {
    code: 15,
    name: "ordered_in_quarter_rtt",
    unit: "bytes",
    definition: "bytes in a quarter of a base RTT if arrivals kept their rate and the packet's queue and all that are now longer were cut down to its present length",
    scales_with_buffer: true,
    rises: true,
    memory: Memory::LengthOrder,
    parts: &[Part::Arrivals, Part::Expected(2), Part::Order, Part::Behind],
    observe: |packet| packet.history.order().bytes_up_to(packet.queue, packet.queue_bytes),
};
