//! Scores many rows, given as columns, with a forest.
//!
//! After QuickScorer (Lucchese et al., QuickScorer: a fast algorithm to rank documents with
//! additive ensembles of regression trees, SIGIR 2015): each leaf has a bit, and a test that sends
//! a row right rules out the leaves to its left; the first remaining leaf is the row's. The leaves
//! that all tests of a feature rule out depend only on the feature's bin and are looked up, so a
//! row costs one look-up per feature and one per tree, without branches.

mod leaf_words;

use crate::binning::{BLOCK_ROWS, Bins};
use crate::{Forest, Node, Tree};
use leaf_words::LeafWord;
use std::collections::BTreeSet;

/// A sound forest ([`Forest::check`]), laid out to score many rows.
///
/// ```
/// use dropcast_forest::{Forest, ForestScorer, Node, Tree};
///
/// let nodes = vec![
///     Node::Split { feature: 0, threshold: 20, left: 1, right: 2 },
///     Node::Leaf { weight: 3 },
///     Node::Leaf { weight: 250 },
/// ];
/// let forest = Forest {
///     features: vec!["queue_length".to_owned()],
///     vote_threshold: 127,
///     trees: vec![Tree { nodes }],
/// };
/// let scorer = ForestScorer::new(&forest);
/// assert_eq!(scorer.score_columns(&[vec![20, 21, 0]]), [3, 250, 3]);
/// ```
#[derive(Debug)]
pub struct ForestScorer {
    parts: Vec<BinnedForest>,
    /// Trees with too many leaves for the masks.
    large: Vec<Tree>,
}

/// Trees with few enough thresholds in each feature to score bins instead of values.
#[derive(Debug)]
pub struct BinnedForest {
    bins: Vec<Bins>,
    trees: Vec<LeafWord>,
}

impl ForestScorer {
    /// Lays out `forest`.
    pub fn new(forest: &Forest) -> Self {
        let features = forest.features.len();
        let (fitting, large): (Vec<&Tree>, Vec<&Tree>) =
            forest.trees.iter().partition(|tree| leaves(tree) <= leaf_words::MAX_LEAVES);
        let mut parts = Vec::new();
        let mut part = PartTrees::new(features);
        for tree in fitting {
            if !part.take(tree) {
                parts.push(part.finish());
                part = PartTrees::new(features);
                part.take(tree);
            }
        }
        if !part.trees.is_empty() {
            parts.push(part.finish());
        }
        ForestScorer { parts, large: large.into_iter().cloned().collect() }
    }

    /// Scores of rows whose values are in `columns`, one per feature of the forest, all of the same
    /// length.
    ///
    /// # Panics
    /// If there are fewer columns than features, or one is shorter than the first.
    pub fn score_columns<C: AsRef<[u32]>>(&self, columns: &[C]) -> Vec<u32> {
        let columns: Vec<&[u32]> = columns.iter().map(AsRef::as_ref).collect();
        let rows = columns.first().map_or(0, |column| column.len());
        let mut scores = vec![0; rows];
        let mut bins = Vec::new();
        for (nth, scores) in scores.chunks_mut(BLOCK_ROWS).enumerate() {
            let from = nth * BLOCK_ROWS;
            let rows = scores.len();
            let values: Vec<&[u32]> =
                columns.iter().map(|column| &column[from..][..rows]).collect();
            for part in &self.parts {
                bins.resize(values.len(), Vec::new());
                for ((bins, values), of) in bins.iter_mut().zip(&values).zip(&part.bins) {
                    of.bin_all(values, bins);
                }
                part.add_scores(&bins, scores);
            }
            for tree in &self.large {
                add_one_by_one(tree, &values, scores);
            }
        }
        scores
    }

    /// The forest on bins, if it has at most 255 thresholds in each feature and 256 leaves in each
    /// tree.
    pub fn binned(&self) -> Option<&BinnedForest> {
        match &self.parts[..] {
            [all] if self.large.is_empty() => Some(all),
            _ => None,
        }
    }
}

impl BinnedForest {
    /// The bins of values of `feature`: how many of its thresholds lie below.
    ///
    /// # Panics
    /// If the forest has no such feature.
    pub fn bin(&self, feature: usize, values: &[u32]) -> Vec<u8> {
        let mut bins = Vec::with_capacity(values.len());
        self.bins[feature].bin_all(values, &mut bins);
        bins
    }

    /// Scores of rows whose bins are in `columns`, one per feature, all of the same length.
    ///
    /// # Panics
    /// If there are fewer columns than features, or one is shorter than the first.
    pub fn score_columns<C: AsRef<[u8]>>(&self, columns: &[C]) -> Vec<u32> {
        let columns: Vec<&[u8]> = columns.iter().map(AsRef::as_ref).collect();
        let mut scores = vec![0; columns.first().map_or(0, |column| column.len())];
        for (nth, scores) in scores.chunks_mut(BLOCK_ROWS).enumerate() {
            let rows = nth * BLOCK_ROWS..nth * BLOCK_ROWS + scores.len();
            let block: Vec<&[u8]> = columns.iter().map(|column| &column[rows.clone()]).collect();
            self.add_scores(&block, scores);
        }
        scores
    }

    /// Trees of at most 256 leaves; each threshold is an edge of its feature's bins.
    pub fn new(trees: &[Tree], bins: Vec<Bins>) -> Self {
        let trees: Vec<&Tree> = trees.iter().collect();
        BinnedForest { trees: LeafWord::of_trees(&trees, &bins), bins }
    }

    /// Adds to the scores of at most [`BLOCK_ROWS`] rows.
    pub fn add_scores<C: AsRef<[u8]>>(&self, columns: &[C], scores: &mut [u32]) {
        let columns: Vec<&[u8]> = columns.iter().map(AsRef::as_ref).collect();
        self.trees.iter().for_each(|trees| trees.add_scores(&columns, scores));
    }
}

fn leaves(tree: &Tree) -> usize {
    tree.nodes.iter().filter(|node| matches!(node, Node::Leaf { .. })).count()
}

fn add_one_by_one(tree: &Tree, columns: &[&[u32]], scores: &mut [u32]) {
    let mut row = vec![0; columns.len()];
    for (at, score) in scores.iter_mut().enumerate() {
        row.iter_mut().zip(columns).for_each(|(value, column)| *value = column[at]);
        *score += u32::from(tree.weight(&row));
    }
}

/// Trees collected until a feature has too many thresholds.
struct PartTrees<'a> {
    trees: Vec<&'a Tree>,
    /// By feature.
    thresholds: Vec<BTreeSet<u32>>,
}

impl<'a> PartTrees<'a> {
    fn new(features: usize) -> Self {
        PartTrees { trees: Vec::new(), thresholds: vec![BTreeSet::new(); features] }
    }

    /// Adds a tree, unless a feature would then have more thresholds than bins.
    fn take(&mut self, tree: &'a Tree) -> bool {
        let mut thresholds = self.thresholds.clone();
        for node in &tree.nodes {
            if let Node::Split { feature, threshold, .. } = *node {
                thresholds[usize::from(feature)].insert(threshold);
            }
        }
        let fits = thresholds.iter().all(|of| of.len() <= usize::from(u8::MAX));
        if fits {
            self.thresholds = thresholds;
            self.trees.push(tree);
        }
        fits
    }

    fn finish(self) -> BinnedForest {
        let bins: Vec<Bins> =
            self.thresholds.into_iter().map(|of| Bins::new(of.into_iter().collect())).collect();
        BinnedForest { trees: LeafWord::of_trees(&self.trees, &bins), bins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A tree of any shape: which leaf is split next, on which feature and where.
    fn tree(splits: &[(u16, u16, u32)], weights: &mut impl Iterator<Item = u8>) -> Tree {
        let mut leaf = || Node::Leaf { weight: weights.next().unwrap_or(7) };
        let mut nodes = vec![leaf()];
        for &(which, feature, threshold) in splits {
            let leaves: Vec<usize> =
                (0..nodes.len()).filter(|&at| matches!(nodes[at], Node::Leaf { .. })).collect();
            let at = leaves[usize::from(which) % leaves.len()];
            let left = nodes.len() as u32;
            nodes[at] = Node::Split { feature, threshold, left, right: left + 1 };
            nodes.extend([leaf(), leaf()]);
        }
        Tree { nodes }
    }

    fn forests(most_splits: usize) -> impl Strategy<Value = Forest> {
        let split = (any::<u16>(), 0_u16..6, prop_oneof![0_u32..40, 0_u32..1_000_000]);
        let trees = prop::collection::vec(prop::collection::vec(split, 0..most_splits), 1..7);
        (trees, prop::collection::vec(any::<u8>(), 200)).prop_map(|(trees, weights)| {
            let mut weights = weights.into_iter().cycle();
            Forest {
                features: (0..6).map(|at| at.to_string()).collect(),
                vote_threshold: 0,
                trees: trees.iter().map(|splits| tree(splits, &mut weights)).collect(),
            }
        })
    }

    fn columns() -> impl Strategy<Value = Vec<Vec<u32>>> {
        let value = prop_oneof![0_u32..45, 0_u32..1_100_000, any::<u32>()];
        prop::collection::vec(prop::collection::vec(value, 50), 6)
    }

    fn check(forest: &Forest, columns: &[Vec<u32>]) {
        let row = |at: usize| columns.iter().map(|column| column[at]).collect::<Vec<u32>>();
        let expected: Vec<u32> = (0..columns[0].len()).map(|at| forest.score(&row(at))).collect();
        let scorer = ForestScorer::new(forest);
        assert_eq!(scorer.score_columns(columns), expected);
        if let Some(binned) = scorer.binned() {
            let bins: Vec<Vec<u8>> =
                columns.iter().enumerate().map(|(at, values)| binned.bin(at, values)).collect();
            assert_eq!(binned.score_columns(&bins), expected);
        }
    }

    proptest! {
        #[test]
        fn columns_score_as_rows_do(forest in forests(40), columns in columns()) {
            check(&forest, &columns);
        }

        #[test]
        fn so_they_do_in_large_trees(forest in forests(700), columns in columns()) {
            check(&forest, &columns);
        }
    }

    #[test]
    fn rows_of_several_blocks_and_none_are_scored() {
        let mut weights = (0..=u8::MAX).cycle();
        let splits: Vec<(u16, u16, u32)> =
            (0..63).map(|at| (at * 7, at % 2, 50 * u32::from(at))).collect();
        let forest = Forest {
            features: vec!["a".to_owned(), "b".to_owned()],
            vote_threshold: 0,
            trees: vec![tree(&splits, &mut weights), tree(&splits[..5], &mut weights)],
        };
        let column = |factor: u32| (0..3000).map(|row| row * factor % 3331).collect::<Vec<u32>>();
        check(&forest, &[column(17), column(91)]);
        assert_eq!(ForestScorer::new(&forest).score_columns(&[vec![], vec![]]), [0; 0]);
    }
}
