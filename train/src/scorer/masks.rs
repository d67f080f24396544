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
    /// Of the first word, the bits whose leaves weigh something.
    heavy: u64,
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
            heavy: 0,
        };
        let mut first = 0;
        for tree in trees {
            let end = first + tree.weights.len();
            masks.first_bits.push(first as u32);
            masks.weights[first..end].copy_from_slice(&tree.weights);
            for test in &tree.tests {
                let edges = bins[test.feature].edges();
                let last_left = edges.partition_point(|&edge| edge < test.threshold);
                let mut rule_out = |leaves: &Range<usize>, bins: Range<usize>| {
                    for bit in leaves.clone().map(|leaf| first + leaf) {
                        masks.words[bit / 64].rule_out(bit % 64, test.feature, bins.clone());
                    }
                };
                rule_out(&test.left, last_left + 1..256);
                rule_out(&test.right, 0..last_left + 1);
            }
            first = end;
        }
        for (bit, _) in masks.weights[..64].iter().enumerate().filter(|&(_, &weight)| weight > 0) {
            masks.heavy |= 1 << bit;
        }
        masks
    }

    /// Adds to the scores of at most [`BLOCK_ROWS`] rows.
    pub(super) fn add_scores(&self, columns: &[&[u8]], scores: &mut [u32]) {
        match &self.words[..] {
            [word] => {
                let (mut left, mut rows) = ([0; BLOCK_ROWS], [0; BLOCK_ROWS]);
                // Most rows are far from any drop, and score nothing.
                let found = word.find(columns, self.heavy, &mut left[..scores.len()], &mut rows);
                self.add_of_word(&left[..found], &rows[..found], scores);
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

    fn add_of_word(&self, left: &[u64], rows: &[u16], scores: &mut [u32]) {
        match self.first_bits[..] {
            [a, b, c, d] => self.add_of_trees([a, b, c, d], left, rows, scores),
            [a, b] => self.add_of_trees([a, b], left, rows, scores),
            _ => self.first_bits.iter().for_each(|&bit| {
                self.add_of_trees([bit], left, rows, scores);
            }),
        }
    }

    fn add_of_trees<const N: usize>(
        &self,
        first: [u32; N],
        left: &[u64],
        rows: &[u16],
        scores: &mut [u32],
    ) {
        let (weights, _) = self.weights.as_chunks::<64>();
        let weights = &weights[0];
        for (&row, left) in rows.iter().zip(left) {
            let weight = |first: u32| {
                // One leaf of the tree is left, so the first bit from its first on is that one;
                // the highest is set to say that there is one.
                let bit = first + (left >> first | 1 << 63).trailing_zeros();
                u32::from(weights[bit as usize % 64])
            };
            scores[usize::from(row)] += first.into_iter().map(weight).fold(0, u32::wrapping_add);
        }
    }
}

/// A tree as its leaves from left to right, and its tests.
struct Leaves {
    weights: Vec<u8>,
    tests: Vec<Test>,
}

/// Values of `feature` above `threshold` rule out the leaves in `left`, others those in `right`.
struct Test {
    feature: usize,
    threshold: u32,
    left: Range<usize>,
    right: Range<usize>,
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
                let middle = self.weights.len();
                self.walk(tree, right as usize);
                let (left, right) = (from..middle, middle..self.weights.len());
                self.tests.push(Test { feature: usize::from(feature), threshold, left, right });
            }
        }
    }
}
