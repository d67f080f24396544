//! XGBoost's dumps, as `Booster.dump_model` writes them: trees without the score that all rows begin
//! with and without the objective. As JSON (`dump_format="json"`) they are a list of nested trees.

use super::foreign::{Foreign, Reading, check_trees};
use super::printed::check_digits;
use super::xgboost_node::NodeText;
use super::xgboost_text;
use crate::ImportError;
use crate::threshold::Values;
use crate::values::{ValueForest, ValueTree};
use dropcast_features::FeatureSet;
use std::collections::BTreeMap;

/// Whether a file is a dump, by its beginning.
pub(super) fn is_dump(file: &[u8]) -> bool {
    is_list(file) || is_text(file)
}

fn is_list(file: &[u8]) -> bool {
    file.trim_ascii_start().starts_with(b"[")
}

/// Whether a file is a text dump, by its beginning.
pub(super) fn is_text(file: &[u8]) -> bool {
    file.trim_ascii_start().starts_with(b"booster[")
}

pub(super) fn read(file: &[u8], reading: &Reading<'_>) -> Result<Foreign, ImportError> {
    let wrong = |at: String, problem| ImportError::Wrong { at, problem };
    let trees = if is_list(file) {
        nested(file).map_err(|error| {
            wrong("the file".to_owned(), format!("is not XGBoost's JSON dump: {error}"))
        })?
    } else {
        xgboost_text::read(file).map_err(|(at, problem)| wrong(at, problem))?
    };
    check_trees(trees.len())?;
    let Some(threshold) = reading.threshold else {
        let why = "holds neither the score that rows begin with (base_score) nor the objective; give the sum of leaves above which a packet is dropped, which for binary:logistic is ln((1 - base_score) / base_score), or import what save_model wrote";
        return Err(ImportError::Refused { at: "a dump".to_owned(), why: why.to_owned() });
    };
    let Some(features) = reading.features else {
        let problem = "a dump does not list its columns; give their names in order";
        return Err(ImportError::Features(problem.to_owned()));
    };
    check_digits(trees.iter().flatten().filter_map(NodeText::number))?;
    let zero_elsewhere = trees.iter().flatten().filter(|node| node.sends_zero_elsewhere()).count();
    let trees = trees.iter().enumerate().map(|(at, tree)| build(at, tree, features));
    Ok(Foreign {
        producer: Some("xgboost".to_owned()),
        names: Vec::new(),
        features: features.len(),
        zero_elsewhere,
        forest: ValueForest {
            trees: trees.collect::<Result<_, _>>()?,
            base: 0.0,
            threshold,
            sums: Values::F32,
            blur: 0.0,
        },
    })
}

/// The nodes of every tree of the JSON dump, roots first.
fn nested(file: &[u8]) -> Result<Vec<Vec<NodeText>>, serde_json::Error> {
    let roots: Vec<NodeText> = serde_json::from_slice(file)?;
    let flat = |root: NodeText| {
        let (mut open, mut nodes) = (vec![root], Vec::new());
        while let Some(mut node) = open.pop() {
            open.append(&mut node.children);
            nodes.push(node);
        }
        nodes
    };
    Ok(roots.into_iter().map(flat).collect())
}

fn build(at: usize, tree: &[NodeText], features: &FeatureSet) -> Result<ValueTree, ImportError> {
    let mut nodes = BTreeMap::new();
    for node in tree {
        if nodes.insert(node.nodeid, node).is_some() {
            let problem = format!("has two nodes with number {}", node.nodeid);
            return Err(ImportError::Wrong { at: format!("tree {at}"), problem });
        }
    }
    let root = tree.first().map_or(0, |root| root.nodeid);
    ValueTree::build(at, root, features.len(), Values::F32, |node| {
        nodes.get(&node).ok_or("is not there".to_owned())?.read(features)
    })
}
