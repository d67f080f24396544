use super::*;
use crate::fabric::FabricConfig;
use crate::transport::Transport;
use crate::workloads::{Incast, Pattern, PoissonFlows, TrafficConfig};
use dropcast_switch::policies::ndt::{ATTRIBUTES, Activations, NdtNetwork, NetworkShape, ONE};
use dropcast_switch::{AqmSpec, PolicyModel, PolicySpec};

fn fabric(leaves: u16) -> Fabric {
    let config = FabricConfig {
        leaves,
        spines: leaves - 1,
        servers: 6,
        leaf_buffer_bytes: 90_000,
        spine_buffer_bytes: 90_000,
        aqm: AqmSpec::None(Default::default()),
        ..FabricConfig::artifact()
    };
    Fabric::try_from(config).expect("valid")
}

fn traffic(seed: u64) -> TrafficConfig {
    let (pattern, transport) = (Pattern::Random, Transport::NewReno);
    TrafficConfig {
        duration_ns: 4_000_000,
        seed,
        flows: vec![PoissonFlows { load: 0.8, pattern, transport, ..PoissonFlows::default() }],
        incasts: vec![Incast {
            burst: 1.0,
            fan_in: 4,
            per_server_hz: 200.0,
            pattern,
            transport,
            ..Incast::artifact()
        }],
        ..TrafficConfig::default()
    }
}

/// Every flow under a policy of the registry.
fn ended(
    fabric: &Fabric,
    seed: u64,
    policy: &str,
    network: Option<&NdtNetwork>,
) -> Vec<FlowRecord> {
    let policy: PolicySpec = policy.parse().expect("a known policy");
    let build = |_, site: PolicySite<'_>| {
        policy.build(PolicySite { model: network.cloned().map(PolicyModel::Network), ..site })
    };
    let traffic = traffic(seed).mix(fabric).expect("fits");
    let mut ended = EndedFlows::default();
    let simulation = Simulation::new(fabric, build, traffic).expect("with its model");
    simulation.run(&mut ended).expect("flows fit");
    ended.flows
}

/// An episode under `decide`, which is given what is observed.
fn episode(
    fabric: &Fabric,
    seed: u64,
    decisions: Decisions,
    mut decide: impl FnMut(&[i32]) -> Vec<f64>,
) -> (Vec<FlowRecord>, Vec<DecisionInterval>, SimulationOutcome) {
    let other: PolicySpec = "dt:alpha=8".parse().expect("a known policy");
    let traffic = traffic(seed).mix(fabric).expect("fits");
    let others = |_, site: PolicySite<'_>| other.build(site);
    let mut episode = Episode::new(fabric, decisions, others, traffic).expect("valid");
    let mut intervals = Vec::new();
    loop {
        let alphas = decide(&episode.observed());
        let interval = episode.step(&alphas).expect("alphas for each port");
        intervals.push(interval);
        if interval.next != Next::Decision {
            let again = episode.step(&alphas).expect_err("it has ended");
            assert_eq!(again, EpisodeError::Over);
            return (episode.flows().to_vec(), intervals, episode.outcome());
        }
    }
}

#[test]
fn constant_alphas_are_dynamic_thresholds_whenever_they_are_decided() {
    for (leaves, ports) in [(1, 6), (2, 7)] {
        let fabric = fabric(leaves);
        let thresholds = ended(&fabric, 3, "dt:alpha=8", None);
        for interval_ns in [None, Some(20_000), Some(1 << 40)] {
            let decisions = Decisions { interval_ns, ..Decisions::default() };
            let (flows, intervals, _) = episode(&fabric, 3, decisions, |_| vec![8.0; ports]);
            assert!(thresholds.len() > 20, "{}", thresholds.len());
            assert_eq!(flows, thresholds, "{leaves} {interval_ns:?}");
            assert!(intervals.len() > 20 || interval_ns == Some(1 << 40), "{}", intervals.len());
        }
        assert_ne!(thresholds, ended(&fabric, 3, "dt:alpha=0.5", None));
        assert_ne!(thresholds, ended(&fabric, 4, "dt:alpha=8", None));
    }
}

/// NDT's network gives the same flows inside the switch and in its place outside.
#[test]
fn a_network_decides_outside_as_it_does_inside() {
    let shape = NetworkShape { history: 3, embedding: 4, summary: 4 };
    let parameters = (0..shape.parameters()).map(|nth| ((nth * 7919) % 801) as i16 - 400);
    let network = NdtNetwork::new(shape, parameters.collect()).expect("valid");
    let fabric = fabric(1);
    let inside = ended(&fabric, 5, "ndt", Some(&network));
    let mut room = Activations::new(shape, 6);
    let (mut is_first, mut seen) = (true, std::collections::BTreeSet::new());
    let decisions = Decisions { history: 3, ..Decisions::default() };
    let (outside, intervals, _) = episode(&fabric, 5, decisions, |observed| {
        if std::mem::take(&mut is_first) {
            assert!(observed.iter().all(|&number| number == 0));
            return vec![1.0; 6];
        }
        let actions = network.act(observed, &mut room).to_vec();
        seen.extend(actions.iter().copied());
        actions.iter().map(|&action| 2_f64.powi(i32::from(action) - 2)).collect()
    });
    assert_eq!(outside, inside);
    assert!(intervals.len() > 20 && seen.len() > 2, "{seen:?}");
}

#[test]
fn intervals_add_up() {
    let fabric = fabric(2);
    let mut nth = 0;
    let decide = |_: &[i32]| {
        nth += 1;
        (0..7).map(|port| 2_f64.powi((port + nth) % 8 - 2)).collect()
    };
    let decisions = Decisions { switch_id: 1, ..Decisions::default() };
    let (flows, intervals, outcome) = episode(&fabric, 9, decisions, decide);
    let sum = |of: fn(&DecisionInterval) -> u64| intervals.iter().map(of).sum::<u64>();
    assert_eq!(sum(|at| at.flow_ns), flows.iter().filter_map(|flow| flow.fct_ns).sum::<u64>());
    assert_eq!((sum(|at| at.started), sum(|at| at.completed)), (outcome.flows, outcome.completed));
    assert_eq!(flows.len() as u64, outcome.flows);
    assert_eq!(sum(|at| at.elapsed_ns), outcome.end_ns);
    let (dropped, bytes) = (sum(|at| at.dropped), sum(|at| at.dropped_bytes));
    assert!(0 < dropped && dropped < outcome.all_dropped(), "those of one switch");
    assert!(bytes > dropped * 32, "{bytes}");
    assert!(intervals.iter().rev().skip(1).all(|at| at.next == Next::Decision));
    assert_eq!(intervals.last().map(|at| at.next), Some(Next::Over));
}

/// A cut-off episode counts the time of flows that have not completed.
#[test]
fn an_episode_ends_with_the_simulation() {
    let mut config = fabric(1).config().clone();
    config.end_ns = 4_000_000;
    let fabric = Fabric::try_from(config).expect("valid");
    for interval_ns in [None, Some(300_000)] {
        let decisions = Decisions { interval_ns, ..Decisions::default() };
        let (flows, intervals, outcome) = episode(&fabric, 1, decisions, |_| vec![1.0; 6]);
        let active = |flow: &FlowRecord| flow.fct_ns.unwrap_or(4_000_000 - flow.flow.start_ns);
        let flow_ns: u64 = intervals.iter().map(|at| at.flow_ns).sum();
        assert_eq!(flow_ns, flows.iter().map(active).sum::<u64>(), "{interval_ns:?}");
        assert!(outcome.completed < outcome.flows);
        let last = intervals.last().expect("at least one");
        assert_eq!((last.end_ns, last.next), (4_000_000, Next::CutOff));
    }
}

#[test]
fn intervals_are_as_long_as_they_should_be_and_observations_are_of_their_ends() {
    let decisions = Decisions { interval_ns: Some(50_000), history: 2, ..Decisions::default() };
    let mut before: Vec<i32> = Vec::new();
    let decide = |observed: &[i32]| {
        assert_eq!(observed.len(), 6 * 2 * ATTRIBUTES);
        assert!(observed.iter().all(|number| (0..=8 * ONE).contains(number)));
        for port in 0..6 {
            let at = |row: usize| (2 * port + row) * ATTRIBUTES..(2 * port + row + 1) * ATTRIBUTES;
            if !before.is_empty() {
                assert_eq!(observed[at(1)], before[at(0)], "the row before");
                // alpha 4: action 4 of 8. 15,000 bytes at 10 Gbps with their overhead take about 12 us.
                assert_eq!(observed[at(0)][3], ONE / 2);
                assert!((4 * ONE..5 * ONE).contains(&observed[at(0)][4]), "{observed:?}");
            }
        }
        before = observed.to_vec();
        vec![4.0; 6]
    };
    let (_, intervals, _) = episode(&fabric(1), 2, decisions, decide);
    let (last, others) = intervals.split_last().expect("at least one");
    assert!(others.len() > 50 && others.iter().all(|at| at.elapsed_ns == 50_000));
    assert!(last.elapsed_ns <= 50_000);
}

#[test]
fn mistakes_are_named() {
    let fabric = fabric(1);
    let begin = |decisions| {
        let others = |_, _: PolicySite<'_>| unreachable!("one switch");
        Episode::new(&fabric, decisions, others, traffic(1).mix(&fabric).expect("fits"))
    };
    let refused = |decisions, says: &str| {
        let error = begin(decisions).err().expect(says).to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    };
    refused(
        Decisions { switch_id: 1, ..Decisions::default() },
        "switch: is 1, there are 1, from 0",
    );
    refused(Decisions { interval_ns: Some(0), ..Decisions::default() }, "interval_ns: is 0");
    refused(Decisions { history: 0, ..Decisions::default() }, "history: is 0, expected 1 to 1024");
    let mut episode = begin(Decisions::default()).expect("valid");
    let step = |episode: &mut Episode<_>, alphas: &[f64]| {
        episode.step(alphas).expect_err("no alphas").to_string()
    };
    assert!(step(&mut episode, &[1.0]).contains("has 1 numbers, the switch has 6 ports"));
    for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let said = step(&mut episode, &[1.0, 1.0, 1.0, 1.0, alpha, 1.0]);
        assert_eq!(said, format!("alpha: is {alpha} for port 4, expected a positive number"));
    }
}
