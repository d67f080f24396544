//! Classification forests as scikit-learn keeps them in memory: one array of each field of a node.

use super::foreign::{Foreign, check_trees, wrong};
use crate::ImportError;
use crate::threshold::{Comparison, Values};
use crate::values::{ForeignNode, Leaf, ValueForest, ValueTree};

/// A tree whose nodes are columns, as scikit-learn's `tree_` has them. Node 0 is the root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrayTree {
    /// The left child of each node; below 0 for a leaf.
    pub left: Vec<i64>,
    /// The right child.
    pub right: Vec<i64>,
    /// The column that a node splits on.
    pub feature: Vec<i64>,
    /// Integers up to this go left, of all 32-bit integers; below 0, none does.
    pub threshold: Vec<f64>,
    /// How much more likely a drop is than none in a leaf: the share of class 1 less that of class 0.
    pub margin: Vec<f64>,
}

/// Margins that are multiples of 2 to this power add up without rounding, and their mean is above 0
/// where their sum is.
const EXACT_GRAIN: i32 = -20;

/// A forest that predicts class 1 where the mean over its trees is above that of class 0, as
/// scikit-learn's `predict` does.
pub(super) fn read(trees: &[ArrayTree], features: usize) -> Result<Foreign, ImportError> {
    check_trees(trees.len())?;
    let build = |(at, tree): (usize, &ArrayTree)| tree.build(at, features);
    let built: Vec<ValueTree> =
        trees.iter().enumerate().map(build).collect::<Result<_, ImportError>>()?;
    let is_exact = built.iter().flat_map(|tree| &tree.leaves).all(|leaf| leaf.grain >= EXACT_GRAIN);
    // Two sums of as many shares and two quotients are rounded.
    let rounding = 4.0 * f64::EPSILON * built.len() as f64 * built.len() as f64;
    let blur = if is_exact || built.len() == 1 { 0.0 } else { rounding };
    let (base, threshold, sums) = (0.0, 0.0, Values::F64);
    let forest = ValueForest { trees: built, base, threshold, sums, blur };
    Ok(Foreign { producer: None, names: Vec::new(), features, forest, zero_elsewhere: 0 })
}

impl ArrayTree {
    fn build(&self, at: usize, features: usize) -> Result<ValueTree, ImportError> {
        let ArrayTree { left, right, feature, threshold, margin } = self;
        let nodes = left.len();
        if [right.len(), feature.len(), threshold.len(), margin.len()] != [nodes; 4] {
            let problem = "has arrays of different lengths".to_owned();
            return Err(wrong(&format!("tree {at}"), problem));
        }
        ValueTree::build(at, 0, features, Values::F64, |node| {
            let first = *left.get(node).ok_or("is not there")?;
            if first < 0 {
                return Ok(ForeignNode::Leaf(Leaf::new(margin[node])));
            }
            let place =
                |of: i64, what: &str| usize::try_from(of).map_err(|_| format!("has {what} {of}"));
            Ok(ForeignNode::Split {
                feature: place(feature[node], "feature")?,
                threshold: threshold[node],
                comparison: Comparison::AtMost,
                left: place(first, "left child")?,
                right: place(right[node], "right child")?,
            })
        })
    }
}
