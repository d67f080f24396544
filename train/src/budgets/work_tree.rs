//! A tree of a shrinking forest, as it is or after a move.

use super::state_columns::StateColumns;

/// A node. Thresholds are indices into the states' possible ones.
#[derive(Clone, Copy, Debug)]
pub(super) enum WorkNode {
    Split { feature: u16, threshold: u16, left: u32, right: u32 },
    Leaf { weight: u8 },
}

/// Feature, and the threshold numbers that its splits move from and to.
pub(super) type Snap = (u16, u16, u16);

impl WorkNode {
    /// The node after its threshold has moved, if it is the one that moves.
    pub(super) fn snapped(self, snap: Option<Snap>) -> Self {
        match (self, snap) {
            (WorkNode::Split { feature, threshold, left, right }, Some((of, from, to)))
                if (feature, threshold) == (of, from) =>
            {
                WorkNode::Split { feature, threshold: to, left, right }
            }
            _ => self,
        }
    }
}

/// The size of a tree without splits that make no difference.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    /// Leaves.
    pub(super) leaves: u64,
    /// Distinct pairs of a feature and a threshold number, ascending.
    pub(super) splits: Vec<(u16, u16)>,
}

/// A tree after a move.
pub(super) struct WorkTree<'a> {
    pub(super) states: &'a StateColumns<'a>,
    pub(super) nodes: &'a [WorkNode],
    pub(super) snap: Option<Snap>,
    /// A node that is a leaf of this weight.
    pub(super) collapsed: Option<(usize, u8)>,
}

impl WorkTree<'_> {
    /// Its size.
    pub(super) fn outline(&self) -> Outline {
        let mut outline = Outline::default();
        for node in self.written() {
            match node {
                WorkNode::Leaf { .. } => outline.leaves += 1,
                WorkNode::Split { feature, threshold, .. } => {
                    outline.splits.push((feature, threshold));
                }
            }
        }
        outline.splits.sort_unstable();
        outline.splits.dedup();
        outline
    }

    /// Its nodes without unreachable ones and splits that make no difference.
    pub(super) fn written(&self) -> Vec<WorkNode> {
        let mut nodes = Vec::new();
        self.write(0, &mut vec![(0, u32::MAX); self.states.features().len()], &mut nodes);
        nodes
    }

    /// Writes the subtree of a node whose rows have these lowest and highest values of each
    /// feature. Splits that send all of them to one side, or whose sides are leaves of equal
    /// weight, are removed: tables leave them out, and other weights must not bring them back.
    fn write(&self, at: usize, reached: &mut [(u32, u32)], nodes: &mut Vec<WorkNode>) {
        let node = match self.collapsed {
            Some((node, weight)) if node == at => WorkNode::Leaf { weight },
            _ => self.nodes[at].snapped(self.snap),
        };
        let WorkNode::Split { feature, threshold, left, right } = node else {
            return nodes.push(node);
        };
        let column = usize::from(feature);
        let value = self.states.thresholds(feature)[usize::from(threshold)];
        let (low, high) = reached[column];
        if value >= high {
            return self.write(left as usize, reached, nodes);
        }
        if value < low {
            return self.write(right as usize, reached, nodes);
        }
        let own = nodes.len();
        nodes.push(node);
        reached[column] = (low, value);
        self.write(left as usize, reached, nodes);
        let right_at = nodes.len();
        reached[column] = (value + 1, high);
        self.write(right as usize, reached, nodes);
        reached[column] = (low, high);
        if let [WorkNode::Leaf { weight: a }, WorkNode::Leaf { weight: b }] = nodes[own + 1..]
            && a == b
        {
            nodes.truncate(own);
            return nodes.push(WorkNode::Leaf { weight: a });
        }
        let (left, right) = (own as u32 + 1, right_at as u32);
        nodes[own] = WorkNode::Split { feature, threshold, left, right };
    }
}

/// By feature and threshold number, the reachable splits.
pub(super) fn uses(trees: &[Vec<WorkNode>], states: &StateColumns<'_>) -> Vec<Vec<u32>> {
    let features = 0..states.features().len() as u16;
    let mut uses: Vec<Vec<u32>> =
        features.map(|feature| vec![0; states.thresholds(feature).len()]).collect();
    for tree in trees {
        let mut stack = vec![0_usize];
        while let Some(at) = stack.pop() {
            if let WorkNode::Split { feature, threshold, left, right } = tree[at] {
                uses[usize::from(feature)][usize::from(threshold)] += 1;
                stack.extend([left as usize, right as usize]);
            }
        }
    }
    uses
}

/// The leaf that a state reaches, once a threshold has moved.
pub(super) fn leaf_of(
    tree: &[WorkNode],
    states: &StateColumns<'_>,
    state: u32,
    snap: Option<Snap>,
) -> u32 {
    let mut at = 0_u32;
    loop {
        match tree[at as usize].snapped(snap) {
            WorkNode::Leaf { .. } => return at,
            WorkNode::Split { feature, threshold, left, right } => {
                at = if states.is_left(state, feature, threshold) { left } else { right };
            }
        }
    }
}

/// The weight of a leaf.
pub(super) fn weight(tree: &[WorkNode], leaf: u32) -> u32 {
    match tree[leaf as usize] {
        WorkNode::Leaf { weight } => u32::from(weight),
        WorkNode::Split { .. } => 0,
    }
}
