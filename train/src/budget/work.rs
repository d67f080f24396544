//! A forest that is being squeezed, with where each state ends up in it.

use super::states::{ForestStates, StateCounts};
use dropcast_forest::{Forest, Node, ScoreHistogram, Tree};
use std::collections::BTreeMap;

/// One step towards a smaller forest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Move {
    /// The split `node` of `tree`, both of whose children are leaves, becomes a leaf.
    Collapse { tree: usize, node: usize },
    /// Every split of `feature` at threshold number `from` is moved to number `to`, of the
    /// feature's possible thresholds.
    Snap { feature: u16, from: u16, to: u16 },
}

/// The forest as it is now. Thresholds are numbers among the states' possible ones.
#[derive(Clone)]
pub(crate) struct WorkForest<'s> {
    states: &'s ForestStates,
    /// By feature and state, how many possible thresholds lie below.
    cells: Vec<Vec<u16>>,
    /// By state.
    rows: Vec<StateCounts>,
    trees: Vec<Vec<WorkNode>>,
    /// By tree and state, the leaf.
    leaves: Vec<Vec<u32>>,
    /// By state, the sum of weights.
    scores: Vec<u32>,
    /// Scores of the rows that are chosen on.
    histogram: ScoreHistogram,
    /// Whether these are validation rows, else training rows.
    validates: bool,
    class_weight: [f64; 2],
}

#[derive(Clone, Copy, Debug)]
enum WorkNode {
    Split { feature: u16, threshold: u16, left: u32, right: u32 },
    Leaf { weight: u8 },
}

/// A state that ends in another leaf after a move.
struct Moved {
    state: usize,
    tree: usize,
    leaf: u32,
    /// What its weight in the tree was, and will be.
    weights: [u32; 2],
}

impl<'s> WorkForest<'s> {
    /// `forest` on the rows of `states`, which was made for it.
    pub(crate) fn new(forest: &Forest, states: &'s ForestStates, class_weight: [f64; 2]) -> Self {
        let rows: Vec<StateCounts> = states.iter().map(|(_, counts)| *counts).collect();
        let column = |feature: usize| states.iter().map(|(state, _)| state[feature]).collect();
        let cells: Vec<Vec<u16>> = (0..states.features().len()).map(column).collect();
        let node = |node: &Node| match *node {
            Node::Leaf { weight } => WorkNode::Leaf { weight },
            Node::Split { feature, threshold, left, right } => {
                let possible = states.thresholds(usize::from(feature));
                let number = possible.partition_point(|&other| other < threshold) as u16;
                WorkNode::Split { feature, threshold: number, left, right }
            }
        };
        let trees: Vec<Vec<WorkNode>> =
            forest.trees.iter().map(|tree| tree.nodes.iter().map(node).collect()).collect();
        let of_tree = |tree: &Vec<WorkNode>| -> Vec<u32> {
            (0..rows.len()).map(|state| leaf_of(tree, &cells, state)).collect()
        };
        let leaves: Vec<Vec<u32>> = trees.iter().map(of_tree).collect();
        let score = |state: usize| {
            trees.iter().zip(&leaves).map(|(tree, leaves)| weight(tree, leaves[state])).sum()
        };
        let scores: Vec<u32> = (0..rows.len()).map(score).collect();
        let validates = rows.iter().any(|counts| counts.validation != [0, 0]);
        let histogram = ScoreHistogram::new(trees.len());
        let mut work = WorkForest {
            states,
            cells,
            rows,
            trees,
            leaves,
            scores,
            histogram,
            validates,
            class_weight,
        };
        work.histogram = work.histogram(|counts| chosen(validates, counts));
        work
    }

    /// Scores of the rows that are chosen on.
    pub(crate) fn scores(&self) -> &ScoreHistogram {
        &self.histogram
    }

    /// The leaf of a tree in which a state ends, as the index of its node.
    pub(crate) fn leaf(&self, tree: usize, state: usize) -> u32 {
        self.leaves[tree][state]
    }

    /// Scores of the rows of a part.
    pub(crate) fn histogram(&self, of: impl Fn(&StateCounts) -> [u64; 2]) -> ScoreHistogram {
        let mut scores = ScoreHistogram::new(self.trees.len());
        for (&score, counts) in self.scores.iter().zip(&self.rows) {
            scores.add_rows(score, of(counts));
        }
        scores
    }

    /// The forest, without nodes that nothing leads to and splits that make no difference.
    pub(crate) fn forest(&self) -> Forest {
        self.forest_of(&self.trees)
    }

    /// What a move would make of the scores and of the forest.
    pub(crate) fn after(&self, step: Move) -> (ScoreHistogram, Forest) {
        let mut trees = self.trees.clone();
        let moved = self.change(step, &mut trees);
        let mut histogram = self.histogram.clone();
        // A state may move in several trees: its score is followed from one to the next.
        let mut now: BTreeMap<usize, u32> = BTreeMap::new();
        for Moved { state, weights: [old, new], .. } in moved {
            let score = now.entry(state).or_insert(self.scores[state]);
            let next = *score - old + new;
            histogram.move_rows(*score, next, chosen(self.validates, &self.rows[state]));
            *score = next;
        }
        (histogram, self.forest_of(&trees))
    }

    /// Makes a move.
    pub(crate) fn make(&mut self, step: Move) {
        let mut trees = std::mem::take(&mut self.trees);
        let moved = self.change(step, &mut trees);
        self.trees = trees;
        for Moved { state, tree, leaf, weights: [old, new] } in moved {
            let score = self.scores[state];
            let next = score - old + new;
            let rows = chosen(self.validates, &self.rows[state]);
            self.histogram.move_rows(score, next, rows);
            self.scores[state] = next;
            self.leaves[tree][state] = leaf;
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

    /// Writes what is below a node that rows reach with such a lowest and highest value of each
    /// feature. Splits that all of them pass to one side, or whose sides are leaves of one weight,
    /// are undone: tables leave them out, and other weights must not bring them back.
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
        let threshold = self.states.thresholds(column)[number];
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

    /// Every split whose children are leaves, in the order of trees and nodes.
    pub(crate) fn collapses(&self) -> Vec<Move> {
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

    /// Every used threshold moved to its nearest possible and used neighbours.
    pub(crate) fn snaps(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        for (feature, used) in self.used().into_iter().enumerate() {
            let possible = self.states.thresholds(feature).len();
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

    /// Of each feature, the thresholds of splits that are reached.
    pub(crate) fn used(&self) -> Vec<Vec<u16>> {
        let mut used = vec![Vec::new(); self.states.features().len()];
        for tree in &self.trees {
            let mut stack = vec![0_usize];
            while let Some(at) = stack.pop() {
                if let WorkNode::Split { feature, threshold, left, right } = tree[at] {
                    used[usize::from(feature)].push(threshold);
                    stack.extend([left as usize, right as usize]);
                }
            }
        }
        for thresholds in &mut used {
            thresholds.sort_unstable();
            thresholds.dedup();
        }
        used
    }

    /// Whether a move found earlier can still be made.
    pub(crate) fn allows(&self, step: Move) -> bool {
        match step {
            Move::Collapse { tree, node } => match self.trees[tree][node] {
                WorkNode::Split { left, right, .. } => [left, right].iter().all(|&child| {
                    matches!(self.trees[tree][child as usize], WorkNode::Leaf { .. })
                }),
                WorkNode::Leaf { .. } => false,
            },
            Move::Snap { feature, from, .. } => self.used()[usize::from(feature)].contains(&from),
        }
    }

    /// The collapse that becomes possible once `node` is a leaf, if there is one.
    pub(crate) fn collapse_above(&self, tree: usize, node: usize) -> Option<Move> {
        let is_above = |at: &WorkNode| {
            matches!(at, WorkNode::Split { left, right, .. }
                if *left as usize == node || *right as usize == node)
        };
        let above = self.trees[tree].iter().position(is_above)?;
        let step = Move::Collapse { tree, node: above };
        self.allows(step).then_some(step)
    }

    /// Changes `trees`, which are those of this forest; the states that end up elsewhere.
    fn change(&self, step: Move, trees: &mut [Vec<WorkNode>]) -> Vec<Moved> {
        match step {
            Move::Collapse { tree, node } => self.collapse(tree, node, &mut trees[tree]),
            Move::Snap { feature, from, to } => {
                let changed = trees.iter_mut().enumerate();
                changed.flat_map(|(at, tree)| self.snap((feature, from, to), at, tree)).collect()
            }
        }
    }

    /// A collapsed split weighs as its training rows do.
    fn collapse(&self, tree: usize, node: usize, nodes: &mut [WorkNode]) -> Vec<Moved> {
        let WorkNode::Split { left, right, .. } = nodes[node] else { return Vec::new() };
        let leaves = self.leaves[tree].iter().enumerate();
        let below: Vec<(usize, u32)> = leaves
            .filter(|&(_, &leaf)| leaf == left || leaf == right)
            .map(|(state, &leaf)| (state, leaf))
            .collect();
        let mut train = [0_u64; 2];
        for &(state, _) in &below {
            let counts = self.rows[state].train;
            train = [train[0] + counts[0], train[1] + counts[1]];
        }
        let own = self.leaf_weight(train);
        let moved = |&(state, leaf): &(usize, u32)| Moved {
            state,
            tree,
            leaf: node as u32,
            weights: [weight(nodes, leaf), u32::from(own)],
        };
        let moved = below.iter().map(moved).collect();
        nodes[node] = WorkNode::Leaf { weight: own };
        moved
    }

    /// The drop share of training rows, class weights applied, scaled to 0..=255; a leaf without
    /// rows predicts no drop.
    fn leaf_weight(&self, train: [u64; 2]) -> u8 {
        let [accepts, drops] = [0, 1].map(|class| train[class] as f64 * self.class_weight[class]);
        if drops == 0.0 { 0 } else { (255.0 * drops / (accepts + drops) + 0.5).floor() as u8 }
    }

    fn snap(
        &self,
        (feature, from, to): (u16, u16, u16),
        tree: usize,
        nodes: &mut [WorkNode],
    ) -> Vec<Moved> {
        let mut is_changed = false;
        for node in nodes.iter_mut() {
            if let WorkNode::Split { feature: of, threshold, .. } = node
                && (*of, *threshold) == (feature, from)
            {
                *threshold = to;
                is_changed = true;
            }
        }
        if !is_changed {
            return Vec::new();
        }
        let (low, high) = (from.min(to), from.max(to));
        let cells = self.cells[usize::from(feature)].iter().enumerate();
        // A state between the two thresholds may change sides.
        let between = cells.filter(|&(_, &cell)| cell > low && cell <= high);
        let moved = between.map(|(state, _)| {
            let (old, leaf) = (self.leaves[tree][state], leaf_of(nodes, &self.cells, state));
            Moved { state, tree, leaf, weights: [weight(nodes, old), weight(nodes, leaf)] }
        });
        moved.collect()
    }
}

fn chosen(validates: bool, counts: &StateCounts) -> [u64; 2] {
    if validates { counts.validation } else { counts.train }
}

/// How many possible thresholds away a threshold may be moved at a time.
const NEAR: u16 = 2;

fn leaf_of(tree: &[WorkNode], cells: &[Vec<u16>], state: usize) -> u32 {
    let mut at = 0_u32;
    loop {
        match tree[at as usize] {
            WorkNode::Leaf { .. } => return at,
            WorkNode::Split { feature, threshold, left, right } => {
                let goes_left = cells[usize::from(feature)][state] <= threshold;
                at = if goes_left { left } else { right };
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
