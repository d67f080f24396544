//! The exact share of drops in each leaf, where a forest's weights have it in 255ths.

use dropcast_forest::{Forest, ForestScorer, LeafRows, Tree};
use serde::{Deserialize, Serialize};

/// The trees of a forest as they grew, and the share of drops in each leaf.
///
/// Where few rows are drops, most shares are below 1/510: their weights are 0, and the forest merges their leaves. These
/// still order rows by how likely a drop is. Decisions take the forest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeafShares(pub(crate) Vec<GrownTree>);

/// A tree whose leaves of equal weight were not merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrownTree {
    /// The weight of a leaf is its number, from 0 on in the order of nodes.
    pub(crate) tree: Tree,
    /// By leaf, the share of drops among the rows that were drawn, class weights applied; 0 without rows.
    pub(crate) shares: Vec<f64>,
}

impl LeafShares {
    /// Those of trees whose leaves' weights are their numbers, and the rows of each leaf; a row counts as much as the weight
    /// of its class, accepted or dropped.
    pub(crate) fn new(
        trees: impl Iterator<Item = (Tree, Vec<LeafRows>)>,
        [accept, drop]: [f64; 2],
    ) -> Self {
        let share = |leaf: &LeafRows| {
            let drops = leaf.drops as f64 * drop;
            if drops == 0.0 {
                0.0
            } else {
                drops / ((leaf.rows - leaf.drops) as f64 * accept + drops)
            }
        };
        let grown = |(tree, leaves): (Tree, Vec<LeafRows>)| GrownTree {
            tree,
            shares: leaves.iter().map(share).collect(),
        };
        LeafShares(trees.map(grown).collect())
    }

    /// The mean over the trees of the share of drops in the leaf of each row. The rows' values are in `columns`, one per
    /// feature of the forest, all of the same length.
    ///
    /// # Panics
    /// If there are fewer columns than features, or one is shorter than the first.
    pub fn means<C: AsRef<[u32]>>(&self, columns: &[C]) -> Vec<f64> {
        let mut means = vec![0.0; columns.first().map_or(0, |column| column.as_ref().len())];
        for GrownTree { tree, shares } in &self.0 {
            let features = (0..columns.len()).map(|column| column.to_string()).collect();
            let alone = Forest { features, vote_threshold: 0, trees: vec![tree.clone()] };
            let leaves = ForestScorer::new(&alone).score_columns(columns);
            means.iter_mut().zip(leaves).for_each(|(sum, leaf)| *sum += shares[leaf as usize]);
        }
        means.iter_mut().for_each(|sum| *sum /= self.0.len() as f64);
        means
    }
}
