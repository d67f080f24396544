//! Lanes against a report's replay, which takes one prediction at a time.

use super::*;
use crate::{Replay, Replayed};
use dropcast_data::{Scheduler, SwitchSpec};
use dropcast_forest::{Node, Tree, VoteGain};
use proptest::prelude::*;

fn meta() -> TraceMeta {
    meta_of(SwitchSpec::uniform(3, 8_000_000_000, 6, 1_000))
}

fn meta_of(spec: SwitchSpec) -> TraceMeta {
    TraceMeta::new("test", SwitchSpecs::Same(spec), vec!["a".to_owned(), "b".to_owned()])
}

/// Three ports, with a transmit ring, or with two queues that take turns; the second may be outside
/// the shared buffer.
fn specs() -> impl Strategy<Value = SwitchSpec> {
    let scheduler = prop::sample::select(vec![
        Scheduler::StrictPriority,
        Scheduler::RoundRobin,
        Scheduler::Dwrr,
    ]);
    (4_u32..30, 0_u16..3, scheduler, any::<bool>(), 0_u32..4, 0_u32..3).prop_map(
        |(buffer_bytes, transmit_ring_packets, scheduler, shared, reserved, slack_bytes)| {
            SwitchSpec {
                slack_bytes,
                reserved_bytes: vec![reserved, reserved * u32::from(shared)],
                queues_per_port: 2,
                quantum_bytes: vec![2, 1],
                shared: vec![true, shared],
                pushable: vec![true, shared],
                transmit_ring_packets,
                scheduler,
                ..SwitchSpec::uniform(3, 8_000_000_000, buffer_bytes, 1_000)
            }
        },
    )
}

/// Weighs 100 above `threshold` of a feature, 10 otherwise.
fn forest(feature: &str, threshold: u32) -> Forest {
    let split = Node::Split { feature: 0, threshold, left: 1, right: 2 };
    let nodes = vec![split, Node::Leaf { weight: 10 }, Node::Leaf { weight: 100 }];
    Forest { features: vec![feature.to_owned()], vote_threshold: 0, trees: vec![Tree { nodes }] }
}

/// Rows of two switches: (time step, switch, port, size, features). Odd values of the first feature
/// are for the second queue, if there is one.
fn rows() -> impl Strategy<Value = Vec<(u64, u16, u16, u32, [u32; 2])>> {
    // Mostly in bursts; now and then every port becomes idle.
    let step = prop::sample::select(vec![0_u64, 0, 0, 1, 1, 2, 2, 3, 5, 9, 30]);
    prop::collection::vec((step, 0_u16..2, 0_u16..3, 1_u32..4, [0_u32..9, 0_u32..9]), 0..60)
}

/// Which rows count: stretches of some length, or each by itself.
fn counted_rows() -> impl Strategy<Value = Vec<bool>> {
    let stretches = prop::collection::vec((any::<bool>(), 1_usize..30), 60);
    let stretches = stretches.prop_map(|stretches| {
        stretches
            .into_iter()
            .flat_map(|(is, rows)| std::iter::repeat_n(is, rows))
            .take(60)
            .collect()
    });
    prop_oneof![prop::collection::vec(any::<bool>(), 60), stretches]
}

fn batch_for(queues: u8, rows: &[(u64, u16, u16, u32, [u32; 2])], from_ns: u64) -> LabelledBatch {
    let mut batch = LabelledBatch::with_arrivals(2);
    let mut time_ns = from_ns;
    for &(step, switch_id, port, size_bytes, features) in rows {
        time_ns += step;
        let arrivals = batch.arrivals.as_mut().expect("it has arrivals");
        arrivals.time_ns.push(time_ns);
        arrivals.switch_id.push(switch_id);
        arrivals.port.push(port);
        arrivals.queue.push(features[0] as u8 % queues);
        arrivals.size_bytes.push(size_bytes);
        batch.features.iter_mut().zip(features).for_each(|(column, value)| column.push(value));
        batch.drop.push(false);
    }
    batch
}

fn one_by_one(
    meta: &TraceMeta,
    batch: &LabelledBatch,
    counted: &[bool],
    predicts: impl Fn(&[u32]) -> bool,
) -> Vec<Replayed> {
    let specs = meta.switches.clone().expect("a switch");
    let mut replay = Replay::new(specs, ReplayOptions::for_trace(meta)).pausing(&meta.pauses);
    let columns = batch.arrivals.as_ref().expect("it has arrivals");
    for row in 0..batch.len() {
        let values: Vec<u32> = batch.features.iter().map(|column| column[row]).collect();
        let arrival = Arrival::of(columns, row, batch.drop[row]);
        let (predicted, counted) = (predicts(&values), counted[row]);
        replay.arrive(&Arrival { predicted, counted, ..arrival }).expect("sound arrivals");
    }
    replay.finish().into_values().collect()
}

proptest! {
    #[test]
    fn every_lane_is_a_replay(
        spec in specs(),
        rows in rows(),
        pauses in prop::collection::vec((0_u64..60, 0_u64..90, 0_u16..2, 0_u16..3, 0_u8..2), 0..5),
        counted in counted_rows(),
        cut in 0_usize..60,
        threads in 1_usize..4,
        follows in any::<bool>(),
        alphas in prop::collection::vec(prop::sample::select(vec![0.25, 1.0, 2.0, 5.0, 64.0]), 0..4),
    ) {
        // Scores of the first are 30, 120, 210 and 300: thresholds differ in some predictions only.
        let trees = [2, 4, 6].into_iter().flat_map(|at| forest("a", at).trees).collect();
        let (a, b) = (Forest { trees, ..forest("a", 4) }, forest("b", 6));
        let policies: &[VotePolicy] = match follows {
            true => &[VotePolicy::Followed, VotePolicy::Credence],
            // Then few predictions matter.
            false => &[VotePolicy::Credence],
        };
        let lanes: Vec<VoteLane> = [(0, 50), (1, 50), (0, 5), (0, 150), (1, 200), (0, 250)]
            .into_iter()
            .flat_map(|(forest, threshold)| {
                policies.iter().map(move |&policy| VoteLane { forest, threshold, policy })
            })
            .collect();
        let mut meta = meta_of(spec.clone());
        meta.pauses = pauses.into_iter().map(Pause::from).collect();
        let columns = meta.features.clone();
        let batch = |rows: &_, from_ns| batch_for(2, rows, from_ns);
        let threads = NonZeroUsize::new(threads).expect("not 0");
        let replay = ForestReplay::new(&meta, &columns, &[&a, &b], &lanes, threads).unwrap();
        let mut replay = replay.with_baselines().with_alphas(&alphas);
        let (head, tail) = rows.split_at(cut.min(rows.len()));
        let head = batch(head, 0);
        let end_ns = head.arrivals.as_ref().unwrap().time_ns.last().copied().unwrap_or(0);
        replay.add(&head, &counted[..head.len()]).unwrap();
        replay.add(&batch(tail, end_ns), &counted[head.len()..rows.len()]).unwrap();
        let sent = replay.finish();

        let whole = batch(&rows, 0);
        let (mut baselines, mut complete_sharing) = (BaselinesSent::default(), Sent::default());
        for Replayed { sent, .. } in one_by_one(&meta, &whole, &counted, |_| false) {
            baselines.always_accept.add(sent[2]);
            baselines.follow_lqd.add(sent[3]);
            complete_sharing.add(sent[6]);
        }
        prop_assert_eq!(sent.baselines, Some(baselines));
        let tuned = sent.alphas.expect("asked for");
        prop_assert_eq!(tuned.complete_sharing, complete_sharing);
        for (alpha, found) in alphas.iter().zip(&tuned.by_alpha) {
            let spec = SwitchSpec { dt_alpha: vec![*alpha], ..spec.clone() };
            let meta = TraceMeta { switches: Some(SwitchSpecs::Same(spec)), ..meta.clone() };
            let mut expected = Sent::default();
            for Replayed { sent, .. } in one_by_one(&meta, &whole, &counted, |_| false) {
                expected.add(sent[4]);
            }
            prop_assert_eq!(*found, expected, "alpha {}", alpha);
        }
        for ((lane, found), gains) in lanes.iter().zip(&sent.lanes).zip(&sent.gains) {
            let forest = [&a, &b][lane.forest];
            let expected = one_by_one(&meta, &whole, &counted, |values| {
                forest.score(&values[lane.forest..]) > lane.threshold
            });
            let (mut lqd, mut other) = (Sent::default(), Sent::default());
            for replayed in expected {
                lqd.add(replayed.sent[0]);
                other.add(match lane.policy {
                    VotePolicy::Followed => replayed.followed,
                    VotePolicy::Credence => replayed.sent[1],
                });
            }
            prop_assert_eq!(sent.lqd, lqd);
            prop_assert_eq!(*found, other, "{:?}", lane);
            if lane.policy == VotePolicy::Credence {
                let mut gain = VoteGain::default();
                gains.iter().for_each(|&(_, more)| gain.add(more));
                let more = |ours: u64, theirs: u64| ours as i64 - theirs as i64;
                let Sent { packets, bytes } = baselines.always_accept;
                prop_assert_eq!(gain.packets, more(other.packets, packets), "{:?}", lane);
                prop_assert_eq!(gain.bytes, more(other.bytes, bytes), "{:?}", lane);
                prop_assert!(gains.is_sorted_by(|a, b| a.0 < b.0), "{:?}", gains);
            } else {
                prop_assert!(gains.is_empty());
            }
        }
    }
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let forest = forest("c", 1);
    let new = |meta: &TraceMeta, forests: &[&Forest]| {
        let columns = meta.features.clone();
        ForestReplay::new(meta, &columns, forests, &[], NonZeroUsize::MIN).map(|_| ())
    };
    let missing = ForestReplayError::MissingFeature("c".to_owned());
    assert_eq!(new(&meta(), &[&forest]), Err(missing));
    let unknown = TraceMeta { switches: None, ..meta() };
    assert_eq!(new(&unknown, &[]), Err(ForestReplayError::NoSwitch));
    let departures = TraceMeta { order: RowOrder::Departure, ..meta() };
    assert_eq!(new(&departures, &[]), Err(ForestReplayError::Order));

    let columns = meta().features;
    let mut replay = ForestReplay::new(&meta(), &columns, &[], &[], NonZeroUsize::MIN).unwrap();
    replay.add(&batch_for(1, &[(5, 0, 0, 1, [0, 0])], 0), &[true]).unwrap();
    let bad = batch_for(1, &[(6, 0, 0, 1, [0, 0]), (0, 0, 3, 1, [0, 0])], 0);
    let error = replay.add(&bad, &[true; 2]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 2: an arrival at switch 0 for port 3, queue 0, but it has 3 ports with 1 queues each"
    );
}

/// B/N is 50 bytes: Credence accepts without asking while less waits.
#[test]
fn predictions_are_asked_for_only_where_credence_may_ask() {
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 100, 1_000);
    let asked = |follows: bool, is_counted: bool| {
        let mut relevance = Relevance::new(&spec, false, follows, None);
        let mut asked = Vec::new();
        for row in 0..8 {
            let met = Met { row, time_ns: 0, port: 0, size_bytes: 10, is_counted };
            relevance.see(&spec, &met, || {
                asked.push(row);
                false
            });
        }
        asked
    };
    assert_eq!(asked(false, true), [5, 6, 7]);
    assert_eq!(asked(true, true), Vec::from_iter(0..8), "FollowLQD has no such line");
    assert!(asked(false, false).is_empty(), "no packet counts");
}

#[test]
fn what_lanes_transmit_adds_up() {
    let sent = |packets| Sent { packets, bytes: 9 * packets };
    let mut sum = LanesSent::default();
    for first in [20, 28] {
        let lanes = vec![sent(first), sent(0)];
        sum.add(&LanesSent { lqd: sent(30), lanes, ..LanesSent::default() });
    }
    assert_eq!(sum.lqd_to_lane(0), Some(1.25));
    assert_eq!(sum.lqd_to_lane(1), None, "nothing was transmitted");
    assert_eq!(sum.lqd_to_lane(2), None);
}
