//! Do no harm: with fallback no forest, however wrong, transmits less than always accepting, beyond 0.1%.

use crate::forests::{Shape, random_forest};
use dropcast_arrivals::LeafWorkload;
use dropcast_data::{Event, SwitchSpec};
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, Node, Tree};
use dropcast_runtime::DriftRule;
use dropcast_switch::{
    AlwaysAccept, CredencePolicy, Fit, LineRate, Live, Packet, Predictor, Switch, Victim,
};

/// Traffic of different loads and bursts.
fn workloads() -> Vec<LeafWorkload> {
    let base = LeafWorkload { duration_ns: 15_000_000, ..LeafWorkload::loaded() };
    vec![
        base.clone(),
        LeafWorkload { load: 0.3, outgoing_load: 0.2, ..base.clone() },
        LeafWorkload { flow_rate: 1.0, incast_per_server_hz: 150.0, load: 0.5, ..base.clone() },
        LeafWorkload {
            load: 0.95,
            flow_rate: 1.0,
            incast_per_server_hz: 0.0,
            outgoing_incast_per_server_hz: 0.0,
            ..base.clone()
        },
        LeafWorkload {
            load: 0.2,
            incast_burst: 1.5,
            incast_fan_in: 32,
            incast_per_server_hz: 100.0,
            ..base
        },
    ]
}

/// Predicts a drop above a threshold of one feature, or below it.
fn stump(feature: &str, threshold: u32, is_above: bool) -> (FeatureSet, Forest) {
    let weights = if is_above { [0, 255] } else { [255, 0] };
    let leaf = |weight| Node::Leaf { weight };
    let split = Node::Split { feature: 0, threshold, left: 1, right: 2 };
    let nodes = vec![split, leaf(weights[0]), leaf(weights[1])];
    let forest = Forest {
        features: vec![feature.to_owned()],
        vote_threshold: 127,
        trees: vec![Tree { nodes }],
    };
    (feature.parse().expect("a known feature"), forest)
}

/// Forests that predict too much: everything, the contrary of what is likely, and at random.
fn bad_forests(spec: &SwitchSpec) -> Vec<(FeatureSet, Forest)> {
    let buffer = spec.buffer_bytes;
    let mut forests = vec![
        // Every packet.
        stump("occupancy", 0, true),
        stump("level_occupancy", buffer, false),
        // Those that LQD keeps, while the buffer is full.
        stump("longest_gap", buffer / 16, true),
        // Too early, as a forest for a smaller buffer would.
        stump("level_in_quarter_rtt", buffer / 2, true),
        stump("cut_in_quarter_rtt", buffer / 4 * 3, true),
        stump("queue_length", buffer / 64, true),
        stump("avg_occupancy", buffer / 3, true),
    ];
    for seed in 0..8 {
        let features: FeatureSet =
            ["paper4", "level4", "carry4", "cut1"][seed as usize % 4].parse().expect("known");
        let shape =
            Shape { trees: 4, depth: 4, features: features.len(), largest: buffer, stops: 10 };
        let forest = Forest { features: features.names(), ..random_forest(shape, seed) };
        forests.push((features, forest));
    }
    forests
}

/// Packets that Credence transmits.
fn transmitted<P: Predictor>(
    spec: &SwitchSpec,
    events: &[Event],
    predictor: P,
    falls_back: bool,
) -> u64 {
    let (victim, fit) = (Victim::default(), Fit::default());
    let policy = CredencePolicy::new(spec, victim, fit, LineRate::new(spec), predictor);
    let policy = if falls_back { policy.falling_back(DriftRule::default()) } else { policy };
    let mut switch = Switch::new(spec, fit, policy, LineRate::new(spec));
    let accepts = |(id, event): (u64, &Event)| {
        let queue = spec.queue_index(event.port, event.queue);
        switch.arrive(&Packet::new(id, queue, event.size_bytes), event.time_ns)
    };
    (0..).zip(events).map(accepts).map(u64::from).sum()
}

#[test]
fn with_fallback_no_forest_does_harm() {
    let mut harmed = 0;
    for workload in workloads() {
        let spec = workload.switch_spec().expect("valid");
        let events: Vec<Event> =
            workload.arrivals().expect("valid").flat_map(|batch| batch.events).collect();
        let always = transmitted(&spec, &events, AlwaysAccept, false);
        let least = always - always / 1000;
        for (features, forest) in bad_forests(&spec) {
            let live = Live { features: features.clone(), oracle: forest.clone() };
            let falling_back = transmitted(&spec, &events, live.clone(), true);
            assert!(falling_back >= least, "{falling_back} of {always}: {features}, {forest:?}");
            harmed += u64::from(transmitted(&spec, &events, live, false) < least);
        }
    }
    assert!(harmed > 20, "without fallback {harmed} did harm");
}
