//! Speed of the fabric.
//!
//!     cargo bench -p dropcast-fabric --bench fabric
//!
//! Prints packet-hops per second (a packet that crosses a link) on one core compared with published
//! simulators, events per second of the calendar queue compared with a binary heap, and the memory
//! of 256 servers. The workload is the Credence artifact's (websearch at 80%, incasts of 75% of the
//! buffer, 30 per second and server, 0.1 s). Times are CPU times, so other load on the machine
//! matters little.
#![allow(clippy::print_stdout, clippy::expect_used)]

use dropcast_fabric::{
    EventQueue, Fabric, FabricConfig, Incast, PoissonFlows, Simulation, SimulationOutcome,
    TrafficConfig, Unwatched, Workload,
};
use dropcast_switch::PolicySpec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

/// Millions of packet-hops per second of other simulators on such flows.
const OTHERS: [(&str, f64); 3] = [
    ("ns-3 of the artifact, as published", 0.015),
    ("ns-3 of the artifact, endpoint lookup mended, no event log", 0.067),
    ("htsim", 1.6),
];
const RUNS: usize = 3;

fn main() {
    let fabric = Fabric::try_from(FabricConfig::artifact()).expect("valid");
    println!("2 leaves x 16 servers, 4 spines, websearch 80%, incast 75%, best of {RUNS}:\n");
    println!("| policy | hops | s | M hops/s |");
    println!("|---|---|---|---|");
    let mut best_lqd = 0.0;
    for name in ["lqd", "complete-sharing", "dt:alpha=[64,0.5]", "follow-lqd", "credence", "abm"] {
        let (outcome, seconds) = best(&fabric, name, Incast::artifact());
        let rate = outcome.hops as f64 / seconds / 1e6;
        println!("| {name} | {} | {seconds:.2} | {rate:.2} |", outcome.hops);
        if name == "lqd" {
            best_lqd = rate;
        }
    }
    let linux = Fabric::try_from(FabricConfig::default()).expect("valid");
    let (outcome, seconds) = best(&linux, "lqd", Incast::default());
    let rate = outcome.hops as f64 / seconds / 1e6;
    println!(
        "| lqd, Linux's senders, jitter, spread | {} | {seconds:.2} | {rate:.2} |",
        outcome.hops
    );
    println!("\n| other simulator | M hops/s | LQD here is faster by |\n|---|---|---|");
    for (name, rate) in OTHERS {
        println!("| {name} | {rate} | {:.1} |", best_lqd / rate);
    }
    println!("\n| queue | M events/s |\n|---|---|");
    println!("| calendar | {:.1} |", hold_calendar());
    println!("| binary heap | {:.1} |", hold_heap());
    large();
}

fn traffic(fabric: &Fabric, incast: Incast) -> Box<dyn Workload> {
    Box::new(with(incast).mix(fabric).expect("valid"))
}

fn with(incast: Incast) -> TrafficConfig {
    TrafficConfig {
        duration_ns: 100_000_000,
        flows: vec![PoissonFlows { load: 0.8, ..PoissonFlows::default() }],
        incasts: vec![Incast { burst: 0.75, per_server_hz: 30.0, ..incast }],
        ..TrafficConfig::default()
    }
}

/// The outcome, and the least time of several runs, seconds.
fn best(fabric: &Fabric, name: &str, incast: Incast) -> (SimulationOutcome, f64) {
    let runs = (0..RUNS).map(|_| {
        let flows = traffic(fabric, incast.clone());
        let clock = Clock::start();
        let policy: PolicySpec = name.parse().expect("a known policy");
        let simulation = Simulation::new(fabric, |_, site| policy.build(site), flows);
        let simulation = simulation.expect("no model");
        let outcome = simulation.run(&mut Unwatched).expect("valid flows");
        (outcome, clock.seconds())
    });
    runs.min_by(|a, b| a.1.total_cmp(&b.1)).expect("some runs")
}

/// CPU time, or wall time if that is unknown.
struct Clock(Option<u64>, Instant);

impl Clock {
    fn start() -> Self {
        Clock(Clock::on_processor_ns(), Instant::now())
    }

    fn on_processor_ns() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok()
    }

    fn seconds(&self) -> f64 {
        match (self.0, Clock::on_processor_ns()) {
            (Some(start), Some(end)) => (end - start) as f64 / 1e9,
            _ => self.1.elapsed().as_secs_f64(),
        }
    }
}

const EVENTS: u64 = 20_000_000;

/// Delays of the fabric's events: transmissions of large and small packets, with and without
/// propagation, and a timer now and then.
fn delay_ns(event: u64) -> u64 {
    match event % 64 {
        0 => 10_000_000,
        nth if nth % 4 == 0 => 52,
        nth if nth % 4 == 1 => 4_052,
        nth if nth % 4 == 2 => 1_172,
        _ => 5_172,
    }
}

fn hold_calendar() -> f64 {
    let mut queue = EventQueue::default();
    (0..2_000u64).for_each(|event| queue.schedule(event * 7, event));
    let clock = Clock::start();
    for event in 0..EVENTS {
        let (now_ns, _) = queue.pop().expect("never empty");
        queue.schedule(now_ns + delay_ns(event), event);
    }
    EVENTS as f64 / clock.seconds() / 1e6
}

fn hold_heap() -> f64 {
    let mut queue = BinaryHeap::new();
    (0..2_000u64).for_each(|event| queue.push(Reverse((event * 7, event, event))));
    let clock = Clock::start();
    for event in 0..EVENTS {
        let Reverse((now_ns, _, _)) = queue.pop().expect("never empty");
        queue.push(Reverse((now_ns + delay_ns(event), 2_000 + event, event)));
    }
    EVENTS as f64 / clock.seconds() / 1e6
}

/// The Credence paper's fabric: 256 servers, 16 leaves, 4 spines.
fn large() {
    let config = FabricConfig {
        leaves: 16,
        spine_buffer_bytes: 1_052_672 / 20 * 16,
        ..FabricConfig::artifact()
    };
    let fabric = Fabric::try_from(config).expect("valid");
    let before = resident_mib("VmRSS:");
    let clock = Clock::start();
    let traffic = TrafficConfig { duration_ns: 50_000_000, ..with(Incast::artifact()) };
    let mix = traffic.mix(&fabric).expect("valid");
    let policy: PolicySpec = "lqd".parse().expect("a known policy");
    let simulation = Simulation::new(&fabric, |_, site| policy.build(site), mix);
    let outcome = simulation.expect("no model").run(&mut Unwatched).expect("valid flows");
    let rate = outcome.hops as f64 / clock.seconds() / 1e6;
    let (Some(before), Some(most)) = (before, resident_mib("VmHWM:")) else { return };
    println!(
        "\n256 servers, 16 leaves, 4 spines, 50 ms, LQD: {} flows, {} hops, {rate:.2} M hops/s, at \
         most {most:.0} MiB resident ({before:.0} before)",
        outcome.flows, outcome.hops
    );
}

fn resident_mib(field: &str) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with(field))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}
