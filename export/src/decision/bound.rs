//! When a forest of levels cannot predict a drop, whatever the other queues are.

use crate::checked::Checked;
use dropcast_forest::{Node, Tree};
use dropcast_runtime::keeps;

/// The largest `U` such that the forest predicts no drop where all its levels are at most `U`; `None` if
/// there is none.
///
/// A level sums at most the length of the packet's queue over the queues that are not empty. So it is at
/// most their number times that length, and often that already rules out a predicted drop.
pub(crate) fn harmless_level(model: &Checked<'_>) -> Option<u32> {
    let is_level: Vec<bool> =
        model.origin.columns.iter().map(|of| keeps(of.code).is_some_and(|of| of.level)).collect();
    if !is_level.contains(&true) {
        return None;
    }
    let splits = model.forest.trees.iter().flat_map(|tree| &tree.nodes);
    let mut candidates: Vec<u32> = splits
        .filter_map(|node| match *node {
            Node::Split { feature, threshold, .. } => {
                is_level[feature as usize].then_some(threshold)
            }
            Node::Leaf { .. } => None,
        })
        .chain([0, u32::MAX])
        .collect();
    candidates.sort_unstable();
    let predicts_none = |&limit: &u32| {
        let most = |tree| u64::from(most_weight(tree, 0, &is_level, limit));
        let score: u64 = model.forest.trees.iter().map(most).sum();
        score <= u64::from(model.forest.vote_threshold)
    };
    // A higher limit allows more leaves.
    candidates.into_iter().take_while(predicts_none).last()
}

/// The largest weight of the leaves below `node` that rows reach whose levels are at most `limit`.
fn most_weight(tree: &Tree, node: u32, is_level: &[bool], limit: u32) -> u8 {
    match tree.nodes[node as usize] {
        Node::Leaf { weight } => weight,
        Node::Split { feature, threshold, left, right } => {
            let below = most_weight(tree, left, is_level, limit);
            if is_level[feature as usize] && limit <= threshold {
                return below;
            }
            below.max(most_weight(tree, right, is_level, limit))
        }
    }
}
