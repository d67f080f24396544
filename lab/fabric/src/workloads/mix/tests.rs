use super::*;
use crate::fabric::{FabricConfig, FabricObserver, FlowClass, FlowError, Simulation};
use crate::transport::Transport;
use crate::workloads::{CollectiveOperation, Pattern};
use dropcast_switch::PolicySpec;

fn fabric(leaves: u16, servers: u16) -> Fabric {
    let config = FabricConfig { leaves, servers, ..FabricConfig::artifact() };
    Fabric::try_from(config).expect("valid")
}

fn drain(mix: &mut TrafficMix) -> Vec<Flow> {
    std::iter::from_fn(|| mix.next_flow()).collect()
}

#[test]
fn load_is_what_is_offered_and_flows_come_in_order_of_start() {
    let fabric = fabric(2, 16);
    let part = PoissonFlows { load: 0.5, ..PoissonFlows::default() };
    let traffic =
        TrafficConfig { duration_ns: 4_000_000_000, flows: vec![part], ..TrafficConfig::default() };
    let flows = drain(&mut traffic.mix(&fabric).expect("valid"));
    let bytes: u64 = flows.iter().map(|flow| flow.size_bytes).sum();
    // Both leaves, 4 uplinks each of 10 Gbps.
    let load = bytes as f64 * 8.0 / 4.0 / 80e9;
    assert!((load - 0.5).abs() < 0.05, "{load}");
    assert!(flows.windows(2).all(|pair| pair[0].start_ns <= pair[1].start_ns));
    assert!(flows.iter().all(|flow| flow.from / 16 != flow.to / 16));
}

#[test]
fn permutation_goes_to_the_next_leaf_and_random_to_any_other() {
    let fabric = fabric(3, 4);
    for (pattern, steps) in [(Pattern::Permutation, &[1][..]), (Pattern::Random, &[1, 2])] {
        let flows = PoissonFlows { pattern, ..PoissonFlows::default() };
        let incasts = Incast { pattern, fan_in: 3, per_server_hz: 500.0, ..Incast::artifact() };
        let traffic = TrafficConfig {
            flows: vec![flows],
            incasts: vec![incasts],
            ..TrafficConfig::default()
        };
        let flows = drain(&mut traffic.mix(&fabric).expect("valid"));
        let is_request = |flow: &&Flow| matches!(flow.class, FlowClass::Incast(_));
        let mut seen = [false; 3];
        for flow in flows.iter().filter(|flow| !is_request(flow)) {
            seen[usize::from((flow.to / 4 + 3 - flow.from / 4) % 3)] = true;
        }
        assert_eq!(seen, [false, true, steps.len() == 2], "{pattern:?}");
        let first = FlowClass::Incast(0);
        let answers: Vec<_> = flows.iter().filter(|flow| flow.class == first).collect();
        assert_eq!(answers.len(), 3);
        assert!(answers.iter().all(|flow| flow.to == answers[0].to));
        assert_eq!(answers[0].size_bytes, 175_445);
        let mut from: Vec<u16> = answers.iter().map(|flow| flow.from).collect();
        from.sort_unstable();
        from.dedup();
        assert_eq!(from.len(), 3, "distinct servers");
    }
}

#[test]
fn one_receiver_gets_everything_and_its_link_is_loaded() {
    for leaves in [1, 3] {
        let fabric = fabric(leaves, 4);
        let pattern = Pattern::OneReceiver;
        let part = PoissonFlows { load: 0.5, pattern, ..PoissonFlows::default() };
        let traffic = TrafficConfig {
            duration_ns: 8_000_000_000,
            flows: vec![part],
            incasts: vec![Incast { pattern, fan_in: 3, per_server_hz: 5.0, ..Incast::artifact() }],
            ..TrafficConfig::default()
        };
        let flows = drain(&mut traffic.mix(&fabric).expect("valid"));
        assert!(flows.iter().all(|flow| flow.to == 0));
        let senders: std::collections::BTreeSet<u16> = flows.iter().map(|flow| flow.from).collect();
        assert!(senders.into_iter().eq(1..leaves * 4));
        let single = flows.iter().filter(|flow| flow.class == FlowClass::Single);
        let load = single.map(|flow| flow.size_bytes).sum::<u64>() as f64 * 8.0 / 8.0 / 10e9;
        assert!((load - 0.5).abs() < 0.08, "{load}");
    }
}

#[test]
fn a_seed_is_a_sequence_and_parts_do_not_disturb_each_other() {
    let fabric = fabric(2, 4);
    let flows = vec![PoissonFlows::default()];
    let alone = TrafficConfig { flows, ..TrafficConfig::default() };
    let incasts = vec![Incast { per_server_hz: 100.0, ..Incast::artifact() }];
    let both = TrafficConfig { incasts, ..alone.clone() };
    let single = |traffic: &TrafficConfig| -> Vec<Flow> {
        let flows = drain(&mut traffic.mix(&fabric).expect("valid"));
        flows.into_iter().filter(|flow| flow.class == FlowClass::Single).collect()
    };
    assert_eq!(single(&alone), single(&alone));
    assert_eq!(single(&alone), single(&both));
    assert_ne!(single(&alone), single(&TrafficConfig { seed: 2, ..alone.clone() }));
}

#[test]
fn bursts_of_nothing_are_no_requests() {
    let incasts = vec![Incast { burst: 0.0, per_server_hz: 100.0, ..Incast::artifact() }];
    let traffic = TrafficConfig { incasts, ..TrafficConfig::default() };
    assert_eq!(drain(&mut traffic.mix(&fabric(2, 16)).expect("valid")), []);
}

#[derive(Default)]
struct Ends(Vec<(u64, Flow)>);

impl FabricObserver for Ends {
    fn flow_ended(&mut self, record: &FlowRecord) {
        let end_ns = record.flow.start_ns + record.fct_ns.expect("completed");
        self.0.push((end_ns, record.flow));
    }
}

fn run(collective: Collective) -> Result<Vec<(u64, Flow)>, FlowError> {
    let fabric = fabric(2, 4);
    let traffic = TrafficConfig { collectives: vec![collective], ..TrafficConfig::default() };
    let mix = traffic.mix(&fabric).expect("valid");
    let mut ends = Ends::default();
    let policy: PolicySpec = "lqd".parse().expect("a known policy");
    let simulation = Simulation::new(&fabric, |_, site| policy.build(site), mix);
    simulation.expect("no model").run(&mut ends)?;
    Ok(ends.0)
}

#[test]
fn a_ring_sends_what_it_received_step_by_step() {
    let servers = vec![0, 5, 2, 7];
    let ends = run(Collective { servers: servers.clone(), rounds: 2, ..Collective::default() });
    let ends = ends.expect("valid flows");
    assert_eq!(ends.len(), 2 * 4 * 6, "2 rounds of 4 participants in 2 (4 - 1) steps");
    assert!(ends.iter().all(|(_, flow)| flow.size_bytes == 250_000));
    for (place, &server) in servers.iter().enumerate() {
        let next = servers[(place + 1) % 4];
        let before = servers[(place + 3) % 4];
        let mut starts: Vec<u64> = Vec::new();
        let mut received: Vec<u64> = Vec::new();
        for (end_ns, flow) in &ends {
            if flow.from == server {
                assert_eq!(flow.to, next);
                starts.push(flow.start_ns);
            }
            if flow.to == server {
                assert_eq!(flow.from, before);
                received.push(*end_ns);
            }
        }
        starts.sort_unstable();
        received.sort_unstable();
        for step in 1..6 {
            assert_eq!(starts[step], received[step - 1], "step {step} waits");
        }
    }
}

#[test]
fn all_to_all_reaches_everyone_once_per_round() {
    let operation = CollectiveOperation::AllToAll;
    let transport = Transport::Cubic;
    let servers = vec![1, 4, 6];
    let ends =
        run(Collective { operation, servers, transport, rounds: 3, ..Collective::default() });
    let ends = ends.expect("valid flows");
    assert_eq!(ends.len(), 3 * 6);
    for from in [1, 4, 6] {
        for to in [1, 4, 6] {
            let count = ends.iter().filter(|(_, flow)| (flow.from, flow.to) == (from, to)).count();
            assert_eq!(count, if from == to { 0 } else { 3 });
        }
    }
}

#[test]
fn mistakes_are_named() {
    let check = |change: fn(&mut TrafficConfig), says: &str| {
        let mut traffic = TrafficConfig {
            flows: vec![PoissonFlows::default()],
            incasts: vec![Incast::artifact()],
            collectives: vec![Collective { servers: vec![0, 1], ..Collective::default() }],
            ..TrafficConfig::default()
        };
        change(&mut traffic);
        let error = traffic.mix(&fabric(2, 16)).expect_err(says).to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    };
    check(|t| t.flows[0].load = f64::NAN, "flows[0]: load: is NaN");
    check(|t| t.flows[0].queue = 2, "flows[0]: queue: is 2, the fabric has 2");
    check(|t| t.incasts[0].fan_in = 0, "incasts[0]: fan_in: is 0");
    check(|t| t.incasts[0].per_server_hz = -1.0, "incasts[0]: per_server_hz: is -1");
    check(|t| t.collectives[0].servers = vec![3], "collectives[0]: servers: has 1");
    check(|t| t.collectives[0].servers = vec![3, 4, 3], "servers: has server 3 twice");
    check(|t| t.collectives[0].servers = vec![3, 32], "servers: has server 32, there are 32");
    check(|t| t.collectives[0].bytes = 0, "collectives[0]: bytes: is 0");
    check(
        |t| t.incasts[0].burst = 1e-5,
        "burst: is 0.00001, less than a byte for each of 16 answers",
    );
    check(
        |t| t.duration_ns = 10_000_000_001,
        "duration_ns: is 10000000001, after the simulation's end",
    );
    check(
        |t| t.collectives[0].start_ns = 20_000_000_000,
        "start_ns: is 20000000000, after the simulation",
    );
    let parse = |text: &str| toml::from_str::<TrafficConfig>(text);
    assert!(parse("[[flows]]\nload = 0.8\nsizes = 'hadoop'").is_ok());
    assert!(parse("[[flows]]\nloads = 0.8").is_err());
    assert_eq!(parse("").expect("all defaults"), TrafficConfig::default());
}

#[test]
fn fan_in_draws_receivers_and_the_senders_of_each() {
    let fabric = fabric(1, 16);
    let mut counts = Vec::new();
    for seed in 0..40 {
        let part = PoissonFlows { load: 0.5, pattern: Pattern::FanIn, ..PoissonFlows::default() };
        let traffic = TrafficConfig {
            duration_ns: 8_000_000_000,
            seed,
            flows: vec![part],
            ..TrafficConfig::default()
        };
        let mut senders = std::collections::BTreeMap::new();
        let mut bytes = 0;
        for flow in drain(&mut traffic.mix(&fabric).expect("valid")) {
            assert_ne!(flow.from, flow.to);
            bytes += flow.size_bytes;
            let of: &mut std::collections::BTreeSet<_> = senders.entry(flow.to).or_default();
            of.insert(flow.from);
        }
        // Half of the receivers' links of 10 Gbps, for 8 s.
        let load = bytes as f64 / (senders.len() as f64 * 10e9);
        assert!((load - 0.5).abs() < 0.06, "{load}");
        counts.push((senders.len(), senders.values().map(|of| of.len()).collect::<Vec<_>>()));
    }
    let receivers = || counts.iter().map(|(receivers, _)| *receivers);
    assert!(receivers().min() <= Some(3) && receivers().max() >= Some(14), "{counts:?}");
    let fan_ins = || counts.iter().flat_map(|(_, fan_ins)| fan_ins.iter().copied());
    assert_eq!((fan_ins().min(), fan_ins().max()), (Some(1), Some(15)));
    let mean = fan_ins().sum::<usize>() as f64 / fan_ins().count() as f64;
    assert!((mean - 8.0).abs() < 1.0, "{mean}");
    let incasts = vec![Incast { pattern: Pattern::FanIn, ..Incast::artifact() }];
    let error = TrafficConfig { incasts, ..TrafficConfig::default() }.mix(&fabric);
    assert!(error.expect_err("for flows").to_string().contains("incasts[0]: pattern: is fan-in"));
}
