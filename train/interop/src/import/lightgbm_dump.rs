//! LightGBM's JSON dump, as `Booster.dump_model()` gives it and Python's `json` writes it.

use super::foreign::{Foreign, Reading, check_trees, has};
use super::lightgbm::{DropRule, check_missing};
use super::printed::check_digits;
use crate::ImportError;
use crate::threshold::{Comparison, Values};
use crate::values::{ForeignNode, Leaf, ValueForest, ValueTree};
use serde::Deserialize;

#[derive(Deserialize)]
struct Dump {
    version: Option<String>,
    num_class: usize,
    num_tree_per_iteration: usize,
    max_feature_idx: usize,
    objective: Option<String>,
    average_output: bool,
    feature_names: Vec<String>,
    tree_info: Vec<TreeText>,
}

#[derive(Deserialize)]
struct TreeText {
    tree_structure: NodeText,
}

/// A split, or a leaf.
#[derive(Deserialize)]
struct NodeText {
    leaf_value: Option<f64>,
    /// Only trees with linear functions in their leaves have them.
    leaf_coeff: Option<Vec<f64>>,
    split_feature: Option<usize>,
    /// A number, or categories.
    threshold: Option<serde_json::Value>,
    decision_type: Option<String>,
    missing_type: Option<String>,
    #[serde(default)]
    default_left: bool,
    left_child: Option<Box<NodeText>>,
    right_child: Option<Box<NodeText>>,
}

/// Whether a file of JSON is such a dump: no other that we read has this key.
pub(super) fn is_dump(file: &[u8]) -> bool {
    has(file, b"\"tree_structure\"")
}

pub(super) fn read(file: &[u8], reading: &Reading<'_>) -> Result<Foreign, ImportError> {
    let dump: Dump = serde_json::from_slice(file).map_err(|error| ImportError::Wrong {
        at: "the file".to_owned(),
        problem: format!("is not LightGBM's JSON dump: {error}"),
    })?;
    for (field, found) in
        [("num_class", dump.num_class), ("num_tree_per_iteration", dump.num_tree_per_iteration)]
    {
        if found != 1 {
            let why = format!("is {found}; only forests of two classes are imported");
            return Err(ImportError::Refused { at: field.to_owned(), why });
        }
    }
    check_trees(dump.tree_info.len())?;
    let trees: Vec<Vec<Placed<'_>>> = dump.tree_info.iter().map(TreeText::nodes).collect();
    check_digits(trees.iter().flatten().filter_map(|placed| placed.node.number()))?;
    let features = dump.max_feature_idx.saturating_add(1);
    let objective = dump.objective.as_deref().unwrap_or("none");
    let decision = DropRule::parse(objective, reading.threshold)?;
    let decision = decision.averaged(dump.average_output, trees.len());
    let built = trees.iter().enumerate().map(|(at, tree)| build(at, tree, features));
    Ok(Foreign {
        producer: dump.version.map(|version| format!("lightgbm model {version}")),
        names: dump.feature_names,
        features,
        zero_elsewhere: 0,
        forest: ValueForest {
            trees: built.collect::<Result<_, _>>()?,
            base: 0.0,
            threshold: decision.threshold,
            sums: Values::F64,
            blur: decision.blur,
        },
    })
}

/// A node, and the places of its children if it has two.
struct Placed<'a> {
    node: &'a NodeText,
    children: Option<(usize, usize)>,
}

fn build(at: usize, nodes: &[Placed<'_>], features: usize) -> Result<ValueTree, ImportError> {
    ValueTree::build(at, 0, features, Values::F64, |place| {
        let Placed { node, children } = nodes.get(place).ok_or("is not there")?;
        if let Some(value) = node.leaf_value {
            return match node.leaf_coeff {
                None => Ok(ForeignNode::Leaf(Leaf::new(value))),
                Some(_) => Err("has a linear function, which integer trees do not".to_owned()),
            };
        }
        let feature = node.split_feature.ok_or("has neither a leaf_value nor a split_feature")?;
        let threshold = node.threshold.as_ref().and_then(serde_json::Value::as_f64);
        let (Some("<="), Some(threshold)) = (node.decision_type.as_deref(), threshold) else {
            return Err("splits on categories, which integer trees do not".to_owned());
        };
        let zero_is_missing = node.missing_type.as_deref() == Some("Zero");
        check_missing(zero_is_missing, node.default_left, threshold)?;
        let (left, right) = children.ok_or("is a split without two children")?;
        Ok(ForeignNode::Split { feature, threshold, comparison: Comparison::AtMost, left, right })
    })
}

impl TreeText {
    /// Its nodes, the root first.
    fn nodes(&self) -> Vec<Placed<'_>> {
        let mut nodes = vec![Placed { node: &self.tree_structure, children: None }];
        let mut at = 0;
        while let Some(Placed { node, .. }) = nodes.get(at) {
            if let (Some(left), Some(right)) = (&node.left_child, &node.right_child) {
                nodes[at].children = Some((nodes.len(), nodes.len() + 1));
                nodes.extend([left, right].map(|node| Placed { node, children: None }));
            }
            at += 1;
        }
        nodes
    }
}

impl NodeText {
    /// Its threshold, or its leaf's value.
    fn number(&self) -> Option<f64> {
        self.leaf_value.or_else(|| self.threshold.as_ref()?.as_f64())
    }
}
