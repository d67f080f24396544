//! Trees as bits, one per leaf.

use crate::binning::{BINS, BLOCK_ROWS, BinMasks, Bins};
use crate::{Node, Tree};
use std::ops::Range;

/// Maximum number of leaves of a tree: depth 8.
pub(super) const MAX_LEAVES: usize = 256;
/// Leaves per word.
const WORD: usize = u64::BITS as usize;

/// Leaves that share a 64-bit word: of several trees, or part of one large tree.
#[derive(Debug)]
pub(super) struct LeafWord {
    /// Which of the leaves a row reaches.
    masks: BinMasks,
    /// The first bit of each tree.
    first_bits: Vec<u32>,
    /// By bit, the weight of its leaf.
    weights: [u8; WORD],
    /// The bits of leaves with a nonzero weight.
    heavy: u64,
}

impl LeafWord {
    /// Packs the leaves of trees into words, in order; leaves of weight 0 may be left out.
    pub(super) fn of_trees(trees: &[&Tree], bins: &[Bins]) -> Vec<Self> {
        let mut words = Vec::new();
        // Starts as if a previous word were full.
        let mut used = WORD;
        for tree in trees {
            let leaves = Leaves::walked(tree);
            let all = leaves.weights.len();
            for from in (0..all).step_by(WORD) {
                let these = from..all.min(from + WORD);
                if used + these.len() > WORD {
                    words.push(LeafWord::new());
                    used = 0;
                }
                if let Some(word) = words.last_mut() {
                    word.add(&leaves, these.clone(), used, bins);
                }
                // A large tree does not share its words: a row may reach none of a word's leaves.
                used = if all > WORD { WORD } else { used + these.len() };
            }
        }
        words.retain(|word| word.heavy != 0);
        words
    }

    fn new() -> Self {
        LeafWord {
            masks: BinMasks::new(u64::MAX),
            first_bits: Vec::new(),
            weights: [0; WORD],
            heavy: 0,
        }
    }

    /// Adds some of a tree's leaves, from bit `first` on.
    fn add(&mut self, leaves: &Leaves, these: Range<usize>, first: usize, bins: &[Bins]) {
        self.first_bits.push(first as u32);
        for (bit, leaf) in (first..).zip(these.clone()) {
            self.weights[bit] = leaves.weights[leaf];
            self.heavy |= u64::from(leaves.weights[leaf] > 0) << bit;
        }
        for test in &leaves.tests {
            let edges = bins[test.feature].edges();
            let last_left = edges.partition_point(|&edge| edge < test.threshold);
            let mut rule_out = |leaves: &Range<usize>, bins: Range<usize>| {
                for leaf in leaves.start.max(these.start)..leaves.end.min(these.end) {
                    let bit = first + (leaf - these.start);
                    self.masks.rule_out(bit, test.feature, bins.clone());
                }
            };
            rule_out(&test.left, last_left + 1..BINS);
            rule_out(&test.right, 0..last_left + 1);
        }
    }

    /// Adds to the scores of at most [`BLOCK_ROWS`] rows.
    pub(super) fn add_scores(&self, columns: &[&[u8]], scores: &mut [u32]) {
        let (mut left, mut rows) = ([0; BLOCK_ROWS], [0; BLOCK_ROWS]);
        // Most rows are far from any drop and score 0.
        let found = self.masks.find(columns, self.heavy, &mut left[..scores.len()], &mut rows);
        self.add_found(&left[..found], &rows[..found], scores);
    }

    fn add_found(&self, left: &[u64], rows: &[u16], scores: &mut [u32]) {
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
        for (&row, left) in rows.iter().zip(left) {
            let weight = |first: u32| {
                // One leaf of the tree remains, so the first set bit from the tree's first bit on
                // is that leaf. Setting the highest bit shows the compiler that there is one.
                let bit = first + (left >> first | 1 << 63).trailing_zeros();
                u32::from(self.weights[bit as usize % WORD])
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
    fn walked(tree: &Tree) -> Self {
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
