//! Prunes trees: removes splits that contradict those above them, and splits whose sides have equal
//! weight.

use crate::region::Region;
use dropcast_forest::{Node, Tree};

/// A tree in which rows take either side of every split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pruned {
    /// Where a row ends.
    Leaf {
        /// Its weight.
        weight: u8,
    },
    /// Values up to `threshold` go left.
    Split {
        /// Index into the features.
        feature: usize,
        /// Below `u32::MAX`, since some rows are above.
        threshold: u32,
        /// Left and right.
        halves: Box<[Pruned; 2]>,
    },
}

impl Pruned {
    /// Prunes a checked tree. No row's weight changes.
    pub(crate) fn new(tree: &Tree, features: usize) -> Self {
        prune(tree, 0, &Region::all(features))
    }

    /// Calls `each` with the feature and threshold of every split.
    pub(crate) fn each_split(&self, each: &mut impl FnMut(usize, u32)) {
        if let Pruned::Split { feature, threshold, halves } = self {
            each(*feature, *threshold);
            halves.iter().for_each(|half| half.each_split(each));
        }
    }

    /// How many leaves it has.
    pub(crate) fn leaves(&self) -> usize {
        match self {
            Pruned::Leaf { .. } => 1,
            Pruned::Split { halves, .. } => halves.iter().map(Pruned::leaves).sum(),
        }
    }
}

fn prune(tree: &Tree, at: usize, region: &Region) -> Pruned {
    let (feature, threshold, left, right) = match tree.nodes[at] {
        Node::Leaf { weight } => return Pruned::Leaf { weight },
        Node::Split { feature, threshold, left, right } => {
            (usize::from(feature), threshold, left as usize, right as usize)
        }
    };
    match (region.left(feature, threshold), region.right(feature, threshold)) {
        (Some(rows), None) => prune(tree, left, &rows),
        (None, Some(rows)) => prune(tree, right, &rows),
        (Some(lower), Some(upper)) => {
            let halves = [prune(tree, left, &lower), prune(tree, right, &upper)];
            match halves {
                [Pruned::Leaf { weight }, Pruned::Leaf { weight: same }] if weight == same => {
                    Pruned::Leaf { weight }
                }
                halves => Pruned::Split { feature, threshold, halves: Box::new(halves) },
            }
        }
        (None, None) => unreachable!("a region has rows"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(feature: u16, threshold: u32, left: u32, right: u32) -> Node {
        Node::Split { feature, threshold, left, right }
    }

    fn leaf(weight: u8) -> Node {
        Node::Leaf { weight }
    }

    #[test]
    fn what_no_row_reaches_goes() {
        let nodes = vec![split(0, 9, 1, 2), leaf(1), split(0, 5, 3, 4), leaf(2), leaf(3)];
        let leaf = |weight| Pruned::Leaf { weight };
        let expected =
            Pruned::Split { feature: 0, threshold: 9, halves: Box::new([leaf(1), leaf(3)]) };
        assert_eq!(Pruned::new(&Tree { nodes }, 1), expected);
        let always =
            vec![split(0, u32::MAX, 1, 2), Node::Leaf { weight: 7 }, Node::Leaf { weight: 8 }];
        assert_eq!(Pruned::new(&Tree { nodes: always }, 1), leaf(7));
    }

    #[test]
    fn splits_between_equal_leaves_go_from_below_up() {
        let nodes = vec![split(0, 9, 1, 2), leaf(4), split(1, 5, 3, 4), leaf(4), leaf(4)];
        assert_eq!(Pruned::new(&Tree { nodes }, 2), Pruned::Leaf { weight: 4 });
    }
}
