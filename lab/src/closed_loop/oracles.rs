//! What policies were trained to, by name.

use super::kept_runs::encoded;
use dropcast_fabric::Fabric;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::read_text;
use dropcast_pipeline::oracle_file::{oracle_at, read_for_switch};
use dropcast_switch::policies::ndt::NdtNetwork;
use dropcast_switch::{ModelKind, PolicyModel, PolicySpec};
use dropcast_train::TrainedModel;
use std::collections::BTreeMap;
use std::path::Path;

/// Models by the name that a policy's parameters give: a file, or any name for a model in memory.
#[derive(Clone, Debug, Default)]
pub struct Oracles {
    /// Oracles.
    models: BTreeMap<String, TrainedModel>,
    /// For NDT.
    networks: BTreeMap<String, NdtNetwork>,
}

impl Oracles {
    /// Adds a model under a name.
    pub fn insert(&mut self, name: impl Into<String>, model: TrainedModel) {
        self.models.insert(name.into(), model);
    }

    /// Reads the file that a policy names, unless its model is known.
    pub(super) fn read_for(&mut self, policy: &PolicySpec) -> Result<(), PipelineError> {
        let Some(name) = policy.model() else { return Ok(()) };
        if policy.model_kind() == Some(ModelKind::Network) {
            if !self.networks.contains_key(name) {
                self.networks.insert(name.to_owned(), read_network(Path::new(name))?);
            }
        } else if !self.models.contains_key(name) {
            self.insert(name, read_for_switch(Path::new(name))?);
        }
        Ok(())
    }

    /// Adds what a policy asks, of the text that [`Oracles::described`] gave.
    pub(super) fn read_text_for(
        &mut self,
        policy: &PolicySpec,
        text: &str,
    ) -> Result<(), PipelineError> {
        let Some(name) = policy.model() else { return Ok(()) };
        if policy.model_kind() == Some(ModelKind::Network) {
            self.networks.insert(name.to_owned(), network(name, text)?);
        } else {
            let failed = |source| PipelineError::Model { file: name.to_owned(), source };
            self.insert(name, TrainedModel::from_json(text).map_err(failed)?);
        }
        Ok(())
    }

    /// The model that a policy asks, as text; empty if it asks none.
    pub(super) fn described(&self, policy: &PolicySpec) -> Result<String, PipelineError> {
        let Some(name) = policy.model() else { return Ok(String::new()) };
        match (self.models.get(name), self.networks.get(name)) {
            (Some(model), _) => Ok(model.to_json()),
            (None, Some(network)) => encoded(network),
            (None, None) => Ok(String::new()),
        }
    }

    /// What a policy asks at a switch: its model, with thresholds for the switch's buffer.
    pub(super) fn at_switch(
        &self,
        policy: &PolicySpec,
        fabric: &Fabric,
        switch_id: u16,
    ) -> Option<PolicyModel> {
        if policy.model_kind() == Some(ModelKind::Network) {
            return self.networks.get(policy.model()?).cloned().map(PolicyModel::Network);
        }
        let model = self.models.get(policy.model()?)?;
        Some(oracle_at(model, fabric.switch_spec(switch_id).buffer_bytes))
    }
}

fn read_network(path: &Path) -> Result<NdtNetwork, PipelineError> {
    network(&path.display().to_string(), &read_text(path)?)
}

fn network(file: &str, text: &str) -> Result<NdtNetwork, PipelineError> {
    serde_json::from_str(text).map_err(|error| {
        let problem = format!("{error}; expected the network that `dropcast-ndt train` writes");
        PipelineError::unfit(file, problem)
    })
}
