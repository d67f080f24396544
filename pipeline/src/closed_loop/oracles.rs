//! What policies were trained to, by name.

use crate::PipelineError;
use crate::files::read_text;
use crate::models::ModelFile;
use dropcast_simulate::Fabric;
use dropcast_switch::policies::ndt::Network;
use dropcast_switch::{Live, Model as SwitchModel, PolicySpec};
use dropcast_train::Model;
use std::collections::BTreeMap;
use std::path::Path;

/// Models by the name that a policy's parameters give: a file, or any name for a model in memory.
#[derive(Clone, Debug, Default)]
pub struct Oracles {
    /// For Credence.
    models: BTreeMap<String, Model>,
    /// For NDT.
    networks: BTreeMap<String, Network>,
}

impl Oracles {
    /// Adds a model under a name.
    pub fn insert(&mut self, name: impl Into<String>, model: Model) {
        self.models.insert(name.into(), model);
    }

    /// Reads the file that a policy names, unless its model is known.
    pub(super) fn read_for(&mut self, policy: &PolicySpec) -> Result<(), PipelineError> {
        let Some(name) = policy.model() else { return Ok(()) };
        match policy {
            PolicySpec::Ndt(_) if !self.networks.contains_key(name) => {
                self.networks.insert(name.to_owned(), read_network(Path::new(name))?);
            }
            PolicySpec::Credence(_) if !self.models.contains_key(name) => {
                self.insert(name, ModelFile::read(Path::new(name))?.model);
            }
            _ => {}
        }
        Ok(())
    }

    /// What a policy asks at a switch: its model, with thresholds for the switch's buffer.
    pub(super) fn at_switch(
        &self,
        policy: &PolicySpec,
        fabric: &Fabric,
        switch_id: u16,
    ) -> Option<SwitchModel> {
        if let PolicySpec::Ndt(_) = policy {
            return self.networks.get(policy.model()?).cloned().map(SwitchModel::Network);
        }
        let model = self.models.get(policy.model()?)?;
        let buffer_bytes = fabric.switch_spec(switch_id).buffer_bytes;
        // Thresholds of a model that does not say its buffer are used as they are.
        let model = model.for_buffer(buffer_bytes).unwrap_or_else(|_| model.clone());
        let live = Live { features: model.features, oracle: model.forest };
        Some(SwitchModel::Predictor(Box::new(live)))
    }
}

fn read_network(path: &Path) -> Result<Network, PipelineError> {
    let text = read_text(path)?;
    serde_json::from_str(&text).map_err(|error| {
        let problem = format!("{error}; expected the network that `dropcast-ndt train` writes");
        PipelineError::unfit(path.display(), problem)
    })
}
