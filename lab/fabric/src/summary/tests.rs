use super::*;
use crate::fabric::{
    Fabric, FabricConfig, FabricDropReason, FabricObserver, Flow, FlowClass, FlowRecord,
    Simulation, SimulationOutcome, Unwatched,
};
use crate::transport::Transport;
use crate::workloads::{FlowList, Incast, PoissonFlows, TrafficConfig};
use dropcast_switch::PolicySpec;
use proptest::prelude::*;

fn fabric() -> Fabric {
    let config = FabricConfig {
        servers: 4,
        spines: 2,
        leaf_buffer_bytes: 80_000,
        sample_interval_ns: 10_000,
        ..FabricConfig::artifact()
    };
    Fabric::try_from(config).expect("valid")
}

fn record(size_bytes: u64, class: FlowClass, fct_ns: Option<u64>, timeouts: u32) -> FlowRecord {
    let flow = Flow {
        start_ns: 0,
        from: 0,
        to: 1,
        size_bytes,
        class,
        connection: class.connection(),
        transport: Transport::Dctcp,
        queue: 1,
        spines: None,
    };
    FlowRecord {
        id: 0,
        flow,
        fct_ns,
        ideal_fct_ns: 1_000_000,
        received_bytes: 0,
        timeouts,
        retransmissions: 0,
    }
}

#[test]
fn flows_are_sorted_into_classes_and_undefined_numbers_are_null() {
    let buckets = SizeBuckets::new(&[100_000, 100_001]).expect("ascending");
    let mut summarizer = Summarizer::with_buckets(&fabric(), &buckets);
    for (size, class, fct_ns, timeouts) in [
        (100_000, FlowClass::Single, Some(2_000_000), 0),
        (100_000, FlowClass::Single, Some(14_000_000), 1),
        (100_001, FlowClass::Single, Some(1_000_000), 0),
        (1_000_000, FlowClass::Single, None, 3),
        (50_000, FlowClass::Incast(0), Some(20_000_000), 1),
    ] {
        summarizer.flow_ended(&record(size, class, fct_ns, timeouts));
    }
    let list = crate::workloads::FlowList::new(Vec::new());
    let policy: PolicySpec = "lqd".parse().expect("a known policy");
    let simulation = Simulation::new(&fabric(), |_, site| policy.build(site), list);
    let outcome = simulation.expect("no model").run(&mut crate::Unwatched).expect("no flows");
    let summary = summarizer.finish(&outcome);
    assert_eq!((summary.single.flows, summary.single.completed), (4, 3));
    assert_eq!((summary.short.flows, summary.short.timed_out), (2, 1));
    assert_eq!(summary.short.slowdown.expect("two").p50, 8.0);
    assert_eq!((summary.short.over_10_ms, summary.short.over_20_ms), (Some(0.5), Some(0.0)));
    assert_eq!((summary.middle.flows, summary.middle.completed), (1, 1));
    assert_eq!((summary.long.slowdown, summary.long.over_20_ms), (None, Some(1.0)));
    assert_eq!(summary.incast.over_20_ms, Some(1.0));
    assert_eq!((summary.collective.flows, summary.collective.over_10_ms), (0, None));
    assert_eq!(summary.innocents.timed_out, Some(0.5));
    assert_eq!((summary.innocents.share_of_drops, summary.leaf_occupancy), (None, None));
    let buckets = &summary.size_buckets;
    let flows: Vec<u64> = buckets.iter().map(|bucket| bucket.class.flows).collect();
    assert_eq!(flows, [2, 1, 1]);
    assert_eq!(buckets[0].class.slowdown, summary.short.slowdown);
    assert_eq!(buckets[0].fct_ns.expect("two").mean, 8e6);
    assert_eq!((buckets[2].fct_ns, buckets[2].class.over_10_ms), (None, Some(1.0)));
    let metrics = summary.metrics();
    let of = |name: &str| metrics.iter().find(|(known, _)| known == name).expect(name).1;
    assert_eq!((of("short_slowdown_p50"), of("long_slowdown_p50")), (Some(8.0), None));
    assert_eq!(of("1-100000-bytes_fct_ns_p50"), Some(8e6));
}

fn run(policy: &str, seed: u64) -> RunSummary {
    let fabric = fabric();
    let traffic = TrafficConfig {
        duration_ns: 10_000_000,
        seed,
        flows: vec![PoissonFlows { load: 0.6, ..PoissonFlows::default() }],
        incasts: vec![Incast { burst: 1.5, fan_in: 4, per_server_hz: 100.0, ..Incast::artifact() }],
        ..TrafficConfig::default()
    };
    let policy: PolicySpec = policy.parse().expect("a known policy");
    let mix = traffic.mix(&fabric).expect("valid");
    let simulation = Simulation::new(&fabric, |_, site| policy.build(site), mix);
    let mut summarizer = Summarizer::new(&fabric);
    let outcome = simulation.expect("no model").run(&mut summarizer).expect("valid flows");
    summarizer.finish(&outcome)
}

#[test]
fn a_run_adds_up_and_seeds_give_intervals() {
    let runs: Vec<RunSummary> = (1..=4).map(|seed| run("complete-partitioning", seed)).collect();
    for run in &runs {
        assert!(run.drops[&FabricDropReason::Policy] > 0, "{run:?}");
        assert_eq!(run.drops[&FabricDropReason::PushOut], 0);
        // Complete partitioning drops only at queues that are (nearly) full: of B/12, which is
        // below B/N for 6 ports of two queues.
        let all: u64 = run.drops.values().sum();
        assert_eq!(run.innocents.drops, all);
        assert!(run.leaf_occupancy.expect("sampled").p99 <= 1.0);
        assert!(run.goodput_bps > Some(1e8));
    }
    let over = RunSummary::over_seeds(&runs, 1);
    let (_, interval) =
        over.iter().find(|(name, _)| name == "incast_slowdown_p95").expect("a metric");
    let interval = interval.expect("defined");
    let (low, high) = interval.bounds.expect("several seeds");
    assert!(interval.values == 4 && low < interval.mean && interval.mean < high);
    assert!(RunSummary::over_seeds(&[], 1).is_empty());
}

#[test]
fn a_long_queue_pays_under_lqd_and_is_not_innocent() {
    let run = run("lqd", 1);
    assert!(run.drops[&FabricDropReason::PushOut] > 0);
    assert!(run.innocents.share_of_drops < Some(0.1), "{:?}", run.innocents);
}

fn run_list(flows: &[Flow], end_ns: u64) -> SimulationOutcome {
    let config = FabricConfig { end_ns, ..fabric().config().clone() };
    let fabric = Fabric::try_from(config).expect("valid");
    let policy: PolicySpec = "lqd".parse().expect("a known policy");
    let list = FlowList::new(flows.to_vec());
    let simulation = Simulation::new(&fabric, |_, site| policy.build(site), list);
    simulation.expect("no model").run(&mut Unwatched).expect("valid flows")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(32)
    ))]

    /// What has arrived when the last flow starts is what has arrived in a simulation that ends then.
    #[test]
    fn goodput_while_flows_start_ends_with_the_last_start(
        drawn in prop::collection::vec((1_000..1_000_000_u64, 0..4_u16, 4..8_u16, 1..60_000_u64), 2..12),
    ) {
        let flows: Vec<Flow> = drawn
            .iter()
            .map(|&(start_ns, from, to, size_bytes)| Flow {
                start_ns,
                from,
                to,
                size_bytes,
                class: FlowClass::Single,
                connection: FlowClass::Single.connection(),
                transport: Transport::Dctcp,
                queue: 1,
                spines: None,
            })
            .collect();
        let starts = || flows.iter().map(|flow| flow.start_ns);
        let (first_ns, last_ns) = (starts().min().unwrap_or(0), starts().max().unwrap_or(0));
        let whole = run_list(&flows, 10_000_000_000);
        prop_assert_eq!(whole.starting_ns, last_ns - first_ns);
        let before = run_list(&flows, last_ns - 1).received_bytes;
        let after = run_list(&flows, last_ns).received_bytes;
        let received = whole.received_while_starting_bytes;
        prop_assert!((before..=after).contains(&received), "{} to {}: {}", before, after, received);
        prop_assert_eq!(whole.received_bytes, drawn.iter().map(|flow| flow.3).sum::<u64>());
    }
}
