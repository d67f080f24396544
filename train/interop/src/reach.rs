//! Which leaves a row can reach together: every combination that some integer features give.

use crate::values::{ValueForest, ValueNode};

/// Calls `visit` with the leaves, one of each tree, of every combination that rows of 32-bit
/// features can reach, each once. `false`, early, if there are more than `most`.
///
/// The splits of all trees cut the space of features into boxes. Going from tree to tree, a box is
/// narrowed to the leaf it is in; where it lies in several leaves it is cut.
pub(crate) fn each_combination(
    forest: &ValueForest,
    features: usize,
    most: usize,
    mut visit: impl FnMut(&[u32]),
) -> bool {
    let mut walk = Walk {
        forest,
        ranges: vec![(0, u32::MAX); features],
        leaves: Vec::with_capacity(forest.trees.len()),
        left: most,
    };
    walk.descend(0, &mut visit)
}

struct Walk<'a> {
    forest: &'a ValueForest,
    /// Of each feature, the smallest and the largest value in the box.
    ranges: Vec<(u32, u32)>,
    /// The leaves of the trees before.
    leaves: Vec<u32>,
    /// How many combinations may follow.
    left: usize,
}

impl Walk<'_> {
    /// Goes on below node `at` of the next tree. The recursion is as deep as all trees together.
    fn descend(&mut self, at: u32, visit: &mut impl FnMut(&[u32])) -> bool {
        let Some(tree) = self.forest.trees.get(self.leaves.len()) else {
            if self.left == 0 {
                return false;
            }
            self.left -= 1;
            visit(&self.leaves);
            return true;
        };
        match tree.nodes[at as usize] {
            ValueNode::Leaf(leaf) => {
                self.leaves.push(leaf);
                let goes_on = self.descend(0, visit);
                self.leaves.pop();
                goes_on
            }
            ValueNode::Split { feature, threshold, left, right } => {
                let feature = usize::from(feature);
                let (least, largest) = self.ranges[feature];
                let mut goes_on = true;
                if least <= threshold {
                    self.ranges[feature].1 = largest.min(threshold);
                    goes_on = self.descend(left, visit);
                    self.ranges[feature].1 = largest;
                }
                if goes_on && largest > threshold {
                    // Above a threshold that is below another value, 1 can be added.
                    self.ranges[feature].0 = least.max(threshold + 1);
                    goes_on = self.descend(right, visit);
                    self.ranges[feature].0 = least;
                }
                goes_on
            }
        }
    }
}
