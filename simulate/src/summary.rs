//! Summary of a run: slowdowns, late flows, drops, innocents (`docs/fabric.md`).

mod bootstrap;
mod percentiles;
mod significance;

pub use bootstrap::{Interval, paired_difference};
pub use percentiles::Percentiles;
use percentiles::of_counts;
pub use significance::{largest_discovery, p_value};

use crate::fabric::{
    DroppedPacket, Fabric, FabricDropReason, Flow, FlowClass, FlowRecord, Occupancy,
    SimulationOutcome, Sink,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum payload of a short flow, bytes.
pub const SHORT_BYTES: u64 = 100_000;
/// Minimum payload of a long flow, bytes.
pub const LONG_BYTES: u64 = 1_000_000;
/// A flow that takes this long has had a timeout, nanoseconds.
const LATE_NS: u64 = 10_000_000;
/// Steps of the occupancy, as shares of the buffer.
const OCCUPANCY_STEPS: usize = 1_000;
const OCCUPANCY_STEP: f64 = 1.0 / OCCUPANCY_STEPS as f64;

/// The classes of a [`RunSummary`], without `single`: each flow is in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlowKind {
    /// [`RunSummary::incast`].
    Incast,
    /// [`RunSummary::short`].
    Short,
    /// [`RunSummary::middle`].
    Middle,
    /// [`RunSummary::long`].
    Long,
    /// [`RunSummary::collective`].
    Collective,
}

impl FlowKind {
    /// That of a flow.
    pub fn of(flow: &Flow) -> Self {
        match (flow.class, flow.size_bytes) {
            (FlowClass::Incast(_), _) => FlowKind::Incast,
            (FlowClass::Collective(_), _) => FlowKind::Collective,
            (FlowClass::Single, ..=SHORT_BYTES) => FlowKind::Short,
            (FlowClass::Single, LONG_BYTES..) => FlowKind::Long,
            (FlowClass::Single, _) => FlowKind::Middle,
        }
    }

    /// Its name, as metrics begin with it.
    pub fn name(self) -> &'static str {
        match self {
            FlowKind::Incast => "incast",
            FlowKind::Short => "short",
            FlowKind::Middle => "middle",
            FlowKind::Long => "long",
            FlowKind::Collective => "collective",
        }
    }
}

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
    /// Other flows of at most [`SHORT_BYTES`].
    pub short: ClassSummary,
    /// Other flows between the two.
    #[serde(default)]
    pub middle: ClassSummary,
    /// Other flows of at least [`LONG_BYTES`].
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
    /// Innocents.
    pub innocents: Innocents,
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
}

#[derive(Clone, Debug, Default)]
struct Flows {
    summary: ClassSummary,
    slowdowns: Vec<f64>,
    late: [u64; 2],
}

impl Summarizer {
    /// For a fabric.
    pub fn new(fabric: &Fabric) -> Self {
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
        }
    }

    /// The summary of a finished run.
    pub fn finish(self, outcome: &SimulationOutcome) -> RunSummary {
        let drops = FabricDropReason::ALL.map(|reason| (reason, outcome.dropped(reason)));
        let dropped = outcome.all_dropped();
        let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        let short = self.short.finish();
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
            drops: BTreeMap::from(drops),
            drop_share: share(dropped, outcome.packets_sent),
            goodput_bps: (outcome.end_ns > 0)
                .then(|| outcome.received_bytes as f64 * 8e9 / outcome.end_ns as f64),
        }
    }
}

impl Sink for Summarizer {
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

impl RunSummary {
    /// Every number by name, in a fixed order; `None` if undefined.
    pub fn metrics(&self) -> Vec<(String, Option<f64>)> {
        let mut metrics = Vec::new();
        for (class, summary) in [
            ("incast", &self.incast),
            ("short", &self.short),
            ("middle", &self.middle),
            ("long", &self.long),
            ("single", &self.single),
            ("collective", &self.collective),
        ] {
            summary.add_metrics(class, &mut metrics);
        }
        add_percentiles("leaf_occupancy", self.leaf_occupancy.as_ref(), &mut metrics);
        metrics.push(("leaf_occupancy_p9999".to_owned(), self.leaf_occupancy_p9999));
        for (reason, &count) in &self.drops {
            metrics.push((format!("drops_{}", reason.name()), Some(count as f64)));
        }
        metrics.extend([
            ("drop_share".to_owned(), self.drop_share),
            ("goodput_bps".to_owned(), self.goodput_bps),
            ("innocent_drops".to_owned(), Some(self.innocents.drops as f64)),
            ("innocent_share_of_drops".to_owned(), self.innocents.share_of_drops),
            ("innocent_timeouts".to_owned(), Some(self.innocents.timeouts as f64)),
            ("innocent_timed_out".to_owned(), self.innocents.timed_out),
        ]);
        metrics
    }

    /// Every number by name over runs with different seeds, with its 95% interval
    /// ([`Interval::bootstrap`]). Runs in which a number is undefined are left out.
    pub fn over_seeds(runs: &[RunSummary], seed: u64) -> Vec<(String, Option<Interval>)> {
        let runs: Vec<_> = runs.iter().map(RunSummary::metrics).collect();
        let Some(first) = runs.first() else { return Vec::new() };
        let interval = |nth: usize| {
            let values: Vec<f64> = runs.iter().filter_map(|run| run[nth].1).collect();
            Interval::bootstrap(&values, seed)
        };
        first.iter().enumerate().map(|(nth, (name, _))| (name.clone(), interval(nth))).collect()
    }
}

impl ClassSummary {
    fn add_metrics(&self, class: &str, metrics: &mut Vec<(String, Option<f64>)>) {
        metrics.push((format!("{class}_flows"), Some(self.flows as f64)));
        metrics.push((format!("{class}_completed"), Some(self.completed as f64)));
        add_percentiles(&format!("{class}_slowdown"), self.slowdown.as_ref(), metrics);
        metrics.push((format!("{class}_over_10_ms"), self.over_10_ms));
        metrics.push((format!("{class}_over_20_ms"), self.over_20_ms));
        metrics.push((format!("{class}_timeouts"), Some(self.timeouts as f64)));
        metrics.push((format!("{class}_retransmissions"), Some(self.retransmissions as f64)));
    }
}

fn add_percentiles(
    name: &str,
    percentiles: Option<&Percentiles>,
    metrics: &mut Vec<(String, Option<f64>)>,
) {
    metrics.push((format!("{name}_p50"), percentiles.map(|all| all.p50)));
    metrics.push((format!("{name}_p95"), percentiles.map(|all| all.p95)));
    metrics.push((format!("{name}_p99"), percentiles.map(|all| all.p99)));
    metrics.push((format!("{name}_mean"), percentiles.map(|all| all.mean)));
}

#[cfg(test)]
mod tests;
