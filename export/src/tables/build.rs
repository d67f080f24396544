//! From a forest to its tables.

use super::prune::Pruned;
use super::{CodeKey, FeatureTable, LeafEntry, Tables, TreeTable, minimal_prefixes};
use crate::ExportError;
use crate::checked::check_forest;
use dropcast_forest::Forest;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

impl Tables {
    /// The tables of a forest.
    ///
    /// # Errors
    /// If the forest is not sound.
    pub fn new(forest: &Forest) -> Result<Self, ExportError> {
        check_forest(forest)?;
        let columns = forest.features.len();
        let trees =
            forest.trees.iter().map(|tree| tree_table(&Pruned::new(tree, columns), columns));
        let trees: Vec<TreeTable> = trees.collect();
        let features = (0..columns)
            .filter_map(|column| feature_table(column, forest.features[column].clone(), &trees));
        Ok(Tables { features: features.collect(), trees, vote_threshold: forest.vote_threshold })
    }
}

/// The table of a feature, if any tree needs it.
fn feature_table(column: usize, name: String, trees: &[TreeTable]) -> Option<FeatureTable> {
    let key_of = |tree: &TreeTable| tree.keys.iter().find(|key| key.column == column).cloned();
    let keys: Vec<(usize, CodeKey)> =
        trees.iter().enumerate().filter_map(|(at, tree)| Some((at, key_of(tree)?))).collect();
    let thresholds: BTreeSet<u32> =
        keys.iter().flat_map(|(_, key)| key.thresholds.iter().copied()).collect();
    let thresholds: Vec<u32> = thresholds.into_iter().collect();
    (!thresholds.is_empty()).then(|| FeatureTable {
        column,
        name,
        prefixes: minimal_prefixes(&thresholds),
        thresholds,
        trees: keys.into_iter().map(|(tree, _)| tree).collect(),
    })
}

fn tree_table(tree: &Pruned, columns: usize) -> TreeTable {
    let mut thresholds = vec![BTreeSet::new(); columns];
    tree.each_split(&mut |feature, threshold| {
        thresholds[feature].insert(threshold);
    });
    let key = |(column, set): (usize, BTreeSet<u32>)| {
        (!set.is_empty()).then(|| CodeKey { column, thresholds: set.into_iter().collect() })
    };
    let keys: Vec<CodeKey> = thresholds.into_iter().enumerate().filter_map(key).collect();
    let anything = keys.iter().map(|key| 0..=key.width()).collect();
    let mut leaves = Vec::new();
    collect_leaves(tree, &keys, anything, &mut leaves);
    TreeTable { keys, leaves }
}

/// Adds the leaves of a subtree that rows within `ranks` reach.
fn collect_leaves(
    tree: &Pruned,
    keys: &[CodeKey],
    ranks: Vec<RangeInclusive<usize>>,
    into: &mut Vec<LeafEntry>,
) {
    let (feature, threshold, halves) = match tree {
        Pruned::Leaf { weight } => return into.push(LeafEntry { ranks, weight: *weight }),
        Pruned::Split { feature, threshold, halves } => (*feature, *threshold, halves),
    };
    // The keys come from the tree's splits, so both searches succeed.
    let key = keys.partition_point(|key| key.column < feature);
    let below = keys[key].thresholds.partition_point(|&other| other < threshold);
    let (mut left, mut right) = (ranks.clone(), ranks);
    left[key] = *left[key].start()..=below;
    right[key] = below + 1..=*right[key].end();
    collect_leaves(&halves[0], keys, left, into);
    collect_leaves(&halves[1], keys, right, into);
}
