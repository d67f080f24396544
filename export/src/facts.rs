//! A forest's sizes, independent of the target.

use crate::checked::Checked;
use crate::{ExportError, Origin};
use dropcast_forest::{Forest, Node};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A forest's sizes, independent of the target. Logical sizes only, before a device's compiler
/// places them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Trees.
    pub trees: usize,
    /// Levels of splits of the deepest tree.
    pub depth: usize,
    /// Splits of all trees, as trained.
    pub splits: usize,
    /// Leaves of all trees, as trained.
    pub leaves: usize,
    /// Splits of all trees if each is filled up to `depth`.
    pub complete_splits: usize,
    /// Bytes of the `.dct` table.
    pub dct_bytes: usize,
    /// The largest score that weights of these leaves could add up to.
    pub max_score: u32,
    /// Number of distinct thresholds of each feature, in the order of a row: the cost of a
    /// dataplane that encodes ranges.
    pub thresholds: Vec<FeatureThresholds>,
}

/// How many different thresholds one feature is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureThresholds {
    /// Name of the feature.
    pub feature: String,
    /// Different thresholds, all trees taken together.
    pub distinct: usize,
}

impl Facts {
    /// Counts.
    ///
    /// # Errors
    /// If the forest cannot be exported.
    pub fn new(forest: &Forest, origin: &Origin) -> Result<Self, ExportError> {
        let layout = Checked::new(forest, origin)?.complete.layout;
        let nodes = || forest.trees.iter().flat_map(|tree| &tree.nodes);
        let splits = nodes().filter(|node| matches!(node, Node::Split { .. })).count();
        let heaviest = |nodes: &[Node]| nodes.iter().map(weight).max().unwrap_or(0);
        Ok(Facts {
            trees: forest.trees.len(),
            depth: forest.depth(),
            splits,
            leaves: nodes().count() - splits,
            complete_splits: forest.trees.len() * layout.splits_per_tree(),
            dct_bytes: layout.total_bytes(),
            max_score: forest.trees.iter().map(|tree| heaviest(&tree.nodes)).sum(),
            thresholds: thresholds_by_feature(forest)
                .into_iter()
                .zip(&forest.features)
                .map(|(set, name)| FeatureThresholds { feature: name.clone(), distinct: set.len() })
                .collect(),
        })
    }
}

/// The distinct thresholds of each feature of a checked forest.
pub(crate) fn thresholds_by_feature(forest: &Forest) -> Vec<BTreeSet<u32>> {
    let mut sets = vec![BTreeSet::new(); forest.features.len()];
    for node in forest.trees.iter().flat_map(|tree| &tree.nodes) {
        if let Node::Split { feature, threshold, .. } = *node {
            sets[usize::from(feature)].insert(threshold);
        }
    }
    sets
}

fn weight(node: &Node) -> u32 {
    match *node {
        Node::Leaf { weight } => u32::from(weight),
        Node::Split { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_features::FeatureSet;
    use dropcast_forest::Tree;

    #[test]
    fn a_small_forest_is_counted() {
        let leaf = |weight| Node::Leaf { weight };
        let split =
            |feature, threshold, left, right| Node::Split { feature, threshold, left, right };
        let deep = vec![split(0, 7, 1, 2), leaf(3), split(0, 9, 3, 4), leaf(40), leaf(5)];
        let stump = vec![split(0, 7, 1, 2), leaf(250), leaf(0)];
        let forest = Forest {
            features: FeatureSet::paper4().names(),
            vote_threshold: 30,
            trees: vec![Tree { nodes: deep }, Tree { nodes: stump }],
        };
        let origin = Origin::new("m", &"0".repeat(64), &FeatureSet::paper4());
        let facts = Facts::new(&forest, &origin).expect("valid");
        assert_eq!((facts.trees, facts.depth, facts.splits, facts.leaves), (2, 2, 3, 5));
        assert_eq!((facts.complete_splits, facts.max_score), (6, 290));
        assert_eq!(facts.dct_bytes, 28 + 6 * 5 + 8 + 4);
        let distinct: Vec<usize> = facts.thresholds.iter().map(|of| of.distinct).collect();
        assert_eq!(distinct, [2, 0, 0, 0]);
    }
}
