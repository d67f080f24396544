//! A shrinking forest, with the leaf that each state reaches.

use super::state_columns::StateColumns;
use super::states::StateCounts;
use super::work_tree::{Outline, Snap, WorkNode, WorkTree, leaf_of, uses, weight};
use dropcast_forest::{Forest, Node, ScoreHistogram, Tree};

/// One step towards a smaller forest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Move {
    /// The split `node` of `tree`, with two leaves as children, becomes a leaf.
    Collapse { tree: usize, node: usize },
    /// Every split of `feature` at its possible threshold number `from` moves to number `to`.
    Snap { feature: u16, from: u16, to: u16 },
}

/// The current forest.
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
        self.forest_if(None)
    }

    /// The forest after a move.
    pub(super) fn forest_after(&self, step: Move) -> Forest {
        self.forest_if(Some(step))
    }

    fn forest_if(&self, step: Option<Move>) -> Forest {
        let node = |node: WorkNode| match node {
            WorkNode::Leaf { weight } => Node::Leaf { weight },
            WorkNode::Split { feature, threshold, left, right } => {
                let threshold = self.thresholds(feature)[usize::from(threshold)];
                Node::Split { feature, threshold, left, right }
            }
        };
        let nodes = |tree| self.tree(tree, step).written().into_iter().map(node).collect();
        let trees = (0..self.trees.len()).map(|tree| Tree { nodes: nodes(tree) }).collect();
        Forest { features: self.states.features().to_vec(), vote_threshold: 0, trees }
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
        match step {
            Move::Collapse { tree, node } => {
                let weight = self.collapsed_weight(tree, node);
                self.trees[tree][node] = WorkNode::Leaf { weight };
            }
            Move::Snap { feature, from, to } => {
                let snap = Some((feature, from, to));
                self.trees.iter_mut().flatten().for_each(|node| *node = node.snapped(snap));
            }
        }
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
        self.tree(tree, step).outline()
    }

    fn tree(&self, tree: usize, step: Option<Move>) -> WorkTree<'_> {
        let (mut snap, mut collapsed) = (None, None);
        match step {
            Some(Move::Collapse { tree: changed, node }) if changed == tree => {
                collapsed = Some((node, self.collapsed_weight(tree, node)));
            }
            Some(Move::Snap { feature, from, to }) => snap = Some((feature, from, to)),
            _ => {}
        }
        WorkTree { states: self.states, nodes: &self.trees[tree], snap, collapsed }
    }

    /// Every split whose children are leaves, in the order of trees and nodes.
    pub(super) fn collapses(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        for (number, tree) in self.trees.iter().enumerate() {
            let mut stack = vec![0];
            while let Some(at) = stack.pop() {
                let WorkNode::Split { left, right, .. } = tree[at] else { continue };
                let step = Move::Collapse { tree: number, node: at };
                moves.extend(self.allows(step).then_some(step));
                stack.extend([left as usize, right as usize]);
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

    /// The states that reach another leaf after a move.
    fn moved(&self, step: Move) -> Vec<Moved> {
        match step {
            Move::Collapse { tree, node } => self.moved_by_collapse(tree, node),
            Move::Snap { feature, from, to } => {
                // A state between the two thresholds may change sides.
                let between = self.states.between(feature, from, to);
                let trees = self.changed_trees(step);
                trees
                    .into_iter()
                    .flat_map(|tree| self.moved_by_snap(tree, (feature, from, to), between))
                    .collect()
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

    fn moved_by_snap(&self, tree: usize, snap: Snap, between: &[u32]) -> Vec<Moved> {
        let nodes = &self.trees[tree];
        let moved = between.iter().filter_map(|&state| {
            let leaves = [None, Some(snap)].map(|snap| leaf_of(nodes, self.states, state, snap));
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

/// A threshold moves to one of this many nearest possible thresholds on either side.
const NEAR: u16 = 2;
