//! What is measured of one run.

use dropcast_fabric::{
    DroppedPacket, Fabric, FabricObserver, FlowRecord, Interval, Occupancy, SimulationOutcome,
    Summarizer, Telemetry, Transport,
};
use std::collections::BTreeMap;

/// What a leaf's uplinks send while flows start, Gbit/s, the bytes of headers included.
pub(super) const UPLINK_GBPS: &str = "uplink_gbps";

/// Numbers of a run, by name.
pub(super) type Numbers = BTreeMap<String, f64>;

/// Numbers of runs with different seeds, by name: all of [`dropcast_fabric::RunSummary::metrics`], the same of
/// the flows of each transport (`cubic_short_slowdown_p99`), and `uplink_gbps`, what a leaf's uplinks send while
/// flows start. What is undefined in a run is left out.
#[derive(Clone, Debug, Default)]
pub struct RunNumbers(pub(super) Vec<Numbers>);

impl RunNumbers {
    /// A number, by run; null where it is undefined.
    pub fn metric(&self, name: &str) -> Vec<Option<f64>> {
        self.0.iter().map(|run| run.get(name).copied()).collect()
    }

    /// The mean over the runs, with its 95% interval; none if it is undefined in all.
    pub fn interval(&self, name: &str, seed: u64) -> Option<Interval> {
        let values: Vec<f64> = self.metric(name).into_iter().flatten().collect();
        Interval::bootstrap(&values, seed)
    }
}

/// One run.
pub(super) struct Observed {
    pub(super) numbers: Numbers,
    /// Flows that started.
    pub(super) flows: u64,
    /// Slowdowns of those that completed, in their order.
    pub(super) slowdowns: Vec<f64>,
}

/// A sink that makes [`Observed`].
pub(super) struct Observer {
    unused: Summarizer,
    all: Summarizer,
    by_transport: BTreeMap<Transport, Summarizer>,
    flows: u64,
    slowdowns: Vec<f64>,
    uplinks: Uplinks,
}

/// What leaves' uplinks have sent while flows start.
struct Uplinks {
    leaves: u16,
    servers: u16,
    until_ns: u64,
    /// By leaf and uplink, bytes.
    sent_bytes: BTreeMap<(u16, u16), u64>,
}

impl Observer {
    /// For a run in which flows start until `until_ns`.
    pub(super) fn new(fabric: &Fabric, until_ns: u64) -> Self {
        let (leaves, servers) = (fabric.config().leaves, fabric.config().servers);
        Observer {
            unused: Summarizer::new(fabric),
            all: Summarizer::new(fabric),
            by_transport: BTreeMap::new(),
            flows: 0,
            slowdowns: Vec::new(),
            uplinks: Uplinks { leaves, servers, until_ns, sent_bytes: BTreeMap::new() },
        }
    }

    /// What a finished run was like.
    pub(super) fn finish(self, outcome: &SimulationOutcome) -> Observed {
        let named = |prefix: &str, summarizer: Summarizer| -> Vec<(String, f64)> {
            let metrics = summarizer.finish(outcome).metrics().into_iter();
            metrics.filter_map(|(name, value)| Some((format!("{prefix}{name}"), value?))).collect()
        };
        let mut numbers: BTreeMap<String, f64> = named("", self.all).into_iter().collect();
        for (transport, summarizer) in self.by_transport {
            numbers.extend(named(&format!("{}_", transport.name()), summarizer));
        }
        numbers.insert(UPLINK_GBPS.to_owned(), self.uplinks.gbps_of_a_leaf());
        Observed { numbers, flows: self.flows, slowdowns: self.slowdowns }
    }
}

impl Uplinks {
    /// The mean of the leaves.
    fn gbps_of_a_leaf(&self) -> f64 {
        let bytes: u64 = self.sent_bytes.values().sum();
        bytes as f64 * 8.0 / self.until_ns as f64 / f64::from(self.leaves)
    }
}

impl FabricObserver for Observer {
    const WANTS_TELEMETRY: bool = true;

    fn left(&mut self, telemetry: &Telemetry) {
        let &Telemetry { time_ns, switch_id, port, sent_bytes, .. } = telemetry;
        let uplinks = &mut self.uplinks;
        if switch_id < uplinks.leaves && port >= uplinks.servers && time_ns < uplinks.until_ns {
            uplinks.sent_bytes.insert((switch_id, port), sent_bytes);
        }
    }

    fn dropped(&mut self, drop: &DroppedPacket) {
        self.all.dropped(drop);
    }

    fn sampled(&mut self, occupancy: &Occupancy) {
        self.all.sampled(occupancy);
    }

    fn flow_ended(&mut self, record: &FlowRecord) {
        self.flows += 1;
        self.slowdowns.extend(record.slowdown());
        let unused = &self.unused;
        let own = self.by_transport.entry(record.flow.transport).or_insert_with(|| unused.clone());
        own.flow_ended(record);
        self.all.flow_ended(record);
    }
}
