//! What policies were trained to, by name.

use super::kept_runs::encoded;
use dropcast_data::read_small;
use dropcast_features::{Feature, FeatureSet};
use dropcast_forest::{Forest, Node, SwitchContext, Tree};
use dropcast_oracle::Table;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::export::models::ModelFile;
use dropcast_pipeline::files::read_text;
use dropcast_simulate::Fabric;
use dropcast_switch::policies::ndt::Network;
use dropcast_switch::{Live, PolicyModel, PolicySpec};
use dropcast_train::Model;
use std::collections::BTreeMap;
use std::path::Path;

/// Models by the name that a policy's parameters give: a file, or any name for a model in memory.
#[derive(Clone, Debug, Default)]
pub struct Oracles {
    /// Oracles.
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
        if let PolicySpec::Ndt(_) = policy {
            if !self.networks.contains_key(name) {
                self.networks.insert(name.to_owned(), read_network(Path::new(name))?);
            }
        } else if !self.models.contains_key(name) {
            let model = read_oracle(Path::new(name))?;
            refuse_own(&model.features).map_err(|why| PipelineError::unfit(name, why))?;
            self.insert(name, model);
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
        if let PolicySpec::Ndt(_) = policy {
            return self.networks.get(policy.model()?).cloned().map(PolicyModel::Network);
        }
        let model = self.models.get(policy.model()?)?;
        let buffer_bytes = fabric.switch_spec(switch_id).buffer_bytes;
        // Thresholds of a model that does not say its buffer are used as they are.
        let model = model.for_buffer(buffer_bytes).unwrap_or_else(|_| model.clone());
        let live = Live { features: model.features, oracle: model.forest };
        Some(PolicyModel::Predictor(Box::new(live)))
    }
}

/// Says that a simulated switch does not compute features of the user's own, if there are any.
pub(crate) fn refuse_own(features: &FeatureSet) -> Result<(), String> {
    match features.split_own().1.names().first() {
        None => Ok(()),
        Some(own) => Err(format!(
            "needs {own}, a feature of your own, which a simulated switch does not compute; replay \
             traces that have it (report), or train without it"
        )),
    }
}

fn read_network(path: &Path) -> Result<Network, PipelineError> {
    let text = read_text(path)?;
    serde_json::from_str(&text).map_err(|error| {
        let problem = format!("{error}; expected the network that `dropcast-ndt train` writes");
        PipelineError::unfit(path.display(), problem)
    })
}

/// Reads a `model.json` or an exported `.dct` table.
pub fn read_oracle(path: &Path) -> Result<Model, PipelineError> {
    let file = || path.display().to_string();
    if path.extension().is_none_or(|extension| extension != "dct") {
        return Ok(ModelFile::read(path)?.model);
    }
    let bytes = read_small(path)?;
    let table =
        Table::parse(&bytes).map_err(|error| PipelineError::unfit(file(), error.to_string()))?;
    let feature = |&code: &u8| {
        let problem = || format!("has a feature with code {code}, which this dropcast lacks");
        Feature::with_code(code).ok_or_else(|| PipelineError::unfit(file(), problem()))
    };
    let features = table.feature_codes().iter().map(feature).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&str> = features.iter().map(|feature| feature.name()).collect();
    let features: FeatureSet = names.join(",").parse()?;
    // The table does not name the buffer of its thresholds.
    let switch = SwitchContext {
        base_rtt_ns: table.average_ns().map(u64::from),
        ..SwitchContext::default()
    };
    Ok(Model::new(forest_of(&table), features, switch))
}

/// The complete trees of a table as a forest.
fn forest_of(table: &Table<'_>) -> Forest {
    let layout = table.layout();
    let splits = layout.splits_per_tree();
    let tree = |tree: usize| {
        let split = |at: usize| {
            let (column, threshold) = table.split(tree, at)?;
            let left = 2 * at as u32 + 1;
            Some(Node::Split { feature: column.into(), threshold, left, right: left + 1 })
        };
        let leaf = |leaf: usize| Some(Node::Leaf { weight: table.weight(tree, leaf)? });
        let leaves = (0..layout.leaves_per_tree()).filter_map(leaf);
        Tree { nodes: (0..splits).filter_map(split).chain(leaves).collect() }
    };
    Forest {
        features: Vec::new(),
        vote_threshold: table.vote_threshold(),
        trees: (0..usize::from(layout.trees())).map(tree).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_export::Target;
    use proptest::prelude::*;

    fn model(thresholds: [u32; 3]) -> Model {
        let split =
            |feature, threshold, left| Node::Split { feature, threshold, left, right: left + 1 };
        let leaf = |weight| Node::Leaf { weight };
        let deep = vec![
            split(0, thresholds[0], 1),
            leaf(7),
            split(1, thresholds[1], 3),
            leaf(90),
            leaf(255),
        ];
        let flat = vec![split(1, thresholds[2], 1), leaf(0), leaf(130)];
        let trees = [deep, flat].map(|nodes| Tree { nodes }).to_vec();
        let forest = Forest { features: Vec::new(), vote_threshold: 200, trees };
        let features = "queue_length,occupancy".parse().unwrap();
        Model::new(forest, features, SwitchContext::default())
    }

    proptest! {
        #[test]
        fn an_exported_table_decides_as_its_model(
            thresholds in prop::array::uniform3(0_u32..100),
            rows in prop::collection::vec(prop::array::uniform2(0_u32..100), 1..50),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("model.json");
            let model = model(thresholds);
            std::fs::write(&path, model.to_json()).unwrap();
            let targets: [Target; 1] = ["dct".parse().unwrap()];
            let written = ModelFile::read(&path).unwrap().export(&targets, None, folder.path()).unwrap();
            let read = read_oracle(&written[0].path).unwrap();
            prop_assert_eq!(&read.features, &model.features);
            for row in rows {
                prop_assert_eq!(read.forest.score(&row), model.forest.score(&row));
                prop_assert_eq!(read.forest.predicts_drop(&row), model.forest.predicts_drop(&row));
            }
        }
    }
}
