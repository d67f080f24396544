//! Rivals against the replay of predictions, which is tested on its own, and the optimum against all of them.

use super::*;
use crate::replay::{Replay, ReplayPolicy};
use dropcast_features::BufferView as _;
use dropcast_forest::{Forest, Node, SwitchContext, Tree};
use dropcast_switch::{Buffer, Decision, Packet};
use dropcast_train::Sent;
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
            let (queue, dropped, predicted) = (0, false, false);
            Arrival { time_ns, switch_id, port, queue, size_bytes, dropped, predicted, counted }
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

#[test]
fn an_own_policy_is_as_one_of_the_registry() {
    let gaps = [0, 1, 0, 0, 3, 0, 0, 0];
    let arrivals = (0..400_u64).map(|at| Arrival {
        time_ns: at / 2 + gaps[at as usize % 8],
        switch_id: (at % 3 / 2) as u16,
        port: (at / 5 % 3) as u16,
        queue: 0,
        size_bytes: 1 + (at % 4) as u32,
        dropped: false,
        predicted: false,
        counted: at % 7 > 0,
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
        switch_id: 0,
        port: 0,
        queue: 0,
        size_bytes: 2,
        dropped: false,
        predicted: false,
        counted: at > 0,
    };
    let sent = rivals(&[one(0), one(1), one(2)], &[], &policies(&["lqd"]), 1);
    assert_eq!(sent.policies[0].counted, Sent { packets: 2, bytes: 4 });
    assert_eq!(sent.policies[0].others, Sent { packets: 1, bytes: 2 });
    assert_eq!(sent.clone().of_last(0), RivalsSent::default());
    assert_eq!(sent.clone().of_last(1).policies, sent.policies);
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let arrival = |time_ns, size_bytes| Arrival {
        time_ns,
        switch_id: 0,
        port: 0,
        queue: 0,
        size_bytes,
        dropped: false,
        predicted: false,
        counted: true,
    };
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
fn above(threshold: u32) -> Model {
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
