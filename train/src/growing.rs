//! A tree while it grows: a complete binary tree over bins.

use crate::binned::Block;
use crate::bins::Bins;
use crate::{Node, Tree};

/// A tree of fixed depth whose nodes are numbered by level: the children of node `n` are
/// `2n + 1` and `2n + 2`. Where it stops early, every row goes left.
#[derive(Clone, Debug)]
pub(crate) struct GrowingTree {
    /// Of every inner node, the feature and the last bin that goes left.
    tests: Vec<Test>,
    /// Whether an inner node is split.
    is_split: Vec<bool>,
    /// Of every node, its weight as a leaf.
    weights: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Test {
    feature: u16,
    bin: u8,
}

/// No bin is above: all go left.
const ALL_LEFT: Test = Test { feature: 0, bin: u8::MAX };

impl GrowingTree {
    /// A tree that is one leaf and may grow to `depth`.
    pub(crate) fn new(depth: usize) -> Self {
        let inner = (1 << depth) - 1;
        GrowingTree {
            tests: vec![ALL_LEFT; inner],
            is_split: vec![false; inner],
            weights: vec![0; 2 * inner + 1],
        }
    }

    /// Number of the first node of a level.
    pub(crate) fn first(level: usize) -> usize {
        (1 << level) - 1
    }

    /// The tree as it was when it had grown to `depth`, at most its own.
    pub(crate) fn truncated(&self, depth: usize) -> Self {
        let inner = GrowingTree::first(depth);
        GrowingTree {
            tests: self.tests[..inner].to_vec(),
            is_split: self.is_split[..inner].to_vec(),
            weights: self.weights[..2 * inner + 1].to_vec(),
        }
    }

    /// Sets what `node` weighs as a leaf.
    pub(crate) fn set_weight(&mut self, node: usize, weight: u8) {
        self.weights[node] = weight;
    }

    /// Splits `node`: bins of `feature` up to `bin` go left.
    pub(crate) fn split(&mut self, node: usize, feature: u16, bin: u8) {
        self.tests[node] = Test { feature, bin };
        self.is_split[node] = true;
    }

    /// Writes to `places` where on level `level` each row of the block is.
    pub(crate) fn place(&self, block: &Block<'_>, level: usize, places: &mut Vec<u16>) {
        places.clear();
        places.resize(block.rows.len(), 0);
        // The root has one test: its column is read in order.
        for level in 0..level {
            let tests = &self.tests[GrowingTree::first(level)..GrowingTree::first(level + 1)];
            if let [Test { feature, bin }] = *tests {
                let column = &block.group.columns[usize::from(feature)][block.rows.clone()];
                for (place, &value) in places.iter_mut().zip(column) {
                    *place = u16::from(value > bin);
                }
                continue;
            }
            for (place, row) in places.iter_mut().zip(block.rows.clone()) {
                let Test { feature, bin } = tests[usize::from(*place)];
                let goes_right = block.group.columns[usize::from(feature)][row] > bin;
                *place = 2 * *place + u16::from(goes_right);
            }
        }
    }

    /// The weights of a tree cut off at `depth`, by place on that level.
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

    /// The tree over values. Splits that make no difference, whose sides are leaves of one weight,
    /// are undone: predictions stay the same and tables get smaller.
    pub(crate) fn finish(&self, bins: &[Bins]) -> Tree {
        let mut nodes = Vec::new();
        self.write(0, bins, &mut nodes);
        Tree { nodes }
    }

    fn write(&self, node: usize, bins: &[Bins], nodes: &mut Vec<Node>) {
        let at = nodes.len();
        nodes.push(Node::Leaf { weight: self.weights[node] });
        if !self.is_split.get(node).copied().unwrap_or(false) {
            return;
        }
        let index = |at: usize| u32::try_from(at).expect("a tree of depth 8 has 511 nodes");
        let left = nodes.len();
        self.write(2 * node + 1, bins, nodes);
        let right = nodes.len();
        self.write(2 * node + 2, bins, nodes);
        if let [Node::Leaf { weight: a }, Node::Leaf { weight: b }] = nodes[left..]
            && a == b
        {
            nodes.truncate(at);
            nodes.push(Node::Leaf { weight: a });
            return;
        }
        let Test { feature, bin } = self.tests[node];
        let threshold = bins[usize::from(feature)].edges()[usize::from(bin)];
        nodes[at] = Node::Split { feature, threshold, left: index(left), right: index(right) };
    }
}
