//! Runs that other machines simulate, with all that determines them.

use super::kept_runs::encoded;
use super::{Experiment, Oracles};
use dropcast_pipeline::PipelineError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Some runs of an experiment, as a machine receives them: JSON of this version of dropcast.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    /// Its policies ask models by their names in `models`.
    pub(super) experiment: Experiment,
    /// What the policies ask, as text.
    models: BTreeMap<String, String>,
    /// Places of policies in the experiment, and numbers of runs.
    pub(super) runs: Vec<(usize, u32)>,
    /// Whether it is asked how long flows took.
    pub(super) with_times: bool,
}

impl Job {
    pub(super) fn new(
        experiment: &Experiment,
        oracles: &Oracles,
        runs: Vec<(usize, u32)>,
        with_times: bool,
    ) -> Result<Self, PipelineError> {
        let mut experiment = experiment.clone();
        if let Some(path) = &mut experiment.flow_list {
            // Other machines may be elsewhere in the tree of folders.
            *path = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        }
        let asking =
            experiment.policies.iter().filter_map(|policy| Some((policy, policy.spec.model()?)));
        let models =
            asking.map(|(policy, name)| Ok((name.to_owned(), oracles.described(&policy.spec)?)));
        let models = models.collect::<Result<_, PipelineError>>()?;
        Ok(Job { experiment, models, runs, with_times })
    }

    pub(super) fn text(&self) -> Result<String, PipelineError> {
        encoded(self)
    }

    pub(super) fn read(text: &str) -> Result<Self, PipelineError> {
        serde_json::from_str(text).map_err(|error| PipelineError::unfit("job", error.to_string()))
    }

    /// What its policies ask.
    pub(super) fn oracles(&self) -> Result<Oracles, PipelineError> {
        let mut oracles = Oracles::default();
        for policy in &self.experiment.policies {
            let text = policy.spec.model().and_then(|name| self.models.get(name));
            text.map_or(Ok(()), |text| oracles.read_text_for(&policy.spec, text))?;
        }
        Ok(oracles)
    }
}
