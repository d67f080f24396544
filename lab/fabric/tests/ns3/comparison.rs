//! The fabric compared with the Credence authors' ns-3 code, on the same flows and paths.

use dropcast_fabric::{
    DroppedPacket, Fabric, FabricConfig, FabricObserver, FlowClass, FlowList, FlowRecord,
    LONG_BYTES, Percentiles, SHORT_BYTES, Simulation, Transport,
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

/// ns-3's randomSeed.
const NS3_SEED: u32 = 8;

/// A completed flow.
#[derive(Clone, Copy, Debug)]
struct Completed {
    start_ns: u64,
    size_bytes: u64,
    is_incast: bool,
    fct_ns: f64,
    slowdown: f64,
}

/// What happened to the flows.
pub(crate) struct Result {
    flows: Vec<Completed>,
    /// Packets dropped at leaf 0 (not known of ns-3).
    pub(crate) dropped: u64,
}

impl Result {
    /// p50, p95 and p99 of the slowdowns of each class, in order.
    pub(crate) fn percentiles(&self) -> Vec<f64> {
        let of = |class: usize, flow: &Completed| match class {
            0 => flow.is_incast,
            1 => !flow.is_incast && flow.size_bytes <= SHORT_BYTES,
            _ => !flow.is_incast && flow.size_bytes >= LONG_BYTES,
        };
        let slowdowns = |class| {
            let flows = self.flows.iter().filter(|flow| of(class, flow));
            Percentiles::measure(flows.map(|flow| flow.slowdown).collect())
        };
        let classes = (0..CLASSES.len()).map(|class| slowdowns(class).expect("such flows"));
        classes.flat_map(|all| [all.p50, all.p95, all.p99]).collect()
    }

    /// Flows that took this long: 10 ms is one timeout, 20 ms are two.
    pub(crate) fn taking_ms(&self, least: f64) -> usize {
        self.flows.iter().filter(|flow| flow.fct_ns >= least * 1e6).count()
    }

    /// By how much the completion time of a flow differs from that of the same flow of `other`, as a
    /// share of the latter: the median. Answers to one request differ in their order only.
    pub(crate) fn difference(&self, other: &Result) -> f64 {
        let sorted = |result: &Result| {
            let mut flows = result.flows.clone();
            flows.sort_by(|a, b| {
                let key = |flow: &Completed| (flow.is_incast, flow.size_bytes, flow.start_ns);
                key(a).cmp(&key(b)).then(a.fct_ns.total_cmp(&b.fct_ns))
            });
            flows
        };
        let pairs = sorted(self).into_iter().zip(sorted(other));
        let mut differences: Vec<f64> =
            pairs.map(|(a, b)| (a.fct_ns - b.fct_ns).abs() / b.fct_ns).collect();
        differences.sort_by(f64::total_cmp);
        differences[differences.len() / 2]
    }
}

/// What ns-3 measured, from its file of completed flows. It prints times of finishing to 0.1 ms only;
/// so flows of one size are taken to start in the order of the list.
#[allow(dead_code, reason = "the test reads what is kept of them")]
pub(crate) fn ns3(folder: &Path, name: &str) -> Result {
    let path = folder.join(format!("fct-ns3-{name}.csv"));
    let text = std::fs::read_to_string(path).expect("a readable file");
    let row = |line: &str| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().expect("a number")).collect();
        let start_ns = (cells[0] * 1e9 - cells[2]).max(0.0) as u64;
        (cells[5] == 1.0, cells[1] as u64, start_ns, cells[2])
    };
    let mut flows: Vec<_> = text.lines().skip(1).map(row).collect();
    flows.sort_by_key(|&(is_incast, size_bytes, start_ns, _)| (is_incast, size_bytes, start_ns));
    completed(folder, flows.into_iter().map(|(.., fct_ns)| fct_ns))
}

/// The same of `fct.csv`, which has a column of completion times for each policy, in this order of flows.
#[allow(dead_code, reason = "the example reads ns-3's own files")]
pub(crate) fn kept(folder: &Path, name: &str) -> Result {
    let text = std::fs::read_to_string(folder.join("fct.csv")).expect("a readable file");
    let (names, rows) = text.split_once('\n').expect("a header");
    let column = names.split(',').position(|of| of == name).expect("its column");
    let cell = |row: &str| row.split(',').nth(column).and_then(|cell| cell.parse::<f64>().ok());
    completed(folder, rows.lines().map(|row| cell(row).expect("a number")))
}

/// The flows of the list by size and start, with their completion times.
fn completed(folder: &Path, fct_ns: impl Iterator<Item = f64>) -> Result {
    let fct_ns: Vec<f64> = fct_ns.collect();
    let mut starts: Vec<_> = list(folder)
        .flows()
        .iter()
        .map(|flow| (flow.class != FlowClass::Single, as_printed(flow.size_bytes), flow.start_ns))
        .collect();
    starts.sort_unstable();
    assert_eq!(fct_ns.len(), starts.len(), "ns-3 completes every flow");
    let flows =
        fct_ns.into_iter().zip(starts).map(|(fct_ns, (is_incast, size_bytes, start_ns))| {
            let slowdown = fct_ns / artifact_ideal_ns(size_bytes);
            Completed { start_ns, size_bytes, is_incast, fct_ns, slowdown }
        });
    Result { flows: flows.collect(), dropped: 0 }
}

/// ns-3 prints six digits.
fn as_printed(size_bytes: u64) -> u64 {
    let printed = format!("{size_bytes:.5e}");
    printed.parse::<f64>().expect("a number") as u64
}

/// What ns-3's file divides by: the base RTT of 32 us and the payload at 10 Gbps, for every flow.
fn artifact_ideal_ns(size_bytes: u64) -> f64 {
    32_000.0 + size_bytes as f64 * 0.8
}

#[derive(Default)]
struct Watch {
    flows: Vec<Completed>,
    dropped: u64,
}

impl FabricObserver for Watch {
    fn flow_ended(&mut self, record: &FlowRecord) {
        let fct_ns = record.fct_ns.expect("every flow completes") as f64;
        self.flows.push(Completed {
            start_ns: record.flow.start_ns,
            size_bytes: as_printed(record.flow.size_bytes),
            is_incast: record.flow.class != FlowClass::Single,
            fct_ns,
            slowdown: fct_ns / artifact_ideal_ns(record.flow.size_bytes),
        });
    }

    fn dropped(&mut self, drop: &DroppedPacket) {
        self.dropped += u64::from(drop.switch_id == 0);
    }
}

fn list(folder: &Path) -> FlowList {
    let file = std::fs::File::open(folder.join("flows.csv")).expect("a readable file");
    FlowList::read(BufReader::new(file), Transport::Dctcp, 1, |_| Ok(())).expect("flows")
}

/// The paths that flows take here.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Paths {
    /// Those that they took in ns-3.
    Ns3,
    /// Others, drawn with a seed.
    #[allow(dead_code, reason = "the test compares them, the example does not")]
    Drawn(u64),
}

/// The same flows here.
pub(crate) fn here(folder: &Path, policy: &str, paths: Paths) -> Result {
    let mut config = FabricConfig::artifact();
    let mut flows = list(folder);
    match paths {
        Paths::Ns3 => {
            flows = flows.on_ns3_paths(&config, NS3_SEED).expect("the artifact's flows");
        }
        Paths::Drawn(seed) => config.seed = seed,
    }
    let fabric = Fabric::try_from(config).expect("valid");
    let policy: PolicySpec = policy.parse().expect("a known policy");
    let simulation = Simulation::new(&fabric, |_, site| policy.build(site), flows);
    let mut watch = Watch::default();
    simulation.expect("no model").run(&mut watch).expect("valid flows");
    Result { flows: watch.flows, dropped: watch.dropped }
}
