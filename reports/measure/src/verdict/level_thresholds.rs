//! The simplest oracles: Credence that predicts a drop by one comparison of one feature.

use super::congestion::Met;
use super::rivals::MOST_QUEUES;
use crate::ratio;
use dropcast_data::{LabelledBatch, SwitchSpec, SwitchSpecs, TraceMeta};
use dropcast_forest::{Forest, Node, Tree, VoteLane, VotePolicy};
use dropcast_replay::{ForestReplay, ForestReplayError, LanesSent, Sent};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// What is compared: the feature, and the thresholds that are tried, per mille of the buffer. A level is never above
/// the buffer, its projection may be.
pub(crate) const COMPARED: [(&str, &[u32]); 2] = [
    ("level_occupancy", &[600, 700, 800, 850, 900, 940, 970, 980, 990, 995, 999]),
    ("level_in_quarter_rtt", &[800, 900, 940, 970, 980, 990, 995, 999, 1_050, 1_100, 1_200]),
];

/// Credence with one comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelThreshold {
    /// The feature, of virtual LQD.
    pub feature: String,
    /// A drop is predicted above this, per mille of the buffer.
    pub threshold_permille: u32,
    /// What is transmitted.
    pub sent: Sent,
    /// Packets as a share of LQD's.
    pub packets_to_lqd: Option<f64>,
    /// Bytes as a share of LQD's.
    pub bytes_to_lqd: Option<f64>,
    /// What is transmitted of the rows that are not measured, on which the comparison was chosen; null if all rows
    /// are measured: then it was chosen on these very rows.
    pub other_rows: Option<Sent>,
}

/// What is transmitted with each comparison, over all traces.
#[derive(Default)]
pub(super) struct LevelThresholds {
    /// Whether a switch is so large that only the first feature is compared: each lane takes the memory of its queues.
    is_large: bool,
    measured: LanesSent,
    others: LanesSent,
}

fn each(specs: &SwitchSpecs) -> Vec<&SwitchSpec> {
    match specs {
        SwitchSpecs::Same(spec) => vec![spec],
        SwitchSpecs::Each(specs) => specs.values().collect(),
    }
}

impl LevelThresholds {
    /// Feature and threshold of each comparison.
    fn compared(&self) -> impl Iterator<Item = (&'static str, u32)> + use<> {
        let features = if self.is_large { 1 } else { COMPARED.len() };
        COMPARED.into_iter().take(features).flat_map(|(feature, thresholds)| {
            thresholds.iter().map(move |&threshold| (feature, threshold))
        })
    }

    /// The comparisons on another trace; `chooses` if it may have rows that are not measured.
    pub(super) fn begin(
        &mut self,
        meta: &TraceMeta,
        threads: NonZeroUsize,
        chooses: bool,
    ) -> Result<TraceLevels, ForestReplayError> {
        let specs = meta.switches.iter().flat_map(each);
        self.is_large |= specs.into_iter().any(|spec| spec.queues() > MOST_QUEUES);
        let forests: Vec<Forest> =
            self.compared().map(|(feature, threshold)| above(feature, threshold)).collect();
        let forests: Vec<&Forest> = forests.iter().collect();
        let lanes: Vec<VoteLane> = (0..forests.len())
            .map(|forest| VoteLane { forest, threshold: 0, policy: VotePolicy::Credence })
            .collect();
        let columns = COMPARED.map(|(feature, _)| feature.to_owned());
        let replay = || ForestReplay::new(meta, &columns, &forests, &lanes, threads);
        Ok(TraceLevels { measured: replay()?, others: chooses.then(replay).transpose()? })
    }

    pub(super) fn end(&mut self, trace: TraceLevels) {
        self.measured.add(&trace.measured.finish());
        if let Some(others) = trace.others {
            self.others.add(&others.finish());
        }
    }

    /// The comparison that transmits the most bytes; of equals the last. The rows that are not measured decide. If there
    /// are none, those that are measured do.
    pub(super) fn best(&self, lqd: Sent) -> Option<LevelThreshold> {
        let others = Some(&self.others.lanes).filter(|lanes| lanes.iter().any(|of| of.packets > 0));
        let other_rows = |lane: usize| others.and_then(|lanes| lanes.get(lane)).copied();
        let tried = self.compared().zip(&self.measured.lanes).enumerate();
        let tried = tried.map(|(lane, ((feature, threshold_permille), &sent))| LevelThreshold {
            feature: feature.to_owned(),
            threshold_permille,
            sent,
            packets_to_lqd: ratio(sent.packets, lqd.packets),
            bytes_to_lqd: ratio(sent.bytes, lqd.bytes),
            other_rows: other_rows(lane),
        });
        tried.max_by_key(|tried| tried.other_rows.unwrap_or(tried.sent).bytes)
    }
}

/// The comparisons on one trace.
pub(super) struct TraceLevels {
    measured: ForestReplay,
    others: Option<ForestReplay>,
}

impl TraceLevels {
    /// The next rows, and what each meets.
    pub(super) fn add(
        &mut self,
        batch: &LabelledBatch,
        met: &[Met],
        counted: &[bool],
    ) -> Result<(), ForestReplayError> {
        let level = met.iter().map(|met| met.level_permille).collect();
        let ahead = met.iter().map(|met| met.ahead_permille).collect();
        let batch = LabelledBatch {
            arrivals: batch.arrivals.clone(),
            features: vec![level, ahead],
            drop: batch.drop.clone(),
            ..LabelledBatch::default()
        };
        self.measured.add(&batch, counted)?;
        match &mut self.others {
            Some(others) => {
                let inverted: Vec<bool> = counted.iter().map(|counted| !counted).collect();
                others.add(&batch, &inverted)
            }
            None => Ok(()),
        }
    }
}

/// Predicts a drop above a threshold.
pub(crate) fn above(feature: &str, threshold: u32) -> Forest {
    let nodes = vec![
        Node::Split { feature: 0, threshold, left: 1, right: 2 },
        Node::Leaf { weight: 0 },
        Node::Leaf { weight: 255 },
    ];
    Forest { features: vec![feature.to_owned()], vote_threshold: 0, trees: vec![Tree { nodes }] }
}
