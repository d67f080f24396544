//! Checks that a forest is sound: that it can be evaluated on any row and exported.

use crate::{Forest, Node, Tree};

/// Maximum depth of a tree, in splits.
pub const MAX_DEPTH: usize = 32;

/// Maximum number of trees.
pub const MAX_TREES: usize = 2_048;

/// The fault of an unsound forest, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForestError {
    /// The forest has no trees.
    #[error("the forest has no trees")]
    NoTrees,
    /// More than [`MAX_TREES`].
    #[error("the forest has {0} trees, at most {MAX_TREES} are allowed")]
    TooManyTrees(usize),
    /// A feature name occurs twice.
    #[error("feature {0:?} is listed twice")]
    FeatureTwice(String),
    /// No score can exceed the vote threshold, so no drop would ever be predicted.
    #[error("vote_threshold is {threshold}, above {most}, the highest score of {trees} trees")]
    Threshold {
        /// The vote threshold.
        threshold: u32,
        /// The number of trees.
        trees: usize,
        /// 255 times that.
        most: u64,
    },
    /// A tree is not sound.
    #[error("tree {tree}: {problem}")]
    Tree {
        /// Its index.
        tree: usize,
        /// What is wrong.
        problem: TreeError,
    },
}

/// The fault of an unsound tree, and its node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The tree has no nodes.
    #[error("has no nodes")]
    Empty,
    /// A split uses a feature that the forest does not list.
    #[error("node {node} splits on feature {feature}, but there are only {features} (from 0)")]
    Feature {
        /// The split.
        node: usize,
        /// The feature's index.
        feature: u16,
        /// How many features the forest lists.
        features: usize,
    },
    /// A child's index is not greater than its parent's, or is past the last node.
    #[error("node {node} has child {child}, expected a number above {node} and below {nodes}")]
    Child {
        /// The parent.
        node: usize,
        /// The child.
        child: u32,
        /// How many nodes the tree has.
        nodes: usize,
    },
    /// A node is the child of no node or of several.
    #[error("node {node} is the child of {parents} nodes, expected one")]
    Parents {
        /// The node.
        node: usize,
        /// How many nodes have it as a child.
        parents: usize,
    },
    /// Deeper than [`MAX_DEPTH`].
    #[error("is {depth} splits deep, at most {MAX_DEPTH} are allowed")]
    Depth {
        /// Its depth.
        depth: usize,
    },
}

impl Forest {
    /// Checks that the forest is sound: there are at most [`MAX_TREES`] trees, every tree's children come after their parents, each node
    /// but the root is the child of exactly one, features exist and are distinct, no tree is
    /// deeper than [`MAX_DEPTH`], and the vote threshold is a score that the trees can reach.
    ///
    /// # Errors
    /// The first fault found.
    pub fn check(&self) -> Result<(), ForestError> {
        if self.trees.is_empty() {
            return Err(ForestError::NoTrees);
        }
        if self.trees.len() > MAX_TREES {
            return Err(ForestError::TooManyTrees(self.trees.len()));
        }
        for (at, name) in self.features.iter().enumerate() {
            if self.features[..at].contains(name) {
                return Err(ForestError::FeatureTwice(name.clone()));
            }
        }
        let (trees, most) = (self.trees.len(), 255 * self.trees.len() as u64);
        if u64::from(self.vote_threshold) > most {
            return Err(ForestError::Threshold { threshold: self.vote_threshold, trees, most });
        }
        for (tree, nodes) in self.trees.iter().enumerate() {
            nodes
                .check(self.features.len())
                .map_err(|problem| ForestError::Tree { tree, problem })?;
        }
        Ok(())
    }
}

impl Tree {
    fn check(&self, features: usize) -> Result<(), TreeError> {
        let nodes = self.nodes.len();
        if nodes == 0 {
            return Err(TreeError::Empty);
        }
        let mut parents = vec![0; nodes];
        for (node, split) in self.nodes.iter().enumerate() {
            let Node::Split { feature, left, right, .. } = *split else { continue };
            if usize::from(feature) >= features {
                return Err(TreeError::Feature { node, feature, features });
            }
            for child in [left, right] {
                let at = child as usize;
                if at <= node || at >= nodes {
                    return Err(TreeError::Child { node, child, nodes });
                }
                parents[at] += 1;
            }
        }
        for (node, &parents) in parents.iter().enumerate().skip(1) {
            if parents != 1 {
                return Err(TreeError::Parents { node, parents });
            }
        }
        let depth = self.depth();
        if depth > MAX_DEPTH { Err(TreeError::Depth { depth }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(feature: u16, left: u32, right: u32) -> Node {
        Node::Split { feature, threshold: 9, left, right }
    }

    fn leaf(weight: u8) -> Node {
        Node::Leaf { weight }
    }

    fn fault(nodes: Vec<Node>) -> String {
        let features = vec!["a".to_owned(), "b".to_owned()];
        let forest = Forest { features, vote_threshold: 127, trees: vec![Tree { nodes }] };
        forest.check().err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn faults_say_where_they_are() {
        assert_eq!(fault(vec![leaf(3)]), "");
        assert_eq!(fault(vec![split(1, 1, 2), leaf(0), leaf(255)]), "");
        assert_eq!(fault(vec![]), "tree 0: has no nodes");
        assert_eq!(
            fault(vec![split(2, 1, 2), leaf(0), leaf(1)]),
            "tree 0: node 0 splits on feature 2, but there are only 2 (from 0)"
        );
        assert_eq!(
            fault(vec![split(0, 0, 1), leaf(0)]),
            "tree 0: node 0 has child 0, expected a number above 0 and below 2"
        );
        assert_eq!(
            fault(vec![split(0, 1, 3), leaf(0), leaf(1)]),
            "tree 0: node 0 has child 3, expected a number above 0 and below 3"
        );
        assert_eq!(
            fault(vec![split(0, 1, 1), leaf(0)]),
            "tree 0: node 1 is the child of 2 nodes, expected one"
        );
        assert_eq!(
            fault(vec![leaf(0), leaf(0)]),
            "tree 0: node 1 is the child of 0 nodes, expected one"
        );
    }

    #[test]
    fn a_tree_may_be_32_deep_and_no_deeper() {
        let chain = |depth: u32| {
            let mut nodes: Vec<Node> =
                (0..depth).flat_map(|at| [split(0, 2 * at + 1, 2 * at + 2), leaf(0)]).collect();
            nodes.push(leaf(1));
            fault(nodes)
        };
        assert_eq!(chain(32), "");
        assert_eq!(chain(33), "tree 0: is 33 splits deep, at most 32 are allowed");
    }

    #[test]
    fn a_forest_needs_trees_distinct_features_and_a_threshold_in_reach() {
        let sound = Forest {
            features: vec!["a".to_owned()],
            vote_threshold: 255,
            trees: vec![Tree { nodes: vec![leaf(0)] }],
        };
        assert_eq!(sound.check(), Ok(()));
        assert_eq!(Forest { trees: vec![], ..sound.clone() }.check(), Err(ForestError::NoTrees));
        let high = Forest { vote_threshold: 256, ..sound.clone() };
        assert_eq!(
            high.check().unwrap_err().to_string(),
            "vote_threshold is 256, above 255, the highest score of 1 trees"
        );
        let twice = Forest { features: vec!["a".to_owned(), "a".to_owned()], ..sound };
        assert_eq!(twice.check(), Err(ForestError::FeatureTwice("a".to_owned())));
    }
}
