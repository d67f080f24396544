//! A tree while it grows: a complete binary tree over bins.

use crate::rows::binned::{BLOCK_ROWS, Block};
use dropcast_forest::binning::BINS;
use dropcast_forest::binning::Bins;
use dropcast_forest::{LeafRows, Node, Tree};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A tree of fixed depth whose nodes are numbered by level: the children of node `n` are
/// `2n + 1` and `2n + 2`. Below an early leaf, every row goes left.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GrowingTree {
    /// By inner node, the feature and the last bin that goes left.
    tests: Vec<Test>,
    /// Whether an inner node is split.
    is_split: Vec<bool>,
    /// By node, its weight as a leaf.
    weights: Vec<u8>,
    /// By node, its accepted and dropped training rows, as often as they were drawn. Who counts or scores rows does
    /// not need them.
    #[serde(skip)]
    drawn: Vec<[u64; 2]>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Test {
    feature: u16,
    bin: u8,
}

/// No bin is larger: all rows go left.
const ALL_LEFT: Test = Test { feature: 0, bin: u8::MAX };

/// From the root to this level, rows descend in one step.
pub(crate) const NEAR_LEVELS: usize = 4;

/// Buffer for the positions of a block's rows.
#[derive(Debug)]
pub(crate) struct Placing {
    at: Vec<u8>,
    goes_right: Vec<u8>,
}

impl Default for Placing {
    fn default() -> Self {
        Placing { at: vec![0; BLOCK_ROWS], goes_right: vec![0; BLOCK_ROWS] }
    }
}

impl Placing {
    /// This many rows at the root, at most [`BLOCK_ROWS`].
    pub(crate) fn start(&mut self, rows: usize) -> Places<'_> {
        let at = &mut self.at[..rows];
        at.fill(0);
        Places { at, goes_right: &mut self.goes_right[..rows] }
    }
}

/// The positions of a block's rows on a level.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    pub(crate) at: &'a mut [u8],
    goes_right: &'a mut [u8],
}

impl GrowingTree {
    /// A single leaf that may grow to `depth`.
    pub(crate) fn new(depth: usize) -> Self {
        let inner = (1 << depth) - 1;
        GrowingTree {
            tests: vec![ALL_LEFT; inner],
            is_split: vec![false; inner],
            weights: vec![0; 2 * inner + 1],
            drawn: vec![[0; 2]; 2 * inner + 1],
        }
    }

    /// Whether it is a complete tree that tests these features only, at least `depth` deep.
    pub(crate) fn is_sound(&self, features: usize, depth: usize) -> bool {
        let inner = self.tests.len();
        inner.checked_add(1).is_some_and(usize::is_power_of_two)
            && inner >= GrowingTree::first(depth.min(8))
            && depth <= 8
            && self.is_split.len() == inner
            && self.weights.len() == 2 * inner + 1
            && self.tests.iter().all(|test| usize::from(test.feature) < features)
    }

    /// Number of the first node of a level.
    pub(crate) fn first(level: usize) -> usize {
        (1 << level) - 1
    }

    /// The tree cut off at `depth`, at most its own depth.
    pub(crate) fn truncated(&self, depth: usize) -> Self {
        let inner = GrowingTree::first(depth);
        GrowingTree {
            tests: self.tests[..inner].to_vec(),
            is_split: self.is_split[..inner].to_vec(),
            weights: self.weights[..2 * inner + 1].to_vec(),
            drawn: self.drawn.iter().take(2 * inner + 1).copied().collect(),
        }
    }

    /// Sets the weight of `node` as a leaf, and its accepted and dropped training rows.
    pub(crate) fn set_leaf(&mut self, node: usize, weight: u8, drawn: [u64; 2]) {
        self.weights[node] = weight;
        self.drawn[node] = drawn;
    }

    /// Splits `node`: bins of `feature` up to `bin` go left.
    pub(crate) fn split(&mut self, node: usize, feature: u16, bin: u8) {
        self.tests[node] = Test { feature, bin };
        self.is_split[node] = true;
    }

    /// Moves rows down from the first to the last of `levels`, at most [`NEAR_LEVELS`].
    ///
    /// Every row takes every test of a level: with few tests, SIMD over many rows is faster than
    /// looking up each row's own test.
    pub(crate) fn place(&self, block: &Block<'_>, levels: Range<usize>, places: &mut Places<'_>) {
        let Places { at, goes_right } = places;
        for level in levels {
            goes_right.fill(0);
            let nodes = GrowingTree::first(level)..GrowingTree::first(level + 1);
            for (place, node) in (0_u8..).zip(nodes).filter(|&(_, node)| self.is_split[node]) {
                let Test { feature, bin } = self.tests[node];
                let rows = at.iter().zip(block.columns[usize::from(feature)]);
                for (goes_right, (&at, &value)) in goes_right.iter_mut().zip(rows) {
                    *goes_right |= u8::from(at == place) & u8::from(value > bin);
                }
            }
            for (at, goes_right) in at.iter_mut().zip(&**goes_right) {
                *at = *at << 1 | goes_right;
            }
        }
    }

    /// The tests above the node at `place` of `level`, each with the bins of its feature that lead
    /// away from the node.
    pub(crate) fn tests_above(
        &self,
        level: usize,
        place: u8,
    ) -> impl Iterator<Item = (usize, Range<usize>)> {
        (0..level).map(move |above| {
            let (before, goes_right) =
                (usize::from(place) >> (level - above), place >> (level - above - 1) & 1 == 1);
            let Test { feature, bin } = self.tests[GrowingTree::first(above) + before];
            let first_right = usize::from(bin) + 1;
            (usize::from(feature), if goes_right { 0..first_right } else { first_right..BINS })
        })
    }

    /// The position on level `to` of a row at `place` on level `from`.
    pub(crate) fn descend(
        &self,
        block: &Block<'_>,
        row: usize,
        from: usize,
        place: u8,
        to: usize,
    ) -> u8 {
        (from..to).fold(place, |place, level| {
            let Test { feature, bin } = self.tests[GrowingTree::first(level) + usize::from(place)];
            place << 1 | u8::from(block.columns[usize::from(feature)][row] > bin)
        })
    }

    /// The weights of a tree cut off at `depth`, by position on that level.
    pub(crate) fn leaf_weights(&self, depth: usize) -> Vec<u8> {
        let places = 1 << depth;
        let weight = |place: usize| {
            let mut node = 0;
            for level in (0..depth).rev() {
                if !self.is_split[node] {
                    break;
                }
                node = 2 * node + 1 + (place >> level & 1);
            }
            self.weights[node]
        };
        (0..places).map(weight).collect()
    }

    /// The tree over values, and the rows of its leaves in the order of nodes; its features are `columns`, with these
    /// bins. Splits whose sides are leaves of equal weight are removed: predictions stay the same and tables get
    /// smaller.
    pub(crate) fn finish(&self, bins: &[Bins], columns: &[usize]) -> (Tree, Vec<LeafRows>) {
        self.lay_out(bins, columns, true)
    }

    /// The same with all splits; the weight of a leaf is its number.
    pub(crate) fn numbered(&self, bins: &[Bins], columns: &[usize]) -> (Tree, Vec<LeafRows>) {
        let (mut tree, leaves) = self.lay_out(bins, columns, false);
        let weights = tree.nodes.iter_mut().filter_map(|node| match node {
            Node::Leaf { weight } => Some(weight),
            Node::Split { .. } => None,
        });
        weights.zip(0..=u8::MAX).for_each(|(weight, number)| *weight = number);
        (tree, leaves)
    }

    fn lay_out(&self, bins: &[Bins], columns: &[usize], merges: bool) -> (Tree, Vec<LeafRows>) {
        let (mut nodes, mut places) = (Vec::new(), Vec::new());
        let edge =
            |test: Test| bins[columns[usize::from(test.feature)]].edges()[usize::from(test.bin)];
        self.write(0, (&edge, merges), (&mut nodes, &mut places));
        let drawn = |place: usize| self.drawn.get(place).copied().unwrap_or_default();
        let leaves = nodes.iter().zip(places).filter(|(node, _)| matches!(node, Node::Leaf { .. }));
        let rows = |place| {
            let [accepts, drops] = drawn(place);
            LeafRows { rows: accepts + drops, drops }
        };
        let leaves = leaves.map(|(_, place)| rows(place)).collect();
        (Tree { nodes }, leaves)
    }

    /// Writes the nodes from `node` on, and where each is in this tree; `merges` removes splits between leaves of equal
    /// weight.
    fn write(
        &self,
        node: usize,
        (threshold, merges): (&dyn Fn(Test) -> u32, bool),
        (nodes, places): (&mut Vec<Node>, &mut Vec<usize>),
    ) {
        let at = nodes.len();
        nodes.push(Node::Leaf { weight: self.weights[node] });
        places.push(node);
        if !self.is_split.get(node).copied().unwrap_or(false) {
            return;
        }
        let index = |at: usize| u32::try_from(at).expect("a tree of depth 8 has 511 nodes");
        let left = nodes.len();
        self.write(2 * node + 1, (threshold, merges), (nodes, places));
        let right = nodes.len();
        self.write(2 * node + 2, (threshold, merges), (nodes, places));
        if let [Node::Leaf { weight: a }, Node::Leaf { weight: b }] = nodes[left..]
            && merges
            && a == b
        {
            nodes.truncate(at);
            nodes.push(Node::Leaf { weight: a });
            places.truncate(at + 1);
            return;
        }
        let test = self.tests[node];
        let (feature, threshold) = (test.feature, threshold(test));
        nodes[at] = Node::Split { feature, threshold, left: index(left), right: index(right) };
    }
}
