//! Replays that choose a vote threshold, in tasks.

use super::trace_summary::TraceSummary;
use crate::PipelineError;
use crate::resources::Resources;
use crate::traces::LabelledTraces;
use crate::train::replays::Replays;
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, LaneSent, VoteLane};
use dropcast_train::{Part, Split, TrainedModel};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Some vote thresholds of forests, replayed at some switches of a trace. Switches do not touch each
/// other and neither do lanes, so what all tasks transmit adds up. As JSON, it goes to a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayTask {
    pub(super) trace: TraceSummary,
    pub(super) switches: BTreeSet<u16>,
    pub(super) features: FeatureSet,
    /// The buffer that rows are scaled to.
    pub(super) buffer_bytes: Option<u32>,
    pub(super) split: Split,
    /// The split's.
    pub(super) seed: u64,
    /// The rows that count.
    pub(super) part: Part,
    /// The texts of the `model.json` of all forests.
    pub(super) models: Vec<String>,
    /// Number of lanes of all tasks.
    pub(super) lanes: usize,
    /// The lanes of this task, with their places among all.
    pub(super) own: Vec<(usize, VoteLane)>,
}

/// What each lane transmits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReplayedLanes(pub(super) Vec<LaneSent>);

impl ReplayTask {
    /// Replays.
    ///
    /// # Errors
    /// If the rows cannot be read or replayed.
    pub fn replay(&self, resources: &Resources) -> Result<ReplayedLanes, PipelineError> {
        let traces = LabelledTraces::new(vec![self.trace.open(None)], &self.features)?;
        let traces = traces.scaled_to(self.buffer_bytes);
        let model = |text: &String| {
            TrainedModel::from_json(text).map_err(|source| PipelineError::Model {
                file: "the model of a replay".to_owned(),
                source,
            })
        };
        let models = self.models.iter().map(model).collect::<Result<Vec<_>, _>>()?;
        let replays = Replays {
            traces: &traces,
            split: &self.split,
            seed: self.seed,
            threads: resources.threads(),
        };
        let lanes: Vec<VoteLane> = self.own.iter().map(|&(_, lane)| lane).collect();
        let forests: Vec<&Forest> = models.iter().map(|model| &model.forest).collect();
        if lanes.iter().any(|lane| lane.forest >= forests.len()) {
            return Err(PipelineError::unfit("a replay", "has a lane of a forest that it lacks"));
        }
        let sent = replays.replay_at(self.part, &forests, &lanes, Some(&self.switches))?;
        let mut all = vec![LaneSent::default(); self.lanes];
        for (&(place, _), sent) in self.own.iter().zip(sent.by_lane()) {
            if let Some(of_lane) = all.get_mut(place) {
                of_lane.add(&sent);
            }
        }
        Ok(ReplayedLanes(all))
    }
}

impl ReplayedLanes {
    /// Adds what other tasks transmit.
    pub fn merge(&mut self, other: &ReplayedLanes) {
        self.0.resize(self.0.len().max(other.0.len()), LaneSent::default());
        self.0.iter_mut().zip(&other.0).for_each(|(sum, sent)| sum.add(sent));
    }
}
