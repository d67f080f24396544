//! Labels of followers, against a look at every pair of rows.

use dropcast_collect::{FOLLOWERS, FollowerLabels, Tracer};
use dropcast_data::{
    CollectSettings, Event, EventBatch, EventKind, LabelledBatch, SwitchSpec, SwitchSpecs,
};
use dropcast_features::FeatureSet;
use proptest::prelude::*;

const BASE_RTT_NS: u64 = 10_000;

/// Whether enough packets of the row's flow arrive at its switch after it, in time.
fn is_followed(events: &[Event], row: usize) -> bool {
    let own = events[row];
    let after = events[row + 1..].iter().filter(|other| {
        (other.flow_hash, other.switch_id) == (own.flow_hash, own.switch_id)
            && other.time_ns - own.time_ns <= 2 * BASE_RTT_NS
    });
    own.flow_hash != 0 && after.count() >= FOLLOWERS
}

fn labelled(events: &[Event], batch: usize) -> Vec<LabelledBatch> {
    let specs = SwitchSpecs::Same(SwitchSpec::uniform(2, 10_000_000_000, 6_000, BASE_RTT_NS));
    let settings = CollectSettings::default();
    let mut tracer = Tracer::new(specs.clone(), settings, FeatureSet::none()).with_flows();
    let mut labels = FollowerLabels::new(specs);
    let mut rows = Vec::new();
    for events in events.chunks(batch) {
        let traced = tracer.push(&EventBatch::new(events.to_vec())).expect("known queues");
        rows.extend(labels.push(traced));
    }
    rows.extend(labels.push(tracer.finish()));
    rows.extend(labels.finish());
    assert!(labels.is_empty());
    rows
}

proptest! {
    #[test]
    fn rows_are_followed_as_pairs_say(
        packets in prop::collection::vec((0_u64..9_000, 0_u64..4, 0_u16..2), 0..200),
        batch in 1_usize..20,
    ) {
        let mut time_ns = 0;
        let events: Vec<Event> = packets
            .into_iter()
            .map(|(gap_ns, flow_hash, switch_id)| {
                time_ns += gap_ns;
                Event {
                    time_ns,
                    flow_hash,
                    size_bytes: 1_000,
                    switch_id,
                    port: 0,
                    queue: 0,
                    kind: EventKind::Arrival,
                    flags: 0,
                }
            })
            .collect();
        let found: Vec<bool> = labelled(&events, batch)
            .into_iter()
            .flat_map(|rows| {
                let outcomes = rows.outcome.expect("outcomes");
                assert!(rows.drop.iter().zip(outcomes).all(|(drop, of)| *drop == of.is_drop()));
                rows.drop
            })
            .collect();
        let expected: Vec<bool> = (0..events.len()).map(|row| is_followed(&events, row)).collect();
        prop_assert_eq!(found, expected);
    }
}
