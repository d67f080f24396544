//! Oracles that policies name: files with a model or an exported table.

use crate::PipelineError;
use crate::export::models::ModelFile;
use dropcast_data::read_small;
use dropcast_features::{Feature, FeatureSet};
use dropcast_forest::{Forest, Node, SwitchContext, Tree};
use dropcast_runtime::Table;
use dropcast_train::TrainedModel;
use std::path::Path;

pub use dropcast_replay::{OraclesByName, oracle_at};

/// Reads the oracle of a policy in a simulated switch.
///
/// # Errors
/// See [`read_oracle`]; also if it has features of the user's own.
pub fn read_for_switch(path: &Path) -> Result<TrainedModel, PipelineError> {
    let model = read_oracle(path)?;
    refuse_own(&model.features).map_err(|why| PipelineError::unfit(path.display(), why))?;
    Ok(model)
}

/// Reads a `model.json` or an exported `.dct` table.
///
/// # Errors
/// If it is neither.
pub fn read_oracle(path: &Path) -> Result<TrainedModel, PipelineError> {
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
    Ok(TrainedModel::new(forest_of(&table), features, switch))
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

/// Says that a simulated switch does not compute features of the user's own, if there are any.
///
/// # Errors
/// If there are any.
pub fn refuse_own(features: &FeatureSet) -> Result<(), String> {
    match features.split_own().1.names().first() {
        None => Ok(()),
        Some(own) => Err(format!(
            "needs {own}, a feature of your own, which a simulated switch does not compute; replay \
             traces that have it (`report --model`), or train without it"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_export::Target;
    use proptest::prelude::*;

    fn model(thresholds: [u32; 3]) -> TrainedModel {
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
        TrainedModel::new(forest, features, SwitchContext::default())
    }

    /// Two columns of one feature would be decided one way here and another on a device.
    #[test]
    fn a_table_with_a_feature_twice_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.json");
        std::fs::write(&path, model([1, 2, 3]).to_json()).unwrap();
        let targets: [Target; 1] = ["dct".parse().unwrap()];
        let written =
            ModelFile::read(&path).unwrap().export(&targets, None, folder.path()).unwrap();
        let mut bytes = std::fs::read(&written[0].path).unwrap();
        let [.., code, last] = &mut bytes[..] else { panic!("two codes") };
        *last = *code;
        let checksum = dropcast_runtime::crc32(&bytes[dropcast_runtime::Field::CHECKSUM.end..]);
        bytes[dropcast_runtime::Field::CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        std::fs::write(&written[0].path, bytes).unwrap();
        let said = read_oracle(&written[0].path).unwrap_err().to_string();
        assert!(said.contains("the feature with code 0 is in two columns"), "{said}");
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
