//! The search for the best forest within a budget.

use super::budget::Budget;
use super::cost::ForestCost;
use super::objective::BudgetObjective;
use super::running_cost::RunningCost;
use super::state_columns::StateColumns;
use super::states::ForestStates;
use super::work::{Move, WorkForest};
use dropcast_data::Threads;
use dropcast_forest::{Forest, Node, ScoreHistogram, Tree};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::num::NonZeroUsize;
use std::sync::atomic::{self, AtomicU64};

/// The settings of a search.
pub struct Squeezing<'a> {
    /// The rows, counted for all the forests.
    pub states: &'a ForestStates,
    /// The class weights that leaves were made with, of accepted and dropped rows.
    pub class_weight: [f64; 2],
    /// What to optimize.
    pub objective: BudgetObjective,
    /// The limits to keep.
    pub budget: &'a Budget,
    /// Threads; they do not change the result.
    pub threads: NonZeroUsize,
    /// Called now and then with the number of splits finished and their total.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
}

/// A forest within a budget, and its scores.
#[derive(Clone, Debug)]
pub struct Squeezed {
    /// The forest; its vote threshold is not chosen yet.
    pub forest: Forest,
    /// Index of the forest that it was squeezed from.
    pub origin: usize,
    /// The objective's value on the rows used for choosing.
    pub value: f64,
    /// Scores of the training rows.
    pub train_scores: ScoreHistogram,
    /// Scores of the validation rows.
    pub validation_scores: ScoreHistogram,
    /// Scores of the test rows.
    pub test_scores: ScoreHistogram,
}

/// Forests with at most this many prunings are also searched exhaustively.
const MOST_PRUNINGS: u64 = 2048;

/// Only forests of at most this many times the budget are squeezed. Larger ones take long, and the
/// result is seldom better.
const REACH: u64 = 16;

/// The best forest found within the budget, from any of `forests`, by collapsing splits, letting
/// splits share a threshold, and rounding thresholds. `None` if none is found.
///
/// Each forest within reach of the budget (at most 16 times as large, or the smallest) shrinks step
/// by step, always by the step with the least loss per unit saved of the budget's first resource,
/// down to single leaves. The steps do not depend on the size of the budget, so a larger budget
/// considers every forest that a smaller one does and never gives a worse one. If a forest has few
/// prunings, all of them are tried too. Losses are measured on validation rows if there are any.
pub fn squeeze(
    forests: &[Forest],
    squeezing: &Squeezing<'_>,
    cost: &impl ForestCost,
) -> Option<Squeezed> {
    let Squeezing { states, class_weight, threads, .. } = *squeezing;
    let columns = StateColumns::new(states);
    let mut starts = within_reach(forests, squeezing.budget, cost);
    // The largest take longest, so they start first.
    starts.sort_by_key(|&origin| std::cmp::Reverse(splits(&forests[origin])));
    let total = starts.iter().map(|&origin| splits(&forests[origin])).sum();
    let done = AtomicU64::new(0);
    let squeeze_one = |origin: usize| {
        let forest = &forests[origin];
        let start = WorkForest::new(forest, &columns, class_weight);
        let mut search = Search { squeezing, cost, done: &done, total, best: None };
        search.greedy(start.clone());
        if prunings(forest) <= MOST_PRUNINGS {
            search.exhaustive(&start, None);
        }
        search.best.map(|best| (origin, best))
    };
    let mut found: Vec<(usize, FittingForest)> =
        Threads::new(threads).map(starts, squeeze_one).into_iter().flatten().collect();
    found.sort_unstable_by_key(|&(origin, _)| origin);
    let best = found.into_iter().reduce(
        |best, next| {
            if next.1.is_better_than(&best.1) { next } else { best }
        },
    );
    best.map(|(origin, FittingForest { value, forest, .. })| {
        let work = WorkForest::new(&forest, &columns, class_weight);
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

/// The forests worth squeezing.
fn within_reach(forests: &[Forest], budget: &Budget, cost: &impl ForestCost) -> Vec<usize> {
    let (resource, most) = budget.limits()[0];
    let costs = forests.iter().map(|forest| cost.cost(forest, resource).unwrap_or(u64::MAX));
    let costs: Vec<u64> = costs.collect();
    let reach = most.saturating_mul(REACH).max(costs.iter().copied().min().unwrap_or(0));
    (0..forests.len()).filter(|&origin| costs[origin] <= reach).collect()
}

/// The search from one forest.
struct Search<'a, C> {
    squeezing: &'a Squeezing<'a>,
    cost: &'a C,
    /// Finished splits of all searches.
    done: &'a AtomicU64,
    total: u64,
    best: Option<FittingForest>,
}

/// A forest that fits.
struct FittingForest {
    value: f64,
    /// What it takes of the first resource.
    size: u64,
    forest: Forest,
}

impl FittingForest {
    /// Whether it is better, or equally good and smaller.
    fn is_better_than(&self, other: &FittingForest) -> bool {
        is_better((self.value, self.size), (other.value, other.size))
    }
}

fn is_better((value, size): (f64, u64), (other, other_size): (f64, u64)) -> bool {
    match value.total_cmp(&other) {
        Ordering::Greater => true,
        Ordering::Equal => size < other_size,
        Ordering::Less => false,
    }
}

/// A shrinking forest, and its cost in the first resource.
struct Descent<'a, C> {
    work: WorkForest<'a>,
    /// Present if the cost is a sum.
    running: Option<RunningCost<'a, C>>,
    value: f64,
    size: u64,
    /// Steps made.
    version: usize,
}

/// A move with its rating when last evaluated.
struct Rated {
    /// Loss per unit saved; lower is better.
    rate: f64,
    step: Move,
    /// The step after which it was rated.
    version: usize,
}

impl<'a, C: ForestCost> Search<'a, C> {
    /// Keeps a forest if it fits and is better.
    fn offer(&mut self, value: f64, size: u64, forest: impl Fn() -> Forest) {
        let Squeezing { budget, .. } = *self.squeezing;
        let fits = size <= budget.limits()[0].1;
        let better =
            self.best.as_ref().is_none_or(|best| is_better((value, size), (best.value, best.size)));
        if !fits || !better {
            return;
        }
        let forest = forest();
        if budget.admits(&forest, self.cost) {
            self.best = Some(FittingForest { value, size, forest });
        }
    }

    /// What a forest takes of the first resource.
    fn size(&self, forest: &Forest) -> u64 {
        let (resource, _) = self.squeezing.budget.limits()[0];
        self.cost.cost(forest, resource).unwrap_or(u64::MAX)
    }

    fn value(&self, scores: &ScoreHistogram) -> f64 {
        self.squeezing.objective.value(scores)
    }

    /// Makes the best move repeatedly, until none is left. A move is rated again only when it comes
    /// up: its loss seldom falls while others are made.
    fn greedy(&mut self, work: WorkForest<'a>) {
        let (resource, _) = self.squeezing.budget.limits()[0];
        let running = RunningCost::new(&work, self.cost, resource);
        let (value, size) = (self.value(work.scores()), self.size(&work.forest()));
        let mut descent = Descent { work, running, value, size, version: 0 };
        self.offer(value, size, || descent.work.forest());
        let moves = descent.work.collapses().into_iter().chain(descent.work.snaps());
        let moves: Vec<Move> = moves.collect();
        let mut open: BinaryHeap<Rated> =
            moves.into_iter().filter_map(|step| self.rate(&mut descent, step)).collect();
        while let Some(next) = open.pop() {
            if !descent.work.allows(next.step) {
                continue;
            }
            if next.version < descent.version {
                open.extend(self.rate(&mut descent, next.step));
                continue;
            }
            let new = self.make(&mut descent, next.step);
            open.extend(new.into_iter().filter_map(|step| self.rate(&mut descent, step)));
        }
    }

    /// Makes a move and returns the moves that it makes possible.
    fn make(&mut self, descent: &mut Descent<'a, C>, step: Move) -> Vec<Move> {
        let was_used = match step {
            Move::Snap { feature, to, .. } => descent.work.is_used(feature, to),
            Move::Collapse { .. } => false,
        };
        if let Some(running) = &mut descent.running {
            running.make(&descent.work, step);
        }
        descent.work.make(step);
        descent.version += 1;
        descent.value = self.value(descent.work.scores());
        descent.size = match &descent.running {
            Some(running) => running.total(),
            None => self.size(&descent.work.forest()),
        };
        self.offer(descent.value, descent.size, || descent.work.forest());
        if matches!(step, Move::Collapse { .. }) {
            let done = self.done.fetch_add(1, atomic::Ordering::Relaxed) + 1;
            if done.is_multiple_of(64) {
                (self.squeezing.progress)(done, self.total);
            }
        }
        new_moves(&descent.work, step, was_used)
    }

    /// The rating of a move. `None` for one that saves nothing and is not a collapse: only
    /// collapses are sure to terminate.
    fn rate(&self, descent: &mut Descent<'a, C>, step: Move) -> Option<Rated> {
        let after = match &descent.running {
            Some(running) => running.after(&descent.work, step),
            None => self.size(&descent.work.forest_after(step)),
        };
        let saved = descent.size.saturating_sub(after) as f64;
        if saved == 0.0 && matches!(step, Move::Snap { .. }) {
            return None;
        }
        let loss = descent.value - descent.work.value_after(step, |scores| self.value(scores));
        // Infinite if no vote threshold has a value; then nothing is lost.
        let loss = if loss.is_finite() { loss } else { 0.0 };
        // A move without loss is better the more it saves; one with loss is worse the less it
        // saves.
        let rate = if loss > 0.0 { loss / saved.max(0.5) } else { (loss - 1e-12) * saved.max(0.5) };
        Some(Rated { rate, step, version: descent.version })
    }

    /// Tries every pruning, with collapses in one order so that none is tried twice.
    fn exhaustive(&mut self, work: &WorkForest<'_>, after: Option<Move>) {
        let forest = work.forest();
        self.offer(self.value(work.scores()), self.size(&forest), || forest.clone());
        for step in work.collapses() {
            // A child has a larger number than its parent and must be collapsed before it.
            let is_next = after.is_none_or(|after| follows(step, after));
            if is_next {
                let mut smaller = work.clone();
                smaller.make(step);
                self.exhaustive(&smaller, Some(step));
            }
        }
    }
}

/// How many splits a forest has.
fn splits(forest: &Forest) -> u64 {
    let nodes = forest.trees.iter().flat_map(|tree| &tree.nodes);
    nodes.filter(|node| matches!(node, Node::Split { .. })).count() as u64
}

/// The moves that `made` made possible; `was_used`: whether a snap's new threshold was in use
/// before.
fn new_moves(work: &WorkForest<'_>, made: Move, was_used: bool) -> Vec<Move> {
    match made {
        Move::Collapse { tree, node } => work.collapse_above(tree, node).into_iter().collect(),
        Move::Snap { .. } if was_used => Vec::new(),
        Move::Snap { feature: of, to, .. } => {
            let is_new = |step: &Move| matches!(step, Move::Snap { feature, from, .. } if (*feature, *from) == (of, to));
            work.snaps().into_iter().filter(is_new).collect()
        }
    }
}

/// Whether `step` comes after `made` in the order in which a pruning is tried: trees ascending,
/// nodes of a tree descending.
fn follows(step: Move, made: Move) -> bool {
    match (step, made) {
        (Move::Collapse { tree, node }, Move::Collapse { tree: before, node: made }) => {
            tree > before || tree == before && node < made
        }
        _ => false,
    }
}

/// The number of prunings of a forest: 1 for a leaf, and for a split one more than the product of
/// its children's; trees multiply.
fn prunings(forest: &Forest) -> u64 {
    let of_tree = |tree: &Tree| {
        let mut counts = vec![1_u64; tree.nodes.len()];
        for (at, node) in tree.nodes.iter().enumerate().rev() {
            if let Node::Split { left, right, .. } = *node {
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

/// The best is the greatest; among equals, the first move.
impl Ord for Rated {
    fn cmp(&self, other: &Self) -> Ordering {
        other.rate.total_cmp(&self.rate).then_with(|| other.step.cmp(&self.step))
    }
}
