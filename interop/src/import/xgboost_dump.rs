//! XGBoost's JSON dump, as `Booster.dump_model(..., dump_format="json")` writes it: a list of
//! nested trees, without the score that all rows begin with and without the objective.

use super::{Foreign, Reading, check_trees};
use crate::ImportError;
use crate::threshold::{Comparison, Values};
use crate::values::{ForeignNode, Leaf, ValueForest, ValueTree};
use dropcast_features::FeatureSet;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct NodeText {
    nodeid: usize,
    leaf: Option<f32>,
    split: Option<String>,
    split_condition: Option<serde_json::Value>,
    yes: Option<usize>,
    no: Option<usize>,
    #[serde(default)]
    children: Vec<NodeText>,
}

pub(super) fn read(file: &[u8], reading: &Reading<'_>) -> Result<Foreign, ImportError> {
    let wrong = |at: &str, problem| ImportError::Wrong { at: at.to_owned(), problem };
    let trees: Vec<NodeText> = serde_json::from_slice(file)
        .map_err(|error| wrong("the file", format!("is not XGBoost's JSON dump: {error}")))?;
    check_trees(trees.len())?;
    let Some(threshold) = reading.threshold else {
        let why = "does not tell the score that rows begin with, nor the objective; give the sum of leaves above which a packet is dropped, or import what save_model wrote";
        return Err(ImportError::Refused { at: "a dump".to_owned(), why: why.to_owned() });
    };
    let Some(features) = reading.features else {
        let problem = "a dump does not list its columns; give their names in order";
        return Err(ImportError::Features(problem.to_owned()));
    };
    let trees = trees.iter().enumerate().map(|(at, root)| {
        let mut nodes = BTreeMap::new();
        collect(root, &mut nodes).map_err(|node| {
            wrong(&format!("tree {at}"), format!("has two nodes with number {node}"))
        })?;
        ValueTree::build(at, root.nodeid, features.len(), Values::F32, |node| {
            nodes.get(&node).ok_or("is not there".to_owned())?.read(features)
        })
    });
    Ok(Foreign {
        producer: Some("xgboost".to_owned()),
        names: Vec::new(),
        features: features.len(),
        forest: ValueForest {
            trees: trees.collect::<Result<_, _>>()?,
            base: 0.0,
            threshold,
            sums: Values::F32,
            blur: 0.0,
        },
    })
}

/// Gathers all nodes by number, or gives a number that occurs twice. The recursion is no deeper
/// than that of the JSON reader, which is limited.
fn collect<'a>(node: &'a NodeText, nodes: &mut BTreeMap<usize, &'a NodeText>) -> Result<(), usize> {
    if nodes.insert(node.nodeid, node).is_some() {
        return Err(node.nodeid);
    }
    node.children.iter().try_for_each(|child| collect(child, nodes))
}

impl NodeText {
    fn read(&self, features: &FeatureSet) -> Result<ForeignNode, String> {
        if let Some(value) = self.leaf {
            return Ok(ForeignNode::Leaf(Leaf::new(f64::from(value))));
        }
        let missing = |field: &str| format!("has neither a leaf nor {field}");
        let split = self.split.as_deref().ok_or_else(|| missing("a split"))?;
        let condition =
            self.split_condition.as_ref().ok_or_else(|| missing("a split_condition"))?;
        let threshold = f32::deserialize(condition)
            .map_err(|_| "splits on categories, which integer trees do not".to_owned())?;
        Ok(ForeignNode::Split {
            feature: column(split, features)?,
            threshold: f64::from(threshold),
            comparison: Comparison::Below,
            left: self.yes.ok_or_else(|| missing("a yes"))?,
            right: self.no.ok_or_else(|| missing("a no"))?,
        })
    }
}

/// The column that a dump calls by its name, or `f` and its number.
fn column(name: &str, features: &FeatureSet) -> Result<usize, String> {
    let by_name = features.names().iter().position(|feature| feature == name);
    let by_number = || name.strip_prefix('f').and_then(|number| number.parse().ok());
    by_name
        .or_else(by_number)
        .ok_or_else(|| format!("splits on {name:?}, which is no feature given"))
}
