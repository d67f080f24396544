//! A forest as match-action tables.

use super::code::{Code, Ternary};
use super::prefixes::{PrefixEntry, disjoint_prefixes};
use std::ops::RangeInclusive;

/// A forest as match-action tables.
///
/// One table for each feature maps its value to codes: for each tree that asks for the feature, one
/// bit for each of the *tree's* thresholds, 1 if the value is above it (bit 0: the smallest
/// threshold). One table for each tree matches the codes of its features with ternary patterns, one
/// for each leaf, and gives the leaf's weight. The weights are added up; a drop is predicted if and
/// only if the sum is larger than the vote threshold.
///
/// Codes are each tree's own, so that a tree matches only bits that it needs; a value is still
/// looked up once, because the tables of features are shared: all codes of a feature are data of
/// one action.
///
/// Trees are pruned first (leaves that no row reaches, splits between equal weights), which changes
/// no row's score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// One for each feature that some tree needs, in the order of a row.
    pub features: Vec<FeatureTable>,
    /// One for each tree, in the forest's order.
    pub trees: Vec<TreeTable>,
    /// A drop is predicted if and only if the sum of weights is larger.
    pub vote_threshold: u32,
}

/// Maps the values of a feature to ranges, and so to codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureTable {
    /// Which value of a row, from 0.
    pub column: usize,
    /// The feature's name.
    pub name: String,
    /// The different thresholds of all trees, rising, at least one. Range `r` has the values above
    /// exactly `r` of them, so there is one range more.
    pub thresholds: Vec<u32>,
    /// The trees that need the feature, rising: the action writes one code for each.
    pub trees: Vec<usize>,
    /// The ranges as the fewest prefixes, longer ones win.
    pub prefixes: Vec<PrefixEntry>,
}

/// Maps the codes of a tree's features to the weight of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeTable {
    /// What is matched: a code for each feature that the tree needs, in the order of a row. None if
    /// the tree has the same weight for every row.
    pub keys: Vec<CodeKey>,
    /// One for each leaf, left to right; no row matches two.
    pub leaves: Vec<LeafEntry>,
}

/// The code of a feature for one tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeKey {
    /// Which value of a row, from 0.
    pub column: usize,
    /// The tree's thresholds of the feature, rising, at least one; bit `i` of the code says whether
    /// the value is above threshold `i`.
    pub thresholds: Vec<u32>,
}

/// The rows that end in a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafEntry {
    /// For each key of the tree, how many of the key's thresholds the value may be above.
    pub ranks: Vec<RangeInclusive<usize>>,
    /// What the leaf weighs.
    pub weight: u8,
}

impl Tables {
    /// The trees whose weight depends on the row: those that have a table.
    pub(crate) fn trees_with_tables(&self) -> Vec<usize> {
        let trees = 0..self.trees.len();
        trees.filter(|&tree| self.trees[tree].constant().is_none()).collect()
    }

    /// The sum of the weights of trees that are the same for every row, which need no table.
    pub fn constant_score(&self) -> u32 {
        self.trees.iter().filter_map(TreeTable::constant).map(u32::from).sum()
    }

    /// The largest sum of weights that leaves could add up to.
    pub fn max_score(&self) -> u32 {
        let heaviest = |tree: &TreeTable| tree.leaves.iter().map(|leaf| leaf.weight).max();
        self.trees.iter().filter_map(heaviest).map(u32::from).sum()
    }

    /// The key of `tree` for the feature in `column`, if the tree needs it.
    pub fn key(&self, tree: usize, column: usize) -> Option<&CodeKey> {
        self.trees.get(tree)?.keys.iter().find(|key| key.column == column)
    }

    /// The codes that an entry of `feature` writes: for each of its trees, what the values of
    /// `range` are to it.
    pub fn codes(&self, feature: &FeatureTable, range: usize) -> Vec<Code> {
        let value = *feature.bounds(range).start();
        let keys = feature.trees.iter().filter_map(|&tree| self.key(tree, feature.column));
        keys.map(|key| key.code(value)).collect()
    }
}

impl FeatureTable {
    /// The values of a range; `range` is at most the number of thresholds.
    pub fn bounds(&self, range: usize) -> RangeInclusive<u32> {
        let low = range.checked_sub(1).map_or(0, |below| self.thresholds[below] + 1);
        let high = self.thresholds.get(range).copied().unwrap_or(u32::MAX);
        low..=high
    }

    /// The ranges as prefixes the naive way: each by itself, none within another.
    pub fn disjoint_prefixes(&self) -> Vec<PrefixEntry> {
        disjoint_prefixes(&self.thresholds)
    }
}

impl TreeTable {
    /// The weight of every row, if all have the same.
    pub fn constant(&self) -> Option<u8> {
        match self.leaves.as_slice() {
            [leaf] => Some(leaf.weight),
            _ => None,
        }
    }

    /// The patterns of a leaf, one for each key.
    pub fn patterns(&self, leaf: &LeafEntry) -> Vec<Ternary> {
        let pattern = |(key, ranks): (&CodeKey, &RangeInclusive<usize>)| {
            Ternary::of_ranks(*ranks.start(), *ranks.end(), key.width())
        };
        self.keys.iter().zip(&leaf.ranks).map(pattern).collect()
    }
}

impl CodeKey {
    /// Bits of the code.
    pub fn width(&self) -> usize {
        self.thresholds.len()
    }

    /// The code of a value.
    pub fn code(&self, value: u32) -> Code {
        let rank = self.thresholds.partition_point(|&threshold| value > threshold);
        Code::of_rank(rank, self.width())
    }
}
