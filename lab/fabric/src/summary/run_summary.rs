//! What a run was like, and the sink that sums it up: a field and what fills it are in this file.

use super::flow_kind::FlowKind;
use super::percentiles::{Percentiles, of_counts};
use super::size_buckets::{SizeBucket, SizeBuckets};
use crate::fabric::{
    DroppedPacket, Fabric, FabricDropReason, FabricObserver, FlowClass, FlowRecord, Occupancy,
    SimulationOutcome,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A flow that takes this long has had a timeout, nanoseconds.
const LATE_NS: u64 = 10_000_000;
/// Steps of the occupancy, as shares of the buffer.
const OCCUPANCY_STEPS: usize = 1_000;
const OCCUPANCY_STEP: f64 = 1.0 / OCCUPANCY_STEPS as f64;

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

/// A sink that makes a [`RunSummary`].
#[derive(Clone, Debug)]
pub struct Summarizer {
    incast: Flows,
    short: Flows,
    middle: Flows,
    long: Flows,
    single: Flows,
    collective: Flows,
    leaves: u16,
    /// Samples of leaves, by occupancy.
    occupancy: Vec<u64>,
    innocent_drops: u64,
    size_buckets: SizeBuckets,
    by_size: Vec<Flows>,
}

#[derive(Clone, Debug, Default)]
struct Flows {
    summary: ClassSummary,
    slowdowns: Vec<f64>,
    /// Completion times, nanoseconds.
    fct_ns: Vec<f64>,
    late: [u64; 2],
}

impl Summarizer {
    /// For a fabric.
    pub fn new(fabric: &Fabric) -> Self {
        Summarizer::with_buckets(fabric, &SizeBuckets::default())
    }

    /// For a fabric; flows are also summarized by these buckets.
    pub fn with_buckets(fabric: &Fabric, size_buckets: &SizeBuckets) -> Self {
        Summarizer {
            incast: Flows::default(),
            short: Flows::default(),
            middle: Flows::default(),
            long: Flows::default(),
            single: Flows::default(),
            collective: Flows::default(),
            leaves: fabric.config().leaves,
            occupancy: vec![0; OCCUPANCY_STEPS + 1],
            innocent_drops: 0,
            size_buckets: size_buckets.clone(),
            by_size: vec![Flows::default(); size_buckets.all().len()],
        }
    }

    /// The summary of a finished run.
    pub fn finish(self, outcome: &SimulationOutcome) -> RunSummary {
        let drops = FabricDropReason::ALL.iter().map(|&reason| (reason, outcome.dropped(reason)));
        let dropped = outcome.all_dropped();
        let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        let short = self.short.finish();
        let bps = |bytes: u64, ns: u64| (ns > 0).then(|| bytes as f64 * 8e9 / ns as f64);
        let bucket = |(&bytes, flows): (_, Flows)| {
            let fct_ns = Percentiles::measure(flows.fct_ns.clone());
            BucketSummary { bytes, class: flows.finish(), fct_ns }
        };
        RunSummary {
            innocents: Innocents {
                drops: self.innocent_drops,
                share_of_drops: share(self.innocent_drops, dropped),
                timeouts: short.timeouts,
                timed_out: share(short.timed_out, short.flows),
            },
            incast: self.incast.finish(),
            short,
            middle: self.middle.finish(),
            long: self.long.finish(),
            single: self.single.finish(),
            collective: self.collective.finish(),
            leaf_occupancy: Percentiles::of_counts(&self.occupancy, OCCUPANCY_STEP),
            leaf_occupancy_p9999: of_counts(&self.occupancy, OCCUPANCY_STEP, 0.9999),
            drops: drops.collect(),
            drop_share: share(dropped, outcome.packets_sent),
            goodput_bps: bps(outcome.received_bytes, outcome.end_ns),
            goodput_while_starting_bps: bps(
                outcome.received_while_starting_bytes,
                outcome.starting_ns,
            ),
            size_buckets: self.size_buckets.all().iter().zip(self.by_size).map(bucket).collect(),
        }
    }
}

impl FabricObserver for Summarizer {
    fn dropped(&mut self, drop: &DroppedPacket) {
        self.innocent_drops += u64::from(drop.is_innocent);
    }

    fn sampled(&mut self, occupancy: &Occupancy) {
        if occupancy.switch_id < self.leaves {
            let share = f64::from(occupancy.occupancy_bytes) / f64::from(occupancy.buffer_bytes);
            self.occupancy[(share * OCCUPANCY_STEPS as f64).round() as usize] += 1;
        }
    }

    fn flow_ended(&mut self, record: &FlowRecord) {
        if record.flow.class == FlowClass::Single {
            self.single.add(record);
            if let Some(place) = self.size_buckets.place(record.flow.size_bytes) {
                let flows = &mut self.by_size[place];
                flows.add(record);
                flows.fct_ns.extend(record.fct_ns.map(|fct_ns| fct_ns as f64));
            }
        }
        let flows = match FlowKind::of(&record.flow) {
            FlowKind::Incast => &mut self.incast,
            FlowKind::Short => &mut self.short,
            FlowKind::Middle => &mut self.middle,
            FlowKind::Long => &mut self.long,
            FlowKind::Collective => &mut self.collective,
        };
        flows.add(record);
    }
}

impl Flows {
    fn add(&mut self, record: &FlowRecord) {
        let summary = &mut self.summary;
        summary.flows += 1;
        summary.timeouts += u64::from(record.timeouts);
        summary.timed_out += u64::from(record.timeouts > 0);
        summary.retransmissions += u64::from(record.retransmissions);
        if let Some(slowdown) = record.slowdown() {
            summary.completed += 1;
            self.slowdowns.push(slowdown);
        }
        for (count, times) in self.late.iter_mut().zip([1, 2]) {
            *count += u64::from(record.fct_ns.is_none_or(|fct_ns| fct_ns >= times * LATE_NS));
        }
    }

    fn finish(mut self) -> ClassSummary {
        let flows = self.summary.flows;
        let share = |count: u64| (flows > 0).then(|| count as f64 / flows as f64);
        self.summary.over_10_ms = share(self.late[0]);
        self.summary.over_20_ms = share(self.late[1]);
        self.summary.slowdown = Percentiles::measure(self.slowdowns);
        self.summary
    }
}
