//! Rivals against the replay of predictions, which is tested on its own, and the optimum against all of them.

use super::*;
use crate::replay::{Replay, ReplayPolicy};
use dropcast_features::BufferView as _;
use dropcast_forest::{Forest, Node, Sent, SwitchContext, Tree};
use dropcast_switch::{Buffer, Decision, Packet};
use proptest::prelude::*;

fn spec() -> SwitchSpecs {
    let mut spec = dropcast_data::SwitchSpec::uniform(3, 8_000_000_000, 12, 1_000);
    spec.dt_alpha = vec![2.0];
    SwitchSpecs::Same(spec)
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let one = (0_u64..4, 0_u16..2, 0_u16..3, 1_u32..5, any::<bool>());
    prop::collection::vec(one, 0..80).prop_map(|rows| {
        let mut time_ns = 0;
        let with_time = |(gap, switch_id, port, size_bytes, counted)| {
            time_ns += gap;
            Arrival { time_ns, switch_id, port, size_bytes, counted, ..Arrival::default() }
        };
        rows.into_iter().map(with_time).collect()
    })
}

fn pauses() -> impl Strategy<Value = Vec<Pause>> {
    let one = (0_u64..60, 1_u64..40, 0_u16..2, 0_u16..3, Just(0_u8));
    let until = |(from, length, switch, port, queue)| (from, from + length, switch, port, queue);
    prop::collection::vec(one.prop_map(until).prop_map(Pause::from), 0..4)
}

fn rivals(
    arrivals: &[Arrival],
    pauses: &[Pause],
    policies: &[PolicySpec],
    threads: usize,
) -> RivalsSent {
    let threads = NonZeroUsize::new(threads).expect("one at least");
    let mut replay = RivalReplay::new(spec(), ReplayOptions::default(), pauses, policies, threads);
    for batch in arrivals.chunks(7) {
        replay.add(batch).expect("sound arrivals");
    }
    replay.finish()
}

fn known(arrivals: &[Arrival], pauses: &[Pause], policy: ReplayPolicy) -> Sent {
    let mut replay = Replay::new(spec(), ReplayOptions::default()).pausing(pauses);
    for arrival in arrivals {
        replay.arrive(arrival).expect("sound arrivals");
    }
    let at = ReplayPolicy::ALL.iter().position(|&of| of == policy).expect("replayed");
    let mut sum = Sent::default();
    replay.finish().values().for_each(|replayed| sum.add(replayed.sent[at]));
    sum
}

/// Policies that look at flows or first round trips, with tables and counts that a few packets fill.
const FLOW_POLICIES: [&str; 3] = [
    "fab:alpha=0.5,first_alpha=4,first_bytes=5,window_ns=9",
    "reverie",
    "expression:accept=first_rtt or queue < free",
];

/// What a policy that pushes nothing out accepts of the arrivals that count.
fn one_by_one(arrivals: &[Arrival], policy: &PolicySpec) -> Sent {
    let mut sum = Sent::default();
    for switch_id in 0..2 {
        let specs = spec();
        let spec = specs.get(switch_id).expect("known");
        let site = PolicySite::new(spec, SEED).served_by(LineRate::new(spec));
        let built = policy.build(site).expect("a policy without a model");
        let fit = ReplayOptions::default().fit;
        let mut switch = Switch::new(spec, fit, built, LineRate::new(spec));
        for (id, arrival) in (0..).zip(arrivals.iter().filter(|one| one.switch_id == switch_id)) {
            let &Arrival { port, size_bytes, flow_hash, first_rtt, .. } = arrival;
            let packet =
                Packet { id, queue: port.into(), size_bytes, flow_hash, flags: first_rtt.into() };
            if switch.arrive(&packet, arrival.time_ns) && arrival.counted {
                sum.add(Sent { packets: 1, bytes: size_bytes.into() });
            }
        }
    }
    sum
}

#[test]
fn without_their_flows_packets_are_treated_otherwise() {
    // Of two flows, the second begins while the first, which is long, fills the buffer.
    let arrival = |at: u64, flow_hash| Arrival {
        time_ns: at,
        size_bytes: 1,
        counted: true,
        flow_hash,
        first_rtt: flow_hash == 2,
        ..Arrival::default()
    };
    let arrivals: Vec<Arrival> =
        (0..40).map(|at| arrival(at / 4, if at < 30 { 1 } else { 2 })).collect();
    let unknown: Vec<Arrival> =
        arrivals.iter().map(|of| Arrival { flow_hash: 0, first_rtt: false, ..*of }).collect();
    let policies = policies(&FLOW_POLICIES);
    let known = rivals(&arrivals, &[], &policies, 1).policies;
    let unknown = rivals(&unknown, &[], &policies, 1).policies;
    for (policy, (known, unknown)) in FLOW_POLICIES.iter().zip(known.iter().zip(&unknown)) {
        assert!(known.counted.packets > unknown.counted.packets, "{policy}");
    }
}

#[test]
fn an_own_policy_is_as_one_of_the_registry() {
    let gaps = [0, 1, 0, 0, 3, 0, 0, 0];
    let arrivals = (0..400_u64).map(|at| Arrival {
        time_ns: at / 2 + gaps[at as usize % 8],
        switch_id: (at % 3 / 2) as u16,
        port: (at / 5 % 3) as u16,
        size_bytes: 1 + (at % 4) as u32,
        counted: at % 7 > 0,
        ..Arrival::default()
    });
    let mut arrivals: Vec<Arrival> = arrivals.collect();
    arrivals.sort_by_key(|arrival| arrival.time_ns);
    let own: OwnPolicy = Arc::new(|switch_id, spec| {
        assert!(switch_id < 2 && spec.buffer_bytes == 12);
        Box::new(dropcast_switch::DynamicThresholds::new(0.5))
    });
    let threads = NonZeroUsize::new(2).expect("one at least");
    let known = policies(&["dt", "lqd"]);
    let mut replay = RivalReplay::new(spec(), ReplayOptions::default(), &[], &known, threads);
    replay = replay.with(&[own]);
    replay.add(&arrivals).expect("sound arrivals");
    let [dt, lqd, own] = replay.finish().policies[..] else { panic!("three policies") };
    assert!(own == dt && own != lqd, "{own:?} {dt:?} {lqd:?}");
}

fn policies(names: &[&str]) -> Vec<PolicySpec> {
    names.iter().map(|name| name.parse().expect("a policy")).collect()
}

proptest! {
    #[test]
    fn rivals_transmit_what_the_replay_of_predictions_says(
        arrivals in arrivals(),
        pauses in pauses(),
    ) {
        let others: Vec<Arrival> =
            arrivals.iter().map(|of| Arrival { counted: !of.counted, ..*of }).collect();
        let of = [
            ("lqd", ReplayPolicy::Lqd),
            ("follow-lqd", ReplayPolicy::FollowLqd),
            ("dt:alpha=2", ReplayPolicy::DynamicThresholds),
            ("harmonic", ReplayPolicy::Harmonic),
            ("complete-sharing", ReplayPolicy::CompleteSharing),
            ("complete-partitioning", ReplayPolicy::CompletePartitioning),
            ("credence", ReplayPolicy::AlwaysAccept),
        ];
        let names = of.map(|(name, _)| name);
        let sent = rivals(&arrivals, &pauses, &policies(&names), 1);
        for ((name, policy), sent) in of.into_iter().zip(&sent.policies) {
            prop_assert_eq!(sent.counted, known(&arrivals, &pauses, policy), "{}", name);
            prop_assert_eq!(sent.others, known(&others, &pauses, policy), "{}, others", name);
        }
        prop_assert_eq!(rivals(&arrivals, &pauses, &policies(&names), 3), sent);
    }

    /// Beside a switch for each, which sees the flow of every packet.
    #[test]
    fn policies_see_the_flows_of_packets(
        arrivals in arrivals(),
        flows in prop::collection::vec((0_u64..4, any::<bool>()), 80),
    ) {
        let of_flows = |(arrival, &(flow_hash, first_rtt)): (&Arrival, &(u64, bool))| Arrival {
            flow_hash,
            first_rtt,
            ..*arrival
        };
        let arrivals: Vec<Arrival> = arrivals.iter().zip(&flows).map(of_flows).collect();
        let policies = policies(&FLOW_POLICIES);
        let sent = rivals(&arrivals, &[], &policies, 1);
        for (policy, sent) in policies.iter().zip(&sent.policies) {
            prop_assert_eq!(sent.counted, one_by_one(&arrivals, policy), "{}", policy);
        }
    }

    #[test]
    fn nobody_transmits_more_than_the_optimum(arrivals in arrivals()) {
        let names = ["lqd", "dt:alpha=8", "complete-sharing", "oracle", "oracle:base=complete-sharing"];
        let sent = rivals(&arrivals, &[], &policies(&names), 1);
        let optimum = sent.optimum.expect("few arrivals");
        prop_assert!(optimum.schedule.counted.bytes <= optimum.most_bytes);
        for (name, sent) in names.into_iter().zip(sent.policies) {
            prop_assert!(sent.counted.bytes <= optimum.most_bytes, "{}", name);
        }
    }
}

#[test]
fn what_is_held_at_the_end_of_time_is_sent() {
    let one = |at: u64| Arrival {
        time_ns: u64::MAX - 3 + at,
        size_bytes: 2,
        counted: at > 0,
        ..Arrival::default()
    };
    let sent = rivals(&[one(0), one(1), one(2)], &[], &policies(&["lqd"]), 1);
    assert_eq!(sent.policies[0].counted, Sent { packets: 2, bytes: 4 });
    assert_eq!(sent.policies[0].others, Sent { packets: 1, bytes: 2 });
    assert_eq!(sent.clone().of_last(0), RivalsSent::default());
    assert_eq!(sent.clone().of_last(1).policies, sent.policies);
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let arrival =
        |time_ns, size_bytes| Arrival { time_ns, size_bytes, counted: true, ..Arrival::default() };
    let says = |policy: &str, arrivals: &[Arrival], expected: &str| {
        let policies = policies(&[policy]);
        let options = ReplayOptions::default();
        let mut replay = RivalReplay::new(spec(), options, &[], &policies, NonZeroUsize::MIN);
        let error = replay.add(arrivals).expect_err("must be refused").to_string();
        assert!(error.contains(expected), "{error:?} should say {expected:?}");
    };
    says("dt", &[arrival(0, 13)], "a packet of 13 bytes");
    says("dt", &[arrival(5, 1), arrival(4, 1)], "at 4 ns, after one at 5 ns");
    says("oracle:base=lqd", &[arrival(0, 1)], "oracle at switch 0: base: lqd pushes packets out");
}

/// A forest that predicts a drop where the buffer holds more than this.
fn above(threshold: u32) -> Model<()> {
    let leaf = |weight| Node::Leaf { weight };
    let split = Node::Split { feature: 0, threshold, left: 1, right: 2 };
    let trees = vec![Tree { nodes: vec![split, leaf(0), leaf(255)] }];
    let forest = Forest { features: Vec::new(), vote_threshold: 127, trees };
    let features = "occupancy".parse().expect("a feature");
    let switch = SwitchContext { buffer_bytes: Some(24), ..SwitchContext::default() };
    Model::new(forest, features, switch)
}

proptest! {
    #[test]
    fn a_forest_is_asked_at_the_switch_with_thresholds_of_its_buffer(
        arrivals in arrivals(),
        pauses in pauses(),
        threshold in 0_u32..24,
    ) {
        let policies = policies(&["oracle:base=complete-sharing,model=one"]);
        let oracles = OraclesByName::from([("one".to_owned(), Arc::new(above(threshold)))]);
        let options = ReplayOptions::default();
        let mut replay =
            RivalReplay::new(spec(), options, &pauses, &policies, NonZeroUsize::MIN).asking(oracles);
        replay.add(&arrivals).expect("sound arrivals");
        let asked = replay.finish().policies[0];
        // The spec's buffer is half of the model's.
        let own: OwnPolicy = Arc::new(move |_, _| Box::new(Below { most_bytes: threshold / 2 }));
        let mut replay =
            RivalReplay::new(spec(), options, &pauses, &[], NonZeroUsize::MIN).with(&[own]);
        replay.add(&arrivals).expect("sound arrivals");
        prop_assert_eq!(asked, replay.finish().policies[0]);
    }
}

/// Accepts what fits while the longest queue is below a third of the buffer, or the buffer holds no more than this.
struct Below {
    most_bytes: u32,
}

impl Policy for Below {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let is_safe = 3 * buffer.longest_queue_bytes() < buffer.capacity_bytes();
        let is_below = buffer.occupancy_bytes() <= self.most_bytes;
        match buffer.fits(packet.size_bytes) && (is_safe || is_below) {
            true => Decision::Accept,
            false => Decision::Reject,
        }
    }
}

/// Alphas that part at few packets, one for each queue among them, and two that are the same.
const ALPHAS: [&str; 7] = [
    "dt:alpha=0.125",
    "dt:alpha=0.5",
    "complete-sharing",
    "dt:alpha=[0.25,2]",
    "dt:alpha=1",
    "dt:alpha=64",
    "dt:alpha=0.5",
];

/// Two queues a port, which differ in all that a queue can.
fn two_queues(is_shared: bool, reserved_bytes: u32, ring: u16) -> SwitchSpecs {
    let mut spec = dropcast_data::SwitchSpec::uniform(2, 8_000_000_000, 12, 1_000);
    spec.queues_per_port = 2;
    spec.scheduler = dropcast_data::Scheduler::StrictPriority;
    spec.shared = vec![true, is_shared];
    spec.pushable = vec![true, is_shared];
    spec.reserved_bytes = vec![reserved_bytes, 0];
    spec.transmit_ring_packets = ring;
    SwitchSpecs::Same(spec)
}

proptest! {
    /// Beside a switch for each alpha, which knows nothing of the others.
    #[test]
    fn alphas_that_share_switches_drop_what_each_drops_alone(
        rows in prop::collection::vec((0_u64..3, 0_u16..2, 0_u16..2, 0_u8..2, 1_u32..5, any::<bool>()), 0..120),
        pauses in pauses(),
        is_shared in any::<bool>(),
        reserved_bytes in 0_u32..4,
        ring in 0_u16..2,
        threads in 1_usize..4,
    ) {
        let specs = two_queues(is_shared, reserved_bytes, ring);
        let pauses: Vec<Pause> = pauses.into_iter().filter(|pause| pause.port < 2).collect();
        let mut time_ns = 0;
        let arrivals: Vec<Arrival> = rows.into_iter().map(|(gap, switch_id, port, queue, size_bytes, counted)| {
            time_ns += gap;
            Arrival { time_ns, switch_id, port, queue, size_bytes, counted, ..Arrival::default() }
        }).collect();
        let (names, options) = (policies(&ALPHAS), ReplayOptions::default());
        let threads = NonZeroUsize::new(threads).expect("one at least");
        let mut replay = RivalReplay::new(specs.clone(), options, &pauses, &names, threads);
        let mut rejected = vec![Vec::new(); names.len()];
        for batch in arrivals.chunks(11) {
            replay.add(batch).expect("sound arrivals");
            for (place, rejected) in rejected.iter_mut().enumerate() {
                rejected.extend_from_slice(replay.rejected(place));
            }
        }
        let sent = replay.finish().policies;
        let site = Site { specs: &specs, options: &options, pauses: &pauses };
        let spec = specs.get(0).expect("the same for each");
        for (place, policy) in names.iter().enumerate() {
            let built = || policy.build(PolicySite::new(spec, SEED)).expect("no model");
            let mut alone = [0, 1].map(|switch_id| site.switch(switch_id, spec, built()));
            let mut expected = RivalSent::default();
            for (arrival, &is_rejected) in arrivals.iter().zip(&rejected[place]) {
                let queue = spec.queue_index(arrival.port, arrival.queue);
                let packet = packet(queue, arrival.size_bytes, arrival.counted);
                let is_accepted = alone[usize::from(arrival.switch_id)].arrive(&packet, arrival.time_ns);
                prop_assert_eq!(is_accepted, !is_rejected, "{} at {} ns", policy, arrival.time_ns);
                if is_accepted {
                    expected.count(arrival.size_bytes, arrival.counted);
                }
            }
            prop_assert_eq!(sent[place], expected, "{}", policy);
        }
    }
}
