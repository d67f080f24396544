//! What a forest costs is the sum of what its parts cost.
#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, Node, Tree};
use dropcast_pipeline::table_cost::TableCost;
use dropcast_train::{ForestCost, Resource, TreeOutline};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A full tree of depth 2 whose leaves differ and are all reached: the sides of its root look at
/// other features than the root.
fn tree(thresholds: [u32; 3]) -> Tree {
    let split = |feature, at: usize, left, right| Node::Split {
        feature,
        threshold: thresholds[at],
        left,
        right,
    };
    let leaf = |weight| Node::Leaf { weight };
    let nodes = vec![
        split(0, 0, 1, 2),
        split(1, 1, 3, 4),
        split(2, 2, 5, 6),
        leaf(1),
        leaf(2),
        leaf(3),
        leaf(4),
    ];
    Tree { nodes }
}

/// The cost of `forest` from its trees and from the thresholds of each feature.
fn sum_of_parts(forest: &Forest, cost: &TableCost, resource: Resource) -> Option<u64> {
    let mut thresholds = vec![BTreeSet::new(); forest.features.len()];
    let mut sum = 0;
    for tree in &forest.trees {
        let (mut leaves, mut own) = (0, BTreeSet::new());
        for node in &tree.nodes {
            match *node {
                Node::Leaf { .. } => leaves += 1,
                Node::Split { feature, threshold, .. } => {
                    own.insert((feature, threshold));
                    thresholds[usize::from(feature)].insert(threshold);
                }
            }
        }
        sum += cost.tree_cost(TreeOutline { leaves, thresholds: own.len() as u64 }, resource)?;
    }
    for thresholds in thresholds.iter().filter(|thresholds| !thresholds.is_empty()) {
        let sorted: Vec<u32> = thresholds.iter().copied().collect();
        sum += cost.thresholds_cost(&sorted, resource)?;
    }
    Some(sum)
}

proptest! {
    #[test]
    fn the_parts_of_a_cost_add_up(
        trees in prop::collection::vec(prop::array::uniform3(0_u32..40), 1..6),
        has_single_leaf in any::<bool>(),
    ) {
        let features: FeatureSet = "queue_length,occupancy,rank".parse().unwrap();
        let mut trees: Vec<Tree> = trees.into_iter().map(tree).collect();
        if has_single_leaf {
            trees.push(Tree { nodes: vec![Node::Leaf { weight: 7 }] });
        }
        let forest = Forest { features: features.names(), vote_threshold: 3, trees };
        let cost = TableCost::new(&features);
        for &resource in Resource::ALL {
            let parts = sum_of_parts(&forest, &cost, resource);
            let is_sum = !matches!(
                resource,
                Resource::DctBytes | Resource::LoadedEntries | Resource::Stages
            );
            prop_assert_eq!(parts.is_some(), is_sum, "{:?}", resource);
            if is_sum {
                prop_assert_eq!(cost.cost(&forest, resource), parts, "{:?}", resource);
            }
        }
    }
}
