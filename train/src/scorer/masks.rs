//! Trees as bits: one for each leaf.

use super::BLOCK_ROWS;
use crate::bin_masks::BinMasks;
use crate::bins::Bins;
use crate::{Node, Tree};
use std::ops::Range;

/// Words of a tree at most.
const MAX_WORDS: usize = 4;
/// Leaves of a tree at most.
pub(super) const MAX_LEAVES: usize = 64 * MAX_WORDS;

/// Trees whose leaves share a word of 64 bits, or one tree that needs several words.
#[derive(Debug)]
pub(super) struct TreeMasks {
    /// Which leaves are left, by word.
    words: Vec<BinMasks>,
    /// The first bit of each tree; more than one only where there is one word.
    first_bits: Vec<u32>,
    /// By bit, the weight of its leaf.
    weights: [u8; MAX_LEAVES],
}

impl TreeMasks {
    /// Puts trees of at most [`MAX_LEAVES`] leaves together, in order.
    pub(super) fn of_trees(trees: &[&Tree], bins: &[Bins]) -> Vec<Self> {
        let mut masks = Vec::new();
        let mut together: Vec<Leaves> = Vec::new();
        let mut bits = 0;
        for tree in trees {
            let leaves = Leaves::of(tree);
            if bits + leaves.weights.len() > 64 && !together.is_empty() {
                masks.push(TreeMasks::new(&std::mem::take(&mut together), bins));
                bits = 0;
            }
            bits += leaves.weights.len();
            together.push(leaves);
        }
        if !together.is_empty() {
            masks.push(TreeMasks::new(&together, bins));
        }
        masks
    }

    fn new(trees: &[Leaves], bins: &[Bins]) -> Self {
        let bits: usize = trees.iter().map(|tree| tree.weights.len()).sum();
        let mut masks = TreeMasks {
            words: vec![BinMasks::new(u64::MAX); bits.div_ceil(64)],
            first_bits: Vec::new(),
            weights: [0; MAX_LEAVES],
        };
        let mut first = 0;
        for tree in trees {
            let end = first + tree.weights.len();
            masks.first_bits.push(first as u32);
            masks.weights[first..end].copy_from_slice(&tree.weights);
            for test in &tree.tests {
                let edges = bins[test.feature].edges();
                let last_left = edges.partition_point(|&edge| edge < test.threshold);
                for leaf in test.left.clone() {
                    let bit = first + leaf;
                    masks.words[bit / 64].rule_out(bit % 64, test.feature, last_left + 1..256);
                }
            }
            first = end;
        }
        masks
    }

    /// Adds to the scores of at most [`BLOCK_ROWS`] rows.
    pub(super) fn add_scores(&self, columns: &[&[u8]], scores: &mut [u32]) {
        match &self.words[..] {
            [word] => {
                let mut left = [0; BLOCK_ROWS];
                let left = &mut left[..scores.len()];
                word.look_up(columns, left);
                self.add_of_word(left, scores);
            }
            words => self.add_of_words(words, columns, scores),
        }
    }

    fn add_of_words(&self, words: &[BinMasks], columns: &[&[u8]], scores: &mut [u32]) {
        let mut left = [[0; BLOCK_ROWS]; MAX_WORDS];
        for (word, left) in words.iter().zip(&mut left) {
            word.look_up(columns, &mut left[..scores.len()]);
        }
        for (row, score) in scores.iter_mut().enumerate() {
            let mut bit = 0;
            for word in (0..words.len()).rev() {
                let left = left[word][row];
                let here = 64 * word + left.trailing_zeros() as usize;
                bit = if left == 0 { bit } else { here };
            }
            *score += u32::from(self.weights[bit % MAX_LEAVES]);
        }
    }

    fn add_of_word(&self, left: &[u64], scores: &mut [u32]) {
        match self.first_bits[..] {
            [a, b, c, d] => self.add_of_trees([a, b, c, d], left, scores),
            [a, b] => self.add_of_trees([a, b], left, scores),
            _ => self.first_bits.iter().for_each(|&bit| self.add_of_trees([bit], left, scores)),
        }
    }

    fn add_of_trees<const N: usize>(&self, first: [u32; N], left: &[u64], scores: &mut [u32]) {
        let (weights, _) = self.weights.as_chunks::<64>();
        let weights = &weights[0];
        for (score, left) in scores.iter_mut().zip(left) {
            let weight = |first: u32| {
                // One leaf of the tree is left, so the first bit from its first on is one of its
                // own; the highest is set to say that there is one.
                let bit = first + (left >> first | 1 << 63).trailing_zeros();
                u32::from(weights[bit as usize % 64])
            };
            *score += first.into_iter().map(weight).fold(0, u32::wrapping_add);
        }
    }
}

/// A tree as its leaves from left to right, and its tests.
struct Leaves {
    weights: Vec<u8>,
    tests: Vec<Test>,
}

/// Values of `feature` above `threshold` rule out the leaves in `left`.
struct Test {
    feature: usize,
    threshold: u32,
    left: Range<usize>,
}

impl Leaves {
    fn of(tree: &Tree) -> Self {
        let mut leaves = Leaves { weights: Vec::new(), tests: Vec::new() };
        leaves.walk(tree, 0);
        leaves
    }

    fn walk(&mut self, tree: &Tree, node: usize) {
        match tree.nodes[node] {
            Node::Leaf { weight } => self.weights.push(weight),
            Node::Split { feature, threshold, left, right } => {
                let from = self.weights.len();
                self.walk(tree, left as usize);
                let left = from..self.weights.len();
                self.tests.push(Test { feature: usize::from(feature), threshold, left });
                self.walk(tree, right as usize);
            }
        }
    }
}
