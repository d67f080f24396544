//! Sizes of answers.

use dropcast_fabric::{AnswerSizes, Fabric, FabricConfig, Incast, TrafficConfig, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// Sizes by pair of servers.
fn sizes(kind: AnswerSizes, seed: u64) -> BTreeMap<(u16, u16), BTreeSet<u64>> {
    let fabric = Fabric::try_from(FabricConfig::default()).expect("valid");
    let incast = Incast { sizes: kind, per_server_hz: 500.0, ..Incast::default() };
    let traffic = TrafficConfig {
        duration_ns: 20_000_000,
        seed,
        flows: Vec::new(),
        incasts: vec![incast],
        ..TrafficConfig::default()
    };
    let mut mix = traffic.mix(&fabric).expect("valid");
    let mut found = BTreeMap::<_, BTreeSet<_>>::new();
    while let Some(flow) = mix.next_flow() {
        found.entry((flow.from, flow.to)).or_default().insert(flow.size_bytes);
    }
    found
}

/// Each pair has a size of its own, which another seed changes; without a pattern a pair has many.
#[test]
fn a_pair_can_have_one_size() {
    let by_pair = sizes(AnswerSizes::ByPair(1.0), 1);
    assert!(by_pair.len() > 300 && by_pair.values().all(|sizes| sizes.len() == 1));
    let distinct: BTreeSet<u64> = by_pair.values().flatten().copied().collect();
    assert!(distinct.len() * 2 > by_pair.len(), "{} of {}", distinct.len(), by_pair.len());
    let mean = distinct.iter().sum::<u64>() as f64 / distinct.len() as f64;
    let equal = *sizes(AnswerSizes::Equal, 1).values().flatten().next().expect("an answer") as f64;
    assert!((0.7..1.4).contains(&(mean / equal)), "{mean} for {equal}");
    assert_ne!(by_pair, sizes(AnswerSizes::ByPair(1.0), 2));
    let without = sizes(AnswerSizes::LogNormal(1.0), 1);
    assert!(without.values().any(|sizes| sizes.len() > 3));
}
