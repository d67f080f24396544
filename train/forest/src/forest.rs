//! The forest IR: every trainer produces it, every export starts from it.

use serde::{Deserialize, Serialize};

/// A node of a tree. Children are indices into the tree's nodes and come after their parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Node {
    /// Values of `feature` up to `threshold` (inclusive) go `left`, larger ones `right`.
    Split {
        /// Index into the forest's features.
        feature: u16,
        /// `x <= threshold` goes left.
        threshold: u32,
        /// Index of the left child.
        left: u32,
        /// Index of the right child.
        right: u32,
    },
    /// A leaf.
    Leaf {
        /// Drop share of the leaf scaled to 0..=255.
        weight: u8,
    },
}

/// A decision tree; node 0 is the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// The nodes, parents before children.
    pub nodes: Vec<Node>,
}

/// A forest of integer trees over named features.
///
/// A row's score is the sum of the weights of the leaves it reaches, one in each tree; it is
/// predicted to be dropped if and only if `score > vote_threshold` (a tie means accept).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forest {
    /// Names of the features, in the order predictions expect.
    pub features: Vec<String>,
    /// `score > vote_threshold` predicts a drop.
    pub vote_threshold: u32,
    /// The trees.
    pub trees: Vec<Tree>,
}

/// The training rows that a leaf stands on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeafRows {
    /// Rows, as often as they were drawn into the tree's sample.
    pub rows: u64,
    /// How many of them are drops.
    pub drops: u64,
}

impl Tree {
    /// The weights of the leaves, in the order of nodes.
    pub fn leaves(&self) -> impl Iterator<Item = u8> + Clone {
        self.nodes.iter().filter_map(|node| match node {
            Node::Leaf { weight } => Some(*weight),
            Node::Split { .. } => None,
        })
    }

    /// Weight of the leaf that `row` reaches.
    pub fn weight(&self, row: &[u32]) -> u8 {
        let mut at = 0;
        loop {
            match self.nodes[at] {
                Node::Leaf { weight } => return weight,
                Node::Split { feature, threshold, left, right } => {
                    let goes_left = row[usize::from(feature)] <= threshold;
                    at = if goes_left { left } else { right } as usize;
                }
            }
        }
    }

    /// Whether at each split on `feature` no leaf on the left weighs more than one on the right.
    fn rises(&self, feature: usize) -> bool {
        // By node, the least and the most that its leaves weigh; children come after their parents.
        let mut weights = vec![(0, 0); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().rev() {
            weights[at] = match *node {
                Node::Leaf { weight } => (weight, weight),
                Node::Split { feature: of, left, right, .. } => {
                    let (left, right): ((u8, u8), (u8, u8)) =
                        (weights[left as usize], weights[right as usize]);
                    if usize::from(of) == feature && left.1 > right.0 {
                        return false;
                    }
                    (left.0.min(right.0), left.1.max(right.1))
                }
            };
        }
        true
    }

    /// Longest path from the root to a leaf, in splits.
    pub fn depth(&self) -> usize {
        let mut depths = vec![0; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            if let Node::Split { left, right, .. } = *node {
                depths[left as usize] = depths[at] + 1;
                depths[right as usize] = depths[at] + 1;
            }
        }
        depths.into_iter().max().unwrap_or(0)
    }
}

impl Forest {
    /// Sum of leaf weights for `row`, whose values are in the order of `features`.
    pub fn score(&self, row: &[u32]) -> u32 {
        self.trees.iter().map(|tree| u32::from(tree.weight(row))).sum()
    }

    /// Whether a drop is predicted for `row`.
    pub fn predicts_drop(&self, row: &[u32]) -> bool {
        self.score(row) > self.vote_threshold
    }

    /// Names of the features that it splits on without the score ever falling when one is higher: on the left of each
    /// such split no leaf weighs more than any on its right. A forest may be so without being found out here.
    pub fn rising(&self) -> impl Iterator<Item = &str> {
        let is_split = |feature: usize| {
            let splits = |node: &Node| matches!(node, Node::Split { feature: of, .. } if usize::from(*of) == feature);
            self.trees.iter().flat_map(|tree| &tree.nodes).any(splits)
        };
        let rises = move |feature: usize| self.trees.iter().all(|tree| tree.rises(feature));
        let names = self.features.iter().enumerate();
        names.filter(move |(at, _)| is_split(*at) && rises(*at)).map(|(_, name)| name.as_str())
    }

    /// Depth of the deepest tree.
    pub fn depth(&self) -> usize {
        self.trees.iter().map(Tree::depth).max().unwrap_or(0)
    }

    /// Whether a drop is predicted for every row (true) or for none (false), because the vote
    /// threshold is out of the reach of scores; none where predictions may differ.
    pub fn constant(&self) -> Option<bool> {
        let (mut least, mut most) = (0, 0);
        for tree in &self.trees {
            let weights = tree.leaves().map(u32::from);
            least += weights.clone().min().unwrap_or(0);
            most += weights.max().unwrap_or(0);
        }
        match self.vote_threshold {
            threshold if most <= threshold => Some(false),
            threshold if least > threshold => Some(true),
            _ => None,
        }
    }
}
