//! The projected occupancy at present arrival rates: a buffer overflows because of the packets to
//! come.
//!
//! After Smartbuf's gradient and ABM's drain rates.

use crate::cost::Part;
use crate::descriptor::Descriptor;
use crate::history::Memory;
use crate::projection::Horizon;

/// Occupancy in two base RTTs.
pub(crate) const PROJECTED_OCCUPANCY: Descriptor = Descriptor {
    code: 7,
    name: "projected_occupancy",
    unit: "bytes",
    definition: "occupancy in two base RTTs if arrivals keep the rate of the last eighth of one and nothing is dropped",
    scales_with_buffer: true,
    rises: true,
    memory: Memory::ArrivalRates(Horizon::TwoRtts),
    parts: &[Part::Arrivals, Part::Expected(16), Part::TotalAhead(16)],
    observe: |packet| packet.history.projection().occupancy_bytes(),
};
