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
    Ok(Foreign { producer: None, names: Vec::new(), features, forest })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImportTask, import_arrays};

    fn stump(threshold: f64, margins: [f64; 2]) -> ArrayTree {
        ArrayTree {
            left: vec![1, -1, -1],
            right: vec![2, -1, -1],
            feature: vec![0, -2, -2],
            threshold: vec![threshold, -2.0, -2.0],
            margin: vec![0.0, margins[0], margins[1]],
        }
    }

    fn model(trees: &[ArrayTree]) -> Result<dropcast_train::Model, ImportError> {
        let features = "queue_length".parse().ok();
        import_arrays(trees, 1, "scikit-learn", &ImportTask { features, ..ImportTask::default() })
    }

    #[test]
    fn ties_are_no_drops() {
        let forest = model(&[stump(9.0, [-1.0, 1.0]), stump(19.0, [-1.0, 1.0])]).unwrap().forest;
        let drops = [9, 10, 19, 20].map(|x| forest.predicts_drop(&[x]));
        assert_eq!(drops, [false, false, false, true]);
    }

    #[test]
    fn shares_that_are_no_binary_fractions_are_decided_alike() {
        let trees = [stump(9.0, [-0.2, 0.4]), stump(19.0, [-0.6, 0.1]), stump(4.0, [-0.3, 0.3])];
        let forest = model(&trees).unwrap().forest;
        for x in 0..25 {
            let sum: f64 = trees
                .iter()
                .map(|tree| tree.margin[if f64::from(x) <= tree.threshold[0] { 1 } else { 2 }])
                .sum();
            assert_eq!(forest.predicts_drop(&[x]), sum > 0.0, "{x}");
        }
    }

    #[test]
    fn damage_is_named() {
        let fault = |tree: ArrayTree| model(&[tree]).unwrap_err().to_string();
        let good = stump(9.0, [-1.0, 1.0]);
        let loops = ArrayTree { left: vec![0, -1, -1], ..good.clone() };
        assert_eq!(fault(loops), "tree 0, node 0: is reached twice from the root");
        let short = ArrayTree { margin: vec![0.0], ..good.clone() };
        assert_eq!(fault(short), "tree 0: has arrays of different lengths");
        let far = ArrayTree { right: vec![7, -1, -1], ..good.clone() };
        assert_eq!(fault(far), "tree 0, node 7: is not there");
        let other = ArrayTree { feature: vec![3, -2, -2], ..good };
        assert!(fault(other).contains("splits on feature 3, but there are 1"));
    }
}
