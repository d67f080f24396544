//! Forests as other tools have them: integer splits by now, but leaves that are numbers to add up.

use crate::ImportError;
use crate::threshold::{Comparison, Values, largest_left};
use dropcast_forest::{MAX_DEPTH, Node, Tree};

/// Most trees that are imported: what our own trainer grows, and every target takes.
pub(crate) const MAX_TREES: usize = 128;

/// No leaf is larger: sums of them stay far from the largest float.
const LARGEST: f64 = 1e100;

/// A node as the tool that made it numbers them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ForeignNode {
    /// Rows for which the comparison holds go left.
    Split { feature: usize, threshold: f64, comparison: Comparison, left: usize, right: usize },
    /// Where a row ends.
    Leaf(Leaf),
}

/// What a leaf adds to the score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) value: f64,
    /// Exponent of the lowest bit that is set in it.
    pub(crate) grain: i32,
}

/// A node of a [`ValueTree`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ValueNode {
    /// `x <= threshold` goes left.
    Split { feature: u16, threshold: u32, left: u32, right: u32 },
    /// Index into the tree's leaves.
    Leaf(u32),
}

/// A tree with integer splits and numbers in its leaves; children come after their parents.
#[derive(Clone, Debug)]
pub(crate) struct ValueTree {
    pub(crate) nodes: Vec<ValueNode>,
    pub(crate) leaves: Vec<Leaf>,
}

/// A forest that predicts a drop if and only if the sum of `base` and its leaves' values is above
/// `threshold`.
#[derive(Clone, Debug)]
pub(crate) struct ValueForest {
    pub(crate) trees: Vec<ValueTree>,
    pub(crate) base: f64,
    pub(crate) threshold: f64,
    /// In what the tool adds up.
    pub(crate) sums: Values,
    /// Scores this near the threshold may be decided otherwise by what the tool does after adding
    /// up, a logistic function for example.
    pub(crate) blur: f64,
}

impl Leaf {
    /// A leaf that adds `value`.
    pub(crate) fn new(value: f64) -> Self {
        Leaf { value, grain: grain(value) }
    }
}

/// Exponent of the lowest bit set in a finite number; large for 0, a multiple of everything.
pub(crate) fn grain(value: f64) -> i32 {
    if value == 0.0 {
        return i32::MAX / 2;
    }
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) =
        if exponent == 0 { (fraction, 1) } else { (fraction | 1 << 52, exponent) };
    exponent - 1075 + mantissa.trailing_zeros() as i32
}

impl ValueTree {
    /// Builds tree number `tree` from its root: checks that every node is met once, that features
    /// exist and that no tree is too deep, and makes thresholds integers. `node` gives a node by its
    /// number, or says what is wrong with it. Splits with a side where no integer goes are left out.
    pub(crate) fn build(
        tree: usize,
        root: usize,
        features: usize,
        values: Values,
        node: impl Fn(usize) -> Result<ForeignNode, String>,
    ) -> Result<Self, ImportError> {
        let mut built = ValueTree { nodes: Vec::new(), leaves: Vec::new() };
        let fault = |at: usize, problem: String| ImportError::Wrong {
            at: format!("tree {tree}, node {at}"),
            problem,
        };
        let mut seen = std::collections::BTreeSet::new();
        // Numbers of nodes to do, how deep they are, and where their parent wants to know their place.
        let mut open = vec![(root, 0_usize, None)];
        while let Some((mut at, mut depth, parent)) = open.pop() {
            let found = loop {
                if !seen.insert(at) {
                    return Err(fault(at, "is reached twice from the root".to_owned()));
                }
                let found = node(at).map_err(|problem| fault(at, problem))?;
                let ForeignNode::Split { feature, threshold, comparison, left, right } = found
                else {
                    break found;
                };
                if feature >= features {
                    return Err(fault(
                        at,
                        format!("splits on feature {feature}, but there are {features} (from 0)"),
                    ));
                }
                if threshold.is_nan() {
                    return Err(fault(at, "has no number as its threshold".to_owned()));
                }
                depth += 1;
                if depth > MAX_DEPTH {
                    let at = format!("tree {tree}, node {at}");
                    let why = format!("is more than {MAX_DEPTH} splits deep, the most we hold");
                    return Err(ImportError::Refused { at, why });
                }
                match largest_left(threshold, comparison, values) {
                    None => at = right,
                    Some(u32::MAX) => at = left,
                    Some(_) => break found,
                }
            };
            let place = built.nodes.len() as u32;
            if let Some((parent, is_left)) = parent {
                built.connect(parent, is_left, place);
            }
            match found {
                ForeignNode::Leaf(leaf) if leaf.value.abs() <= LARGEST => {
                    built.nodes.push(ValueNode::Leaf(built.leaves.len() as u32));
                    built.leaves.push(leaf);
                }
                ForeignNode::Leaf(leaf) => {
                    return Err(fault(at, format!("has value {}", leaf.value)));
                }
                ForeignNode::Split { feature, threshold, comparison, left, right } => {
                    let feature = u16::try_from(feature).map_err(|_| {
                        fault(at, format!("splits on feature {feature}, above 65535"))
                    })?;
                    let threshold = largest_left(threshold, comparison, values).unwrap_or(0);
                    built.nodes.push(ValueNode::Split { feature, threshold, left: 0, right: 0 });
                    open.push((right, depth, Some((place, false))));
                    open.push((left, depth, Some((place, true))));
                }
            }
        }
        Ok(built)
    }

    fn connect(&mut self, parent: u32, is_left: bool, place: u32) {
        if let ValueNode::Split { left, right, .. } = &mut self.nodes[parent as usize] {
            *(if is_left { left } else { right }) = place;
        }
    }

    /// The tree with integer weights in its leaves; splits between equal weights are undone.
    pub(crate) fn with_weights(&self, weights: &[u8]) -> Tree {
        let mut nodes = Vec::new();
        self.copy(0, &self.uniform(weights), weights, &mut nodes);
        Tree { nodes }
    }

    /// Of each node, the weight that all leaves below it have in common.
    fn uniform(&self, weights: &[u8]) -> Vec<Option<u8>> {
        let mut uniform = vec![None; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().rev() {
            uniform[at] = match *node {
                ValueNode::Leaf(leaf) => Some(weights[leaf as usize]),
                ValueNode::Split { left, right, .. } => uniform[left as usize]
                    .filter(|_| uniform[left as usize] == uniform[right as usize]),
            };
        }
        uniform
    }

    /// Appends the node `at` and all below it, at most [`MAX_DEPTH`] deep.
    fn copy(&self, at: usize, uniform: &[Option<u8>], weights: &[u8], nodes: &mut Vec<Node>) {
        let place = nodes.len();
        match (uniform[at], self.nodes[at]) {
            (Some(weight), _) => nodes.push(Node::Leaf { weight }),
            (None, ValueNode::Leaf(leaf)) => {
                nodes.push(Node::Leaf { weight: weights[leaf as usize] });
            }
            (None, ValueNode::Split { feature, threshold, left, right }) => {
                nodes.push(Node::Split { feature, threshold, left: 0, right: 0 });
                let first = nodes.len() as u32;
                self.copy(left as usize, uniform, weights, nodes);
                let second = nodes.len() as u32;
                self.copy(right as usize, uniform, weights, nodes);
                nodes[place] = Node::Split { feature, threshold, left: first, right: second };
            }
        }
    }

    /// The smallest and the largest value of a leaf.
    pub(crate) fn range(&self) -> (f64, f64) {
        self.leaves.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), leaf| {
            (least.min(leaf.value), most.max(leaf.value))
        })
    }
}
