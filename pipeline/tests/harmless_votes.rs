//! The vote threshold that `credence` chooses, against a report's replay.

use dropcast_data::{LabelledBatch, SwitchSpec, SwitchSpecs, TraceMeta};
use dropcast_forest::{Forest, LaneSent, Node, ScoreHistogram, Sent, Tree, VoteLane};
use dropcast_replay::{Arrival, ForestReplay, Replay, ReplayOptions};
use dropcast_train::{ForestScores, Part, VoteError, VoteReplay, VoteRule};
use proptest::prelude::*;
use std::num::NonZeroUsize;

fn meta() -> TraceMeta {
    let spec = SwitchSpec::uniform(3, 8_000_000_000, 6, 1_000);
    TraceMeta::new("test", SwitchSpecs::Same(spec), vec!["a".to_owned()])
}

/// Three trees that weigh 100 above 2, 4 and 6, and 10 otherwise.
fn forest() -> Forest {
    let tree = |threshold| {
        let split = Node::Split { feature: 0, threshold, left: 1, right: 2 };
        Tree { nodes: vec![split, Node::Leaf { weight: 10 }, Node::Leaf { weight: 100 }] }
    };
    let trees = [2, 4, 6].map(tree).to_vec();
    Forest { features: vec!["a".to_owned()], vote_threshold: 0, trees }
}

/// Replays a batch by a forest; it never fails.
struct BatchReplay<'a> {
    forest: &'a Forest,
    batch: &'a LabelledBatch,
}

impl VoteReplay for BatchReplay<'_> {
    type Error = VoteError;

    fn sent(&self, _: Part, lanes: &[VoteLane]) -> Result<Vec<LaneSent>, VoteError> {
        let (columns, one) = (meta().features, NonZeroUsize::MIN);
        let replay = ForestReplay::new(&meta(), &columns, &[self.forest], lanes, one);
        let mut replay = replay.expect("a sound trace");
        replay.add(self.batch, &vec![true; self.batch.len()]).expect("sound arrivals");
        Ok(replay.finish().by_lane())
    }
}

proptest! {
    #[test]
    fn the_threshold_for_credence_never_transmits_less_than_always_accepting(
        // Mostly in bursts; now and then every port becomes idle.
        rows in prop::collection::vec(
            (
                prop::sample::select(vec![0_u64, 0, 0, 1, 1, 2, 2, 3, 5, 9, 30]),
                (0_u16..2, 0_u16..3, 1_u32..4),
                0_u32..9,
                any::<bool>(),
            ),
            0..60,
        ),
    ) {
        let (mut batch, mut scores) = (LabelledBatch::with_arrivals(1), ScoreHistogram::new(3));
        let (forest, mut now_ns) = (forest(), 0);
        for (step_ns, (switch_id, port, size_bytes), feature, drop) in rows {
            now_ns += step_ns;
            let arrivals = batch.arrivals.as_mut().expect("it has arrivals");
            arrivals.time_ns.push(now_ns);
            arrivals.switch_id.push(switch_id);
            arrivals.port.push(port);
            arrivals.queue.push(0);
            arrivals.size_bytes.push(size_bytes);
            batch.features[0].push(feature);
            batch.drop.push(false);
            scores.add(forest.score(&[feature]), drop);
        }
        let replay = BatchReplay { forest: &forest, batch: &batch };
        let none = ScoreHistogram::new(3);
        let forests = [ForestScores { train: &scores, validation: &none, trees: 3 }];
        let chosen = VoteRule::Credence.choose(&forests, Some(3), &replay).unwrap()[0];
        let sent = |threshold: u32| {
            let specs = meta().switches.expect("a switch");
            let mut replay = Replay::new(specs, ReplayOptions::for_trace(&meta()));
            let columns = batch.arrivals.as_ref().expect("it has arrivals");
            for (row, &feature) in batch.features[0].iter().enumerate() {
                let predicted = forest.score(&[feature]) > threshold;
                let arrival = Arrival::of(columns, row, false);
                replay.arrive(&Arrival { predicted, counted: true, ..arrival }).expect("sound arrivals");
            }
            let mut sent = Sent::default();
            replay.finish().into_values().for_each(|replayed| sent.add(replayed.sent[1]));
            sent
        };
        let (chosen, accepting) = (sent(chosen.threshold), sent(u32::MAX));
        prop_assert!(chosen.packets >= accepting.packets && chosen.bytes >= accepting.bytes);
    }
}
