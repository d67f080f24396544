//! The fabric compared with the Credence authors' ns-3 code, on the same flows.

use dropcast_simulate::{
    Drop, Fabric, FabricConfig, FlowClass, FlowList, FlowRecord, LONG_BYTES, Percentiles,
    SHORT_BYTES, Simulation, Sink, Transport,
};
use dropcast_switch::PolicySpec;
use std::io::BufReader;
use std::path::Path;

/// Policies: name in ns-3's files, and here.
pub(crate) const POLICIES: [(&str, &str); 6] = [
    ("lqd", "lqd"),
    ("cs", "complete-sharing"),
    ("followlqd", "follow-lqd"),
    ("credence-accept", "credence"),
    ("dt", "dt:alpha=[64,0.5]"),
    ("abm", "abm:alpha=[64,0.5],first_rtt_alpha=1024,counting=artifact"),
];

/// Classes of flows.
pub(crate) const CLASSES: [&str; 3] = ["incast", "short", "long"];

/// Packets that leaf 0 pushed out in ns-3 under LQD.
pub(crate) const NS3_PUSHED_OUT: f64 = 1_463.0;

/// Slowdowns by class, the share of incast flows that took 10 ms or more, and packets dropped at
/// leaf 0 (not known of ns-3).
pub(crate) struct Result {
    pub(crate) slowdowns: [Percentiles; 3],
    pub(crate) late: f64,
    pub(crate) dropped: u64,
}

impl Result {
    fn measure(flows: &[(u64, bool, f64, f64)], dropped: u64) -> Self {
        let class = |wanted: usize| {
            let of = |&&(bytes, is_incast, _, _): &&(u64, bool, f64, f64)| match wanted {
                0 => is_incast,
                1 => !is_incast && bytes <= SHORT_BYTES,
                _ => !is_incast && bytes >= LONG_BYTES,
            };
            let slowdowns = flows.iter().filter(of).map(|flow| flow.2).collect();
            Percentiles::measure(slowdowns).expect("flows of every class")
        };
        let incast: Vec<_> = flows.iter().filter(|flow| flow.1).collect();
        let late = incast.iter().filter(|flow| flow.3 >= 1e7).count();
        Result {
            slowdowns: [class(0), class(1), class(2)],
            late: late as f64 / incast.len() as f64,
            dropped,
        }
    }

    /// p50, p95 and p99 of each class, in order.
    pub(crate) fn percentiles(&self) -> Vec<f64> {
        self.slowdowns.iter().flat_map(|all| [all.p50, all.p95, all.p99]).collect()
    }
}

/// What ns-3 measured, from its file of completed flows.
pub(crate) fn ns3(folder: &Path, name: &str) -> Result {
    let path = folder.join(format!("fct-ns3-{name}.csv"));
    let text = std::fs::read_to_string(path).expect("a readable file");
    let rows = text.lines().skip(1).map(|line| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().expect("a number")).collect();
        (cells[1] as u64, cells[5] == 1.0, cells[4], cells[2])
    });
    Result::measure(&rows.collect::<Vec<_>>(), 0)
}

/// What ns-3's file divides by: the base RTT of 32 us and the payload at 10 Gbps, for every flow.
fn artifact_ideal_ns(size_bytes: u64) -> f64 {
    32_000.0 + size_bytes as f64 * 0.8
}

#[derive(Default)]
struct Watch {
    flows: Vec<(u64, bool, f64, f64)>,
    dropped: u64,
}

impl Sink for Watch {
    fn flow_ended(&mut self, record: &FlowRecord) {
        let fct_ns = record.fct_ns.expect("every flow completes") as f64;
        let slowdown = fct_ns / artifact_ideal_ns(record.flow.size_bytes);
        let is_incast = record.flow.class != FlowClass::Single;
        self.flows.push((record.flow.size_bytes, is_incast, slowdown, fct_ns));
    }

    fn dropped(&mut self, drop: &Drop) {
        self.dropped += u64::from(drop.switch_id == 0);
    }
}

/// The same flows here; the seed decides which flows share a spine, which in ns-3 depends on port
/// numbers that are not recorded.
pub(crate) fn here(folder: &Path, policy: &str, seed: u64) -> Result {
    let file = std::fs::File::open(folder.join("flows.csv")).expect("a readable file");
    let flows = FlowList::from_csv(BufReader::new(file), Transport::Dctcp, 1).expect("flows");
    let fabric = Fabric::try_from(FabricConfig { seed, ..FabricConfig::default() }).expect("valid");
    let policy: PolicySpec = policy.parse().expect("a known policy");
    let simulation = Simulation::new(&fabric, |_, site| policy.build(site), flows);
    let mut watch = Watch::default();
    simulation.expect("no model").run(&mut watch).expect("valid flows");
    Result::measure(&watch.flows, watch.dropped)
}
