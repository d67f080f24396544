//! A forest as complete trees, level by level: the source of tables without pointers.

use crate::ExportError;
use dropcast_forest::{Forest, Node, Tree};
use dropcast_runtime::Layout;

/// A forest whose trees are all complete and equally deep.
///
/// A leaf above the last level becomes splits that send everything left, so predictions do not
/// change; the resulting unreachable leaves get its weight too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complete {
    /// Numbers of trees, levels and features.
    pub(crate) layout: Layout,
    /// The trees, in the forest's order.
    pub(crate) trees: Vec<CompleteTree>,
}

/// A complete tree. The children of split `i` are `2i + 1` and `2i + 2`; those of the last level
/// are the leaves, left to right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompleteTree {
    /// The splits, level by level.
    pub(crate) splits: Vec<Split>,
    /// Weights of the leaves, left to right.
    pub(crate) weights: Vec<u8>,
}

/// Values of `column` up to `threshold` go left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) column: u8,
    pub(crate) threshold: u32,
}

/// A split that sends every value left.
const ALWAYS_LEFT: Split = Split { column: 0, threshold: u32::MAX };

/// Maximum bytes of a table: beyond any switch's memory, within any compiler's.
const MAX_BYTES: usize = 16 << 20;

impl Complete {
    /// Completes the trees of a checked forest.
    ///
    /// # Errors
    /// If the forest is too deep or too large.
    pub(crate) fn new(forest: &Forest) -> Result<Self, ExportError> {
        let layout = layout(forest)?;
        let depth = u32::from(layout.depth());
        let trees = forest.trees.iter().map(|tree| complete(tree, depth)).collect();
        Ok(Complete { layout, trees })
    }
}

fn layout(forest: &Forest) -> Result<Layout, ExportError> {
    let trees = forest.trees.len();
    let features = forest.features.len();
    let layout = Layout::new(
        u16::try_from(trees).map_err(|_| ExportError::TooManyTrees(trees))?,
        // Depths beyond a byte are as impossible as 255.
        u8::try_from(forest.depth()).unwrap_or(u8::MAX),
        u8::try_from(features).map_err(|_| ExportError::FeatureCount(features))?,
    )
    .map_err(ExportError::Shape)?;
    match layout.total_bytes() {
        bytes if bytes > MAX_BYTES => Err(ExportError::TooLarge { bytes, max: MAX_BYTES }),
        _ => Ok(layout),
    }
}

/// Completes a checked tree of at most `depth` levels of splits.
fn complete(tree: &Tree, depth: u32) -> CompleteTree {
    let mut splits = Vec::with_capacity((1 << depth) - 1);
    let mut level = vec![0];
    for _ in 0..depth {
        let mut below = Vec::with_capacity(2 * level.len());
        for at in level {
            match tree.nodes[at] {
                Node::Leaf { .. } => {
                    splits.push(ALWAYS_LEFT);
                    below.extend([at, at]);
                }
                Node::Split { feature, threshold, left, right } => {
                    // A checked forest has at most 255 features.
                    splits.push(Split { column: feature as u8, threshold });
                    below.extend([left as usize, right as usize]);
                }
            }
        }
        level = below;
    }
    let weight = |at: usize| match tree.nodes[at] {
        Node::Leaf { weight } => weight,
        Node::Split { .. } => unreachable!("the tree has at most {depth} levels of splits"),
    };
    CompleteTree { splits, weights: level.into_iter().map(weight).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(depth: u32) -> Tree {
        let mut nodes = Vec::new();
        for level in 0..depth {
            let (left, right) = (2 * level + 1, 2 * level + 2);
            nodes.push(Node::Split {
                feature: 0,
                threshold: 100_u32.saturating_sub(level),
                left: right,
                right: left,
            });
            nodes.push(Node::Leaf { weight: level as u8 });
        }
        nodes.push(Node::Leaf { weight: 200 });
        Tree { nodes }
    }

    fn forest(trees: Vec<Tree>) -> Forest {
        Forest { features: vec!["x".to_owned()], vote_threshold: 0, trees }
    }

    #[test]
    fn leaves_sink_to_the_last_level() {
        let complete = Complete::new(&forest(vec![chain(2), chain(0)])).expect("small");
        let split = |threshold| Split { column: 0, threshold };
        let deep = &complete.trees[0];
        assert_eq!(deep.splits, [split(100), split(99), ALWAYS_LEFT]);
        assert_eq!(deep.weights, [200, 1, 0, 0]);
        assert_eq!(complete.trees[1].splits, [ALWAYS_LEFT; 3]);
        assert_eq!(complete.trees[1].weights, [200; 4]);
    }

    #[test]
    fn trees_too_deep_or_too_many_are_refused_before_they_are_completed() {
        let deep = Complete::new(&forest(vec![chain(17)])).expect_err("too deep");
        assert!(matches!(deep, ExportError::Shape(_)));
        let deeper = Complete::new(&forest(vec![chain(300)])).expect_err("too deep");
        assert!(matches!(deeper, ExportError::Shape(_)));
        let large = Complete::new(&forest(vec![chain(16); 100])).expect_err("too large");
        assert!(matches!(large, ExportError::TooLarge { .. }), "{large}");
    }
}
