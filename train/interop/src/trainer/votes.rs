//! Trees that vote, as our trees.

use crate::threshold::Values;
use crate::values::{ForeignNode, ValueTree};
use dropcast_forest::Tree;

/// The tree whose nodes are numbered from 0, the root; leaves are 1 for a drop and 0.
pub(super) fn voting_tree(nodes: &[ForeignNode], features: usize) -> Result<Tree, String> {
    let node = |at: usize| nodes.get(at).copied().ok_or_else(|| "is not there".to_owned());
    let tree =
        ValueTree::build(0, 0, features, Values::F64, node).map_err(|error| error.to_string())?;
    let weights: Vec<u8> =
        tree.leaves.iter().map(|leaf| if leaf.value > 0.5 { 255 } else { 0 }).collect();
    Ok(tree.with_weights(&weights))
}
