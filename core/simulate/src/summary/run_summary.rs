//! What a run was like.

use super::percentiles::Percentiles;
use super::size_buckets::SizeBucket;
use crate::fabric::FabricDropReason;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Statistics of a class of flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassSummary {
    /// Flows that started.
    pub flows: u64,
    /// Flows that completed.
    pub completed: u64,
    /// Slowdowns of completed flows; null if there are none.
    pub slowdown: Option<Percentiles>,
    /// Share of flows that took 10 ms or more, or did not complete; null without flows.
    pub over_10_ms: Option<f64>,
    /// Share of flows that took 20 ms or more, or did not complete; null without flows.
    pub over_20_ms: Option<f64>,
    /// Times that a timer went off.
    pub timeouts: u64,
    /// Flows whose timer went off.
    pub timed_out: u64,
    /// Segments sent again.
    pub retransmissions: u64,
}

/// Harm to flows that did not cause the congestion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Innocents {
    /// Packets dropped at queues shorter than an equal share of the buffer, `B/N`.
    pub drops: u64,
    /// Their share of all drops; null without drops.
    pub share_of_drops: Option<f64>,
    /// Timeouts of short flows outside incasts.
    pub timeouts: u64,
    /// Share of short flows outside incasts with a timeout; null without such flows.
    pub timed_out: Option<f64>,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Answers to requests.
    pub incast: ClassSummary,
    /// Other flows of at most [`crate::SHORT_BYTES`].
    pub short: ClassSummary,
    /// Other flows between the two.
    #[serde(default)]
    pub middle: ClassSummary,
    /// Other flows of at least [`crate::LONG_BYTES`].
    pub long: ClassSummary,
    /// All flows outside incasts and collectives.
    pub single: ClassSummary,
    /// Parts of collective operations.
    pub collective: ClassSummary,
    /// Occupancy of the leaves' buffers, shares; null without samples.
    pub leaf_occupancy: Option<Percentiles>,
    /// Its 99.99th percentile; null without samples.
    pub leaf_occupancy_p9999: Option<f64>,
    /// Packets dropped, by reason.
    pub drops: BTreeMap<FabricDropReason, u64>,
    /// Packets dropped, as a share of those that servers sent; null if none were sent.
    pub drop_share: Option<f64>,
    /// Payload that arrived per time until the last event, bits per second; null if no time passed.
    pub goodput_bps: Option<f64>,
    /// Payload that arrived from the start of the first flow to that of the last per time between
    /// them, bits per second; null if all start at once. Late flows do not change it.
    #[serde(default)]
    pub goodput_while_starting_bps: Option<f64>,
    /// Innocents.
    pub innocents: Innocents,
    /// Flows outside incasts and collectives by size, in the buckets that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub size_buckets: Vec<BucketSummary>,
}

/// The flows of a [`SizeBucket`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BucketSummary {
    /// Which sizes.
    pub bytes: SizeBucket,
    /// Its flows.
    pub class: ClassSummary,
    /// Completion times of completed flows, nanoseconds; null if there are none.
    pub fct_ns: Option<Percentiles>,
}
