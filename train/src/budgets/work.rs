//! A shrinking forest, with the leaf that each state reaches.

use super::state_columns::StateColumns;
use super::states::StateCounts;
use dropcast_forest::{Forest, Node, ScoreHistogram, Tree};

/// One step towards a smaller forest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Move {
    /// The split `node` of `tree`, with two leaves as children, becomes a leaf.
    Collapse { tree: usize, node: usize },
    /// Every split of `feature` at its possible threshold number `from` moves to number `to`.
    Snap { feature: u16, from: u16, to: u16 },
}

/// The current forest. Thresholds are indices into the states' possible ones.
#[derive(Clone)]
pub(super) struct WorkForest<'s> {
    states: &'s StateColumns<'s>,
    trees: Vec<Vec<WorkNode>>,
    /// By tree and node, the states that reach it if it is a leaf.
    members: Vec<Vec<Vec<u32>>>,
    /// By feature and threshold number, the reachable splits.
    uses: Vec<Vec<u32>>,
    /// By state, the sum of weights.
    scores: Vec<u32>,
    /// Scores of the rows used for choosing.
    histogram: ScoreHistogram,
    class_weight: [f64; 2],
}

#[derive(Clone, Copy, Debug)]
enum WorkNode {
    Split { feature: u16, threshold: u16, left: u32, right: u32 },
    Leaf { weight: u8 },
}

/// The size of a tree without splits that make no difference.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    /// Leaves.
    pub(super) leaves: u64,
    /// Distinct pairs of a feature and a threshold number, ascending.
    pub(super) splits: Vec<(u16, u16)>,
}

/// A state that reaches another leaf after a move.
pub(super) struct Moved {
    state: u32,
    tree: usize,
    /// The leaf before and after.
    leaves: [u32; 2],
    /// The leaf's weight before and after.
    weights: [u32; 2],
}

impl<'s> WorkForest<'s> {
    /// `forest` on states that were made for it.
    pub(super) fn new(
        forest: &Forest,
        states: &'s StateColumns<'s>,
        class_weight: [f64; 2],
    ) -> Self {
        let node = |node: &Node| match *node {
            Node::Leaf { weight } => WorkNode::Leaf { weight },
            Node::Split { feature, threshold, left, right } => {
                let possible = states.thresholds(feature);
                let number = possible.partition_point(|&other| other < threshold) as u16;
                WorkNode::Split { feature, threshold: number, left, right }
            }
        };
        let trees: Vec<Vec<WorkNode>> =
            forest.trees.iter().map(|tree| tree.nodes.iter().map(node).collect()).collect();
        let mut scores = vec![0; states.len()];
        let mut members = Vec::new();
        for tree in &trees {
            let mut of_tree = vec![Vec::new(); tree.len()];
            for (state, score) in (0_u32..).zip(&mut scores) {
                let leaf = leaf_of(tree, states, state, None);
                of_tree[leaf as usize].push(state);
                *score += weight(tree, leaf);
            }
            members.push(of_tree);
        }
        let mut work = WorkForest {
            states,
            uses: uses(&trees, states),
            histogram: ScoreHistogram::new(trees.len()),
            trees,
            members,
            scores,
            class_weight,
        };
        for (state, &score) in (0_u32..).zip(&work.scores) {
            work.histogram.add_rows(score, states.chosen(state));
        }
        work
    }

    /// Number of trees.
    pub(super) fn trees(&self) -> usize {
        self.trees.len()
    }

    /// Number of features.
    pub(super) fn features(&self) -> usize {
        self.uses.len()
    }

    /// The possible thresholds of a feature.
    pub(super) fn thresholds(&self, feature: u16) -> &[u32] {
        self.states.thresholds(feature)
    }

    /// Scores of the rows used for choosing.
    pub(super) fn scores(&self) -> &ScoreHistogram {
        &self.histogram
    }

    /// The leaf of a tree that a state reaches, as a node index.
    pub(super) fn leaf(&self, tree: usize, state: usize) -> u32 {
        leaf_of(&self.trees[tree], self.states, state as u32, None)
    }

    /// Scores of the rows of a part.
    pub(super) fn histogram(&self, part: impl Fn(&StateCounts) -> [u64; 2]) -> ScoreHistogram {
        let mut scores = ScoreHistogram::new(self.trees.len());
        for (&score, counts) in self.scores.iter().zip(self.states.rows()) {
            scores.add_rows(score, part(counts));
        }
        scores
    }

    /// The forest, without unreachable nodes and splits that make no difference.
    pub(super) fn forest(&self) -> Forest {
        self.forest_of(&self.trees)
    }

    /// The forest after a move.
    pub(super) fn forest_after(&self, step: Move) -> Forest {
        let mut trees = self.trees.clone();
        self.edit(step).apply(&mut trees);
        self.forest_of(&trees)
    }

    /// `value` of the scores after a move. The forest is unchanged.
    pub(super) fn value_after(
        &mut self,
        step: Move,
        value: impl Fn(&ScoreHistogram) -> f64,
    ) -> f64 {
        let moved = self.moved(step);
        for moved in &moved {
            self.rescore(moved.state, moved.weights);
        }
        let after = value(&self.histogram);
        for Moved { state, weights: [old, new], .. } in &moved {
            self.rescore(*state, [*new, *old]);
        }
        after
    }

    /// Makes a move.
    pub(super) fn make(&mut self, step: Move) {
        let moved = self.moved(step);
        self.count_uses(step);
        self.edit(step).apply(&mut self.trees);
        for moved in &moved {
            self.rescore(moved.state, moved.weights);
        }
        self.move_members(&moved);
    }

    /// A state's score with one weight replaced.
    fn rescore(&mut self, state: u32, [old, new]: [u32; 2]) {
        let score = self.scores[state as usize];
        let next = score - old + new;
        self.scores[state as usize] = next;
        self.histogram.move_rows(score, next, self.states.chosen(state));
    }

    fn count_uses(&mut self, step: Move) {
        match step {
            Move::Collapse { tree, node } => {
                if let WorkNode::Split { feature, threshold, .. } = self.trees[tree][node] {
                    self.uses[usize::from(feature)][usize::from(threshold)] -= 1;
                }
            }
            Move::Snap { feature, from, to } => {
                let uses = &mut self.uses[usize::from(feature)];
                let moved = std::mem::take(&mut uses[usize::from(from)]);
                uses[usize::from(to)] += moved;
            }
        }
    }

    fn move_members(&mut self, moved: &[Moved]) {
        for moved in moved.chunk_by(|a, b| a.tree == b.tree) {
            let members = &mut self.members[moved[0].tree];
            let mut left: Vec<(u32, u32)> =
                moved.iter().map(|moved| (moved.leaves[0], moved.state)).collect();
            left.sort_unstable();
            for left in left.chunk_by(|a, b| a.0 == b.0) {
                let gone = |state: &u32| left.binary_search(&(left[0].0, *state)).is_ok();
                members[left[0].0 as usize].retain(|state| !gone(state));
            }
            for moved in moved {
                members[moved.leaves[1] as usize].push(moved.state);
            }
        }
    }

    fn forest_of(&self, trees: &[Vec<WorkNode>]) -> Forest {
        let features = self.states.features().to_vec();
        let trees = trees.iter().map(|tree| Tree { nodes: self.nodes(tree) }).collect();
        Forest { features, vote_threshold: 0, trees }
    }

    fn nodes(&self, tree: &[WorkNode]) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut reached = vec![(0, u32::MAX); self.states.features().len()];
        self.write(tree, 0, &mut reached, &mut nodes);
        nodes
    }

    /// Writes the subtree of a node whose rows have these lowest and highest values of each
    /// feature. Splits that send all of them to one side, or whose sides are leaves of equal
    /// weight, are removed: tables leave them out, and other weights must not bring them back.
    fn write(
        &self,
        tree: &[WorkNode],
        at: usize,
        reached: &mut [(u32, u32)],
        nodes: &mut Vec<Node>,
    ) {
        let (feature, number, left, right) = match tree[at] {
            WorkNode::Leaf { weight } => return nodes.push(Node::Leaf { weight }),
            WorkNode::Split { feature, threshold, left, right } => {
                (feature, usize::from(threshold), left as usize, right as usize)
            }
        };
        let column = usize::from(feature);
        let threshold = self.states.thresholds(feature)[number];
        let (low, high) = reached[column];
        if threshold >= high {
            return self.write(tree, left, reached, nodes);
        }
        if threshold < low {
            return self.write(tree, right, reached, nodes);
        }
        let own = nodes.len();
        nodes.push(Node::Leaf { weight: 0 });
        let left_at = nodes.len();
        reached[column] = (low, threshold);
        self.write(tree, left, reached, nodes);
        let right_at = nodes.len();
        reached[column] = (threshold + 1, high);
        self.write(tree, right, reached, nodes);
        reached[column] = (low, high);
        if let [Node::Leaf { weight: a }, Node::Leaf { weight: b }] = nodes[left_at..]
            && a == b
        {
            nodes.truncate(own);
            return nodes.push(Node::Leaf { weight: a });
        }
        let (left, right) = (left_at as u32, right_at as u32);
        nodes[own] = Node::Split { feature, threshold, left, right };
    }

    /// The trees that a move changes.
    pub(super) fn changed_trees(&self, step: Move) -> Vec<usize> {
        match step {
            Move::Collapse { tree, .. } => vec![tree],
            Move::Snap { feature, from, .. } => {
                let has_it = |&tree: &usize| {
                    self.trees[tree].iter().any(|node| {
                        matches!(node, WorkNode::Split { feature: of, threshold, .. }
                            if (*of, *threshold) == (feature, from))
                    })
                };
                (0..self.trees.len()).filter(has_it).collect()
            }
        }
    }

    /// A tree, after a move if one is given, without splits that make no difference.
    pub(super) fn outline(&self, tree: usize, step: Option<Move>) -> Outline {
        let mut outline = Outline::default();
        let mut reached = vec![(0, u32::MAX); self.features()];
        let collapsed = match step {
            Some(Move::Collapse { tree: changed, node }) if changed == tree => {
                Some((node, self.collapsed_weight(tree, node)))
            }
            _ => None,
        };
        let view = View { work: self, tree: &self.trees[tree], snap: snap_of(step), collapsed };
        view.outline(0, &mut reached, &mut outline);
        outline.splits.sort_unstable();
        outline.splits.dedup();
        outline
    }

    /// Every split whose children are leaves, in the order of trees and nodes.
    pub(super) fn collapses(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        for (number, tree) in self.trees.iter().enumerate() {
            let mut stack = vec![0];
            while let Some(at) = stack.pop() {
                let WorkNode::Split { left, right, .. } = tree[at] else { continue };
                let (left, right) = (left as usize, right as usize);
                let is_leaf = |at: usize| matches!(tree[at], WorkNode::Leaf { .. });
                if is_leaf(left) && is_leaf(right) {
                    moves.push(Move::Collapse { tree: number, node: at });
                }
                stack.extend([left, right]);
            }
        }
        moves.sort_unstable();
        moves
    }

    /// Every used threshold moved to its nearest possible and nearest used neighbours.
    pub(super) fn snaps(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        for (feature, used) in self.used().into_iter().enumerate() {
            let possible = self.states.thresholds(feature as u16).len();
            for (nth, &from) in used.iter().enumerate() {
                let neighbours =
                    [nth.checked_sub(1).map(|before| used[before]), used.get(nth + 1).copied()];
                let near = (from.saturating_sub(NEAR)..=from.saturating_add(NEAR))
                    .filter(|&to| usize::from(to) < possible);
                let targets = neighbours.into_iter().flatten().chain(near);
                let feature = feature as u16;
                moves.extend(targets.filter(|&to| to != from).map(|to| Move::Snap {
                    feature,
                    from,
                    to,
                }));
            }
        }
        moves.sort_unstable();
        moves.dedup();
        moves
    }

    /// By feature, the thresholds of reachable splits.
    pub(super) fn used(&self) -> Vec<Vec<u16>> {
        let numbers = |uses: &Vec<u32>| {
            let used = (0_u16..).zip(uses).filter(|(_, uses)| **uses > 0);
            used.map(|(number, _)| number).collect()
        };
        self.uses.iter().map(numbers).collect()
    }

    /// Whether a threshold is used.
    pub(super) fn is_used(&self, feature: u16, number: u16) -> bool {
        self.uses[usize::from(feature)][usize::from(number)] > 0
    }

    /// Whether a move found earlier can still be made.
    pub(super) fn allows(&self, step: Move) -> bool {
        match step {
            Move::Collapse { tree, node } => match self.trees[tree][node] {
                WorkNode::Split { left, right, .. } => [left, right].iter().all(|&child| {
                    matches!(self.trees[tree][child as usize], WorkNode::Leaf { .. })
                }),
                WorkNode::Leaf { .. } => false,
            },
            Move::Snap { feature, from, .. } => self.is_used(feature, from),
        }
    }

    /// The collapse that becomes possible once `node` is a leaf, if any.
    pub(super) fn collapse_above(&self, tree: usize, node: usize) -> Option<Move> {
        let is_above = |at: &WorkNode| {
            matches!(at, WorkNode::Split { left, right, .. }
                if *left as usize == node || *right as usize == node)
        };
        let above = self.trees[tree].iter().position(is_above)?;
        let step = Move::Collapse { tree, node: above };
        self.allows(step).then_some(step)
    }

    /// What a move does to the trees.
    fn edit(&self, step: Move) -> Edit {
        match step {
            Move::Collapse { tree, node } => {
                Edit::Leaf { tree, node, weight: self.collapsed_weight(tree, node) }
            }
            Move::Snap { feature, from, to } => Edit::Snap((feature, from, to)),
        }
    }

    /// The states that reach another leaf after a move.
    fn moved(&self, step: Move) -> Vec<Moved> {
        match step {
            Move::Collapse { tree, node } => self.moved_by_collapse(tree, node),
            Move::Snap { feature, from, to } => {
                // A state between the two thresholds may change sides.
                let between = self.states.between(feature, from, to);
                let trees = self.changed_trees(step);
                trees.into_iter().flat_map(|tree| self.moved_by_snap(tree, step, between)).collect()
            }
        }
    }

    fn moved_by_collapse(&self, tree: usize, node: usize) -> Vec<Moved> {
        let nodes = &self.trees[tree];
        let WorkNode::Split { left, right, .. } = nodes[node] else { return Vec::new() };
        let own = u32::from(self.collapsed_weight(tree, node));
        let from_leaf = |leaf: u32| {
            self.members[tree][leaf as usize].iter().map(move |&state| Moved {
                state,
                tree,
                leaves: [leaf, node as u32],
                weights: [weight(nodes, leaf), own],
            })
        };
        [left, right].into_iter().flat_map(from_leaf).collect()
    }

    fn moved_by_snap(&self, tree: usize, step: Move, between: &[u32]) -> Vec<Moved> {
        let nodes = &self.trees[tree];
        let moved = between.iter().filter_map(|&state| {
            let leaves =
                [None, snap_of(Some(step))].map(|snap| leaf_of(nodes, self.states, state, snap));
            let weights = leaves.map(|leaf| weight(nodes, leaf));
            (leaves[0] != leaves[1]).then_some(Moved { state, tree, leaves, weights })
        });
        moved.collect()
    }

    /// A collapsed split gets the weight of its training rows.
    fn collapsed_weight(&self, tree: usize, node: usize) -> u8 {
        let WorkNode::Split { left, right, .. } = self.trees[tree][node] else { return 0 };
        let mut train = [0_u64; 2];
        for leaf in [left, right] {
            for &state in &self.members[tree][leaf as usize] {
                let counts = self.states.rows()[state as usize].train;
                train = [train[0] + counts[0], train[1] + counts[1]];
            }
        }
        self.leaf_weight(train)
    }

    /// The drop share of training rows, class weights applied, scaled to 0..=255; a leaf without
    /// rows predicts no drop.
    fn leaf_weight(&self, train: [u64; 2]) -> u8 {
        let [accepts, drops] = [0, 1].map(|class| train[class] as f64 * self.class_weight[class]);
        if drops == 0.0 { 0 } else { (255.0 * drops / (accepts + drops) + 0.5).floor() as u8 }
    }
}

/// What a move does to the trees.
enum Edit {
    /// A node becomes a leaf.
    Leaf { tree: usize, node: usize, weight: u8 },
    /// Splits move to another threshold.
    Snap(Snap),
}

impl Edit {
    fn apply(&self, trees: &mut [Vec<WorkNode>]) {
        match *self {
            Edit::Leaf { tree, node, weight } => trees[tree][node] = WorkNode::Leaf { weight },
            Edit::Snap(snap) => {
                trees.iter_mut().flatten().for_each(|node| *node = snapped(*node, Some(snap)));
            }
        }
    }
}

/// A tree as it is after a move.
struct View<'a> {
    work: &'a WorkForest<'a>,
    tree: &'a [WorkNode],
    snap: Option<Snap>,
    /// A node that is a leaf of this weight.
    collapsed: Option<(usize, u8)>,
}

/// Feature, and the threshold numbers that its splits move from and to.
type Snap = (u16, u16, u16);

impl View<'_> {
    /// Measures the subtree of a node whose rows have these lowest and highest values of each
    /// feature, as [`WorkForest::write`] would write it. Returns the weight if it is a leaf.
    fn outline(&self, at: usize, reached: &mut [(u32, u32)], outline: &mut Outline) -> Option<u8> {
        let node = match self.collapsed {
            Some((node, weight)) if node == at => WorkNode::Leaf { weight },
            _ => snapped(self.tree[at], self.snap),
        };
        let (feature, number, left, right) = match node {
            WorkNode::Leaf { weight } => {
                outline.leaves += 1;
                return Some(weight);
            }
            WorkNode::Split { feature, threshold, left, right } => {
                (feature, threshold, left as usize, right as usize)
            }
        };
        let column = usize::from(feature);
        let threshold = self.work.states.thresholds(feature)[usize::from(number)];
        let (low, high) = reached[column];
        if threshold >= high {
            return self.outline(left, reached, outline);
        }
        if threshold < low {
            return self.outline(right, reached, outline);
        }
        reached[column] = (low, threshold);
        let below = self.outline(left, reached, outline);
        reached[column] = (threshold + 1, high);
        let above = self.outline(right, reached, outline);
        reached[column] = (low, high);
        if below.is_some() && below == above {
            outline.leaves -= 1;
            return below;
        }
        outline.splits.push((feature, number));
        None
    }
}

/// A threshold moves to one of this many nearest possible thresholds on either side.
const NEAR: u16 = 2;

fn snap_of(step: Option<Move>) -> Option<Snap> {
    match step {
        Some(Move::Snap { feature, from, to }) => Some((feature, from, to)),
        _ => None,
    }
}

fn snapped(node: WorkNode, snap: Option<Snap>) -> WorkNode {
    match (node, snap) {
        (WorkNode::Split { feature, threshold, left, right }, Some((of, from, to)))
            if (feature, threshold) == (of, from) =>
        {
            WorkNode::Split { feature, threshold: to, left, right }
        }
        _ => node,
    }
}

/// By feature and threshold number, the reachable splits.
fn uses(trees: &[Vec<WorkNode>], states: &StateColumns<'_>) -> Vec<Vec<u32>> {
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

fn leaf_of(tree: &[WorkNode], states: &StateColumns<'_>, state: u32, snap: Option<Snap>) -> u32 {
    let mut at = 0_u32;
    loop {
        match snapped(tree[at as usize], snap) {
            WorkNode::Leaf { .. } => return at,
            WorkNode::Split { feature, threshold, left, right } => {
                at = if states.is_left(state, feature, threshold) { left } else { right };
            }
        }
    }
}

fn weight(tree: &[WorkNode], leaf: u32) -> u32 {
    match tree[leaf as usize] {
        WorkNode::Leaf { weight } => u32::from(weight),
        WorkNode::Split { .. } => 0,
    }
}
