//! The search for the best forest that fits.

use super::work::{Move, WorkForest};
use super::{Budget, ForestCost, ForestStates, Objective, Resource};
use dropcast_forest::{Forest, ScoreHistogram};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A forest that fits a budget, and its scores.
#[derive(Clone, Debug)]
pub struct Squeezed {
    /// The forest; its vote threshold is still to be chosen.
    pub forest: Forest,
    /// Index of the forest that it was squeezed from.
    pub origin: usize,
    /// What the objective is worth on the rows that are chosen on.
    pub value: f64,
    /// Scores of the training rows.
    pub train_scores: ScoreHistogram,
    /// Scores of the validation rows.
    pub validation_scores: ScoreHistogram,
    /// Scores of the test rows.
    pub test_scores: ScoreHistogram,
}

/// Forests with so few prunings are searched exhaustively too.
const MOST_PRUNINGS: u64 = 2048;

/// The best forest within `budget` that is found from any of `forests`: by collapsing splits,
/// by letting splits share a threshold, and by rounding thresholds. `None` if none is found.
///
/// Each forest is made smaller step by step, always by the step that loses least for what it saves
/// of the budget's first resource, down to single leaves; the steps do not depend on how large the
/// budget is, so a larger budget never gives a worse forest. Where a forest has few prunings, all
/// of them are tried as well. Losses are measured on validation rows where there are any.
///
/// `class_weight` are the weights that leaves were made with, of accepted and dropped rows.
pub fn squeeze(
    forests: &[Forest],
    states: &ForestStates,
    class_weight: [f64; 2],
    objective: Objective,
    budget: &Budget,
    cost: &impl ForestCost,
) -> Option<Squeezed> {
    let mut search = Search { objective, budget, cost, best: None };
    for (origin, forest) in forests.iter().enumerate() {
        let start = WorkForest::new(forest, states, class_weight);
        search.greedy(start.clone(), origin);
        if prunings(forest) <= MOST_PRUNINGS {
            search.exhaustive(&start, origin, None);
        }
    }
    search.best.map(|(value, forest, origin)| {
        let work = WorkForest::new(&forest, states, class_weight);
        Squeezed {
            forest,
            origin,
            value,
            train_scores: work.histogram(|counts| counts.train),
            validation_scores: work.histogram(|counts| counts.validation),
            test_scores: work.histogram(|counts| counts.test),
        }
    })
}

struct Search<'a, C> {
    objective: Objective,
    budget: &'a Budget,
    cost: &'a C,
    best: Option<(f64, Forest, usize)>,
}

/// A move with what it was worth when it was last looked at.
struct Rated {
    /// Loss for what is saved; lower is better.
    rate: f64,
    step: Move,
    /// The step after which it was looked at.
    version: usize,
}

impl<C: ForestCost> Search<'_, C> {
    /// Takes a forest in, if it fits and is better.
    fn offer(&mut self, value: f64, forest: Forest, origin: usize) {
        let is_better = match &self.best {
            None => true,
            Some((best, found, _)) => match value.total_cmp(best) {
                Ordering::Greater => true,
                Ordering::Equal => self.first(&forest) < self.first(found),
                Ordering::Less => false,
            },
        };
        if is_better && self.budget.admits(&forest, self.cost) {
            self.best = Some((value, forest, origin));
        }
    }

    /// What a forest takes of the first resource.
    fn first(&self, forest: &Forest) -> u64 {
        let (resource, _): (Resource, u64) = self.budget.limits()[0];
        self.cost.cost(forest, resource).unwrap_or(u64::MAX)
    }

    /// Makes the best move again and again, until nothing is left. A move is looked at again only
    /// when it comes up: what a move loses seldom falls while others are made.
    fn greedy(&mut self, mut work: WorkForest<'_>, origin: usize) {
        let mut now = self.now(&work);
        self.offer(now.0, work.forest(), origin);
        let mut version = 0;
        let moves = work.collapses().into_iter().chain(work.snaps());
        let mut open: BinaryHeap<Rated> =
            moves.filter_map(|step| self.rate(&work, step, now, version)).collect();
        while let Some(next) = open.pop() {
            if !work.allows(next.step) {
                continue;
            }
            if next.version < version {
                open.extend(self.rate(&work, next.step, now, version));
                continue;
            }
            let used = work.used();
            work.make(next.step);
            version += 1;
            now = self.now(&work);
            self.offer(now.0, work.forest(), origin);
            let new = new_moves(&work, next.step, &used);
            open.extend(new.into_iter().filter_map(|step| self.rate(&work, step, now, version)));
        }
    }

    /// What the forest is worth, and what it takes of the first resource.
    fn now(&self, work: &WorkForest<'_>) -> (f64, u64) {
        (self.objective.value(work.scores()), self.first(&work.forest()))
    }

    /// What a move is worth. `None` for one that saves nothing and is not a collapse: only
    /// collapses are sure to come to an end.
    fn rate(
        &self,
        work: &WorkForest<'_>,
        step: Move,
        (value, size): (f64, u64),
        version: usize,
    ) -> Option<Rated> {
        let (scores, forest) = work.after(step);
        let saved = size.saturating_sub(self.first(&forest)) as f64;
        if saved == 0.0 && matches!(step, Move::Snap { .. }) {
            return None;
        }
        let loss = value - self.objective.value(&scores);
        // Infinite where no vote threshold has a value: nothing is lost then.
        let loss = if loss.is_finite() { loss } else { 0.0 };
        // What loses nothing is better the more it saves, what loses is worse the less it does.
        let rate = if loss > 0.0 { loss / saved.max(0.5) } else { (loss - 1e-12) * saved.max(0.5) };
        Some(Rated { rate, step, version })
    }

    /// Tries every pruning: collapses in ascending order, so that none is tried twice.
    fn exhaustive(&mut self, work: &WorkForest<'_>, origin: usize, after: Option<Move>) {
        self.offer(self.objective.value(work.scores()), work.forest(), origin);
        for step in work.collapses() {
            // A child has a larger number than its parent, and must have been collapsed before it.
            let is_next = after.is_none_or(|after| follows(step, after));
            if is_next {
                let mut smaller = work.clone();
                smaller.make(step);
                self.exhaustive(&smaller, origin, Some(step));
            }
        }
    }
}

/// The moves that `made` made possible; `used` are the thresholds that were used before it.
fn new_moves(work: &WorkForest<'_>, made: Move, used: &[Vec<u16>]) -> Vec<Move> {
    match made {
        Move::Collapse { tree, node } => work.collapse_above(tree, node).into_iter().collect(),
        Move::Snap { feature, to, .. } if used[usize::from(feature)].contains(&to) => Vec::new(),
        Move::Snap { feature: of, to, .. } => {
            let is_new = |step: &Move| matches!(step, Move::Snap { feature, from, .. } if (*feature, *from) == (of, to));
            work.snaps().into_iter().filter(is_new).collect()
        }
    }
}

/// Whether `step` comes after `made` in the one order in which a pruning is tried: trees
/// ascending, nodes of a tree descending.
fn follows(step: Move, made: Move) -> bool {
    match (step, made) {
        (Move::Collapse { tree, node }, Move::Collapse { tree: before, node: made }) => {
            tree > before || tree == before && node < made
        }
        _ => false,
    }
}

/// How many prunings a forest has: of a tree, 1 for a leaf, and for a split 1 more than the
/// product of its children's.
fn prunings(forest: &Forest) -> u64 {
    let of_tree = |tree: &dropcast_forest::Tree| {
        let mut counts = vec![1_u64; tree.nodes.len()];
        for (at, node) in tree.nodes.iter().enumerate().rev() {
            if let dropcast_forest::Node::Split { left, right, .. } = *node {
                let below = counts[left as usize].saturating_mul(counts[right as usize]);
                counts[at] = below.saturating_add(1);
            }
        }
        counts[0]
    };
    forest.trees.iter().map(of_tree).fold(1, u64::saturating_mul)
}

impl PartialEq for Rated {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Rated {}

impl PartialOrd for Rated {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best is the greatest; of equals the first move.
impl Ord for Rated {
    fn cmp(&self, other: &Self) -> Ordering {
        other.rate.total_cmp(&self.rate).then_with(|| other.step.cmp(&self.step))
    }
}
