//! A reserve for packets that nothing follows.

use crate::traffic::{Arrivals, LINE_RATE_BPS, accepted, switch_and_arrivals};
use dropcast_data::SwitchSpec;
use dropcast_runtime::{DropOracle, FlowMemory};
use dropcast_switch::policies::reserve::{LONG_PACKETS, Reserve, ReserveParameters};
use dropcast_switch::{
    Buffer, CompleteSharing, Decision, Live, Packet, Policy, PolicyModel, PolicySite, PolicySpec,
    Recorded,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Takes no packet for followed.
struct Never;

impl DropOracle for Never {
    fn predicts_drop(&self, _: &[u32]) -> bool {
        false
    }
}

/// The rule in other words, over Complete Sharing: the model says that a packet with an odd number is followed.
#[derive(Clone, Default)]
struct Slow {
    share: f64,
    base_rtt_ns: u64,
    flows: BTreeMap<u64, FlowMemory>,
}

impl Policy for Slow {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        let flow = self.flows.entry(packet.flow_hash).or_default();
        let [burst, _, packets, ..] = flow.arrives(now, self.base_rtt_ns);
        let lengths: Vec<f64> = buffer.shared_lengths().iter().map(|&own| f64::from(own)).collect();
        let capacity = f64::from(buffer.capacity_bytes());
        let free = capacity - lengths.iter().sum::<f64>();
        let reserve = (self.share * capacity).floor();
        let is_long = free < reserve && burst > 0 && packets >= 64;
        let is_followed = free < reserve / 1.5 && packet.id % 2 == 1;
        let holds_much = lengths[packet.queue] >= capacity / buffer.ports() as f64;
        match packet.flow_hash != 0 && holds_much && (is_long || is_followed) {
            true => Decision::Reject,
            false => CompleteSharing.decide(buffer, packet, now),
        }
    }
}

proptest! {
    #[test]
    fn followed_packets_are_dropped_when_the_reserve_is_touched(
        (spec, arrivals) in switch_and_arrivals(),
        share in 0.0..1.0,
    ) {
        let odd = || Some(Recorded(|id| id % 2 == 1));
        let policy = Reserve::new(&spec, CompleteSharing, odd(), share);
        let slow = Slow { share, base_rtt_ns: spec.base_rtt_ns, ..Slow::default() };
        prop_assert_eq!(accepted(&spec, &arrivals, policy), accepted(&spec, &arrivals, slow));
        // Without a reserve it is its base.
        let policy = Reserve::new(&spec, CompleteSharing, odd(), 0.0);
        prop_assert_eq!(accepted(&spec, &arrivals, policy), accepted(&spec, &arrivals, CompleteSharing));
    }
}

/// A flow of 100 packets fills a buffer whose other half is reserved: those after the 64th are dropped. Of flows that pause they are
/// not, nor are single packets.
#[test]
fn without_a_model_long_messages_are_taken_for_followed() {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 200_000, 10_000);
    let flow = |gap_ns: u64| -> Arrivals {
        let packet = |n| Packet { flow_hash: 7, ..Packet::new(n, 0, 1_500) };
        (0..100).map(|n| (n * gap_ns, packet(n))).collect()
    };
    let parameters = ReserveParameters { share: 0.5, ..ReserveParameters::default() };
    let accepted = |arrivals: Arrivals| {
        let policy = parameters.policy(PolicySite::new(&spec, 1)).expect("built");
        accepted(&spec, &arrivals, policy)
    };
    // 67 packets are half of the buffer.
    let taken = accepted(flow(1));
    assert!(taken[..67].iter().all(|taken| *taken) && taken[68..].iter().all(|taken| !taken));
    // Each is a burst of its own: only the base drops, when the buffer is full.
    assert!(accepted(flow(5_001)).iter().all(|taken| *taken));
    assert_eq!(LONG_PACKETS, 64);
}

#[test]
fn what_cannot_be_is_refused() {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 200_000, 10_000);
    let refused = |policy: &str| {
        let policy: PolicySpec = policy.parse().expect("a policy");
        policy.build(PolicySite::new(&spec, 1)).err().expect("refused").to_string()
    };
    assert_eq!(refused("reserve:share=1.5"), "share: is 1.5, expected 0 to 1");
    assert!(refused("reserve:base=lqd").starts_with("base: lqd pushes packets out"));
    let credence: PolicySpec = "credence".parse().expect("a policy");
    let base = Box::new(credence.with_model("m.json"));
    let nested = ReserveParameters { base, ..ReserveParameters::default() };
    let refused_base = nested.policy(PolicySite::new(&spec, 1)).err().expect("refused").to_string();
    assert_eq!(refused_base, "base: credence has a model, expected a policy without one");
    assert!(refused("reserve:model=m.json").contains("no model is given"));
    // Each decision asks the models that are for it.
    let with = |policy: &str, features: &str| {
        let features = features.parse().expect("known features");
        let live = Live { features, oracle: Never };
        let model = Some(PolicyModel::Predictor(Box::new(live)));
        let policy: PolicySpec = policy.parse().expect("a policy");
        policy
            .build(PolicySite { model, ..PolicySite::new(&spec, 1) })
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(with("reserve:model=m.json", "flow11"), None);
    assert!(with("reserve:model=m.json", "level4").is_some_and(|why| why.contains("followers")));
    for policy in ["credence:model=m.json", "oracle:model=m.json"] {
        assert_eq!(with(policy, "level4"), None);
        assert!(with(policy, "flow11").is_some_and(|why| why.contains("reserve")), "{policy}");
    }
}
