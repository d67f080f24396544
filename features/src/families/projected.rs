//! The projected occupancy at present arrival rates: a buffer overflows because of the packets to
//! come.
//!
//! After Smartbuf's gradient and ABM's drain rates.

use crate::cost::FeatureWork;
use crate::descriptor::Descriptor;
use crate::history::FeatureMemory;
use crate::projection::Horizon;

/// Occupancy in two base RTTs.
pub(crate) const PROJECTED_OCCUPANCY: Descriptor = Descriptor {
    code: 7,
    name: "projected_occupancy",
    unit: "bytes",
    definition: "occupancy in two base RTTs if arrivals keep the rate of the last eighth of one and nothing is dropped",
    scales_with_buffer: true,
    rises: true,
    memory: FeatureMemory::ArrivalRates(Horizon::TwoRtts),
    parts: &[FeatureWork::Arrivals, FeatureWork::Expected(16), FeatureWork::TotalAhead(16)],
    observe: |packet| packet.history.projection().occupancy_bytes(),
};
