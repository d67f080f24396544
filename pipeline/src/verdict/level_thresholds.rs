//! The simplest oracle: a drop is predicted above one threshold on `level_occupancy`.

use dropcast_data::{LabelledBatch, TraceMeta};
use dropcast_forest::{Forest, Node, Tree};
use dropcast_replay::{ForestReplay, ForestReplayError, LanesSent, Sent};
use dropcast_train::{VoteLane, VotePolicy};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Thresholds that are tried, per mille of the buffer.
const THRESHOLDS_PERMILLE: [u32; 11] = [600, 700, 800, 850, 900, 940, 970, 980, 990, 995, 999];
const COLUMN: &str = "level_permille";

/// Credence with one threshold on `level_occupancy`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelThreshold {
    /// A drop is predicted above this, per mille of the buffer.
    pub threshold_permille: u32,
    /// What is transmitted.
    pub sent: Sent,
    /// Packets as a share of LQD's.
    pub packets_to_lqd: Option<f64>,
    /// Bytes as a share of LQD's.
    pub bytes_to_lqd: Option<f64>,
}

/// What is transmitted with each threshold, over all traces.
#[derive(Default)]
pub(super) struct LevelThresholds {
    sent: LanesSent,
}

impl LevelThresholds {
    /// The thresholds on another trace.
    pub(super) fn begin(
        &self,
        meta: &TraceMeta,
        threads: NonZeroUsize,
    ) -> Result<TraceLevels, ForestReplayError> {
        let forests = THRESHOLDS_PERMILLE.map(above);
        let forests: Vec<&Forest> = forests.iter().collect();
        let lanes: Vec<VoteLane> = (0..forests.len())
            .map(|forest| VoteLane { forest, threshold: 0, policy: VotePolicy::Credence })
            .collect();
        let columns = [COLUMN.to_owned()];
        let replay = ForestReplay::new(meta, &columns, &forests, &lanes, threads)?;
        Ok(TraceLevels { replay })
    }

    pub(super) fn end(&mut self, trace: TraceLevels) {
        self.sent.add(&trace.replay.finish());
    }

    /// The threshold that transmits the most bytes, the highest of equals.
    pub(super) fn best(&self, lqd: Sent) -> Option<LevelThreshold> {
        let tried = THRESHOLDS_PERMILLE.iter().zip(&self.sent.lanes);
        let tried = tried.map(|(&threshold_permille, &sent)| LevelThreshold {
            threshold_permille,
            sent,
            packets_to_lqd: share(sent.packets, lqd.packets),
            bytes_to_lqd: share(sent.bytes, lqd.bytes),
        });
        tried.max_by_key(|tried| tried.sent.bytes)
    }
}

pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The thresholds on one trace.
pub(super) struct TraceLevels {
    replay: ForestReplay,
}

impl TraceLevels {
    /// The next rows, with the level of each.
    pub(super) fn add(
        &mut self,
        batch: &LabelledBatch,
        level_permille: Vec<u32>,
        counted: &[bool],
    ) -> Result<(), ForestReplayError> {
        let batch = LabelledBatch {
            arrivals: batch.arrivals.clone(),
            features: vec![level_permille],
            drop: batch.drop.clone(),
            ..LabelledBatch::default()
        };
        self.replay.add(&batch, counted)
    }
}

/// Predicts a drop above a threshold.
fn above(threshold: u32) -> Forest {
    let nodes = vec![
        Node::Split { feature: 0, threshold, left: 1, right: 2 },
        Node::Leaf { weight: 0 },
        Node::Leaf { weight: 255 },
    ];
    Forest { features: vec![COLUMN.to_owned()], vote_threshold: 0, trees: vec![Tree { nodes }] }
}
