//! Growing forests, level by level.

use crate::growth::best_split::{ClassCounts, SearchedFeature, SplitRule, rows, sum};
use crate::growth::bootstrap::{Bootstrap, LANES, Poisson};
use crate::growth::growing::GrowingTree;
use crate::growth::histogram::{
    Counted, CountedLevel, CountedQuad, LevelCounts, NodeHistogram, count_level,
};
use crate::random::Purpose;
use crate::rows::binned::BinnedRows;
use crate::{ForestParams, TrainError};
use dropcast_data::Threads;
use dropcast_forest::binning::Bins;
use std::collections::VecDeque;

#[cfg(test)]
mod cart;

/// A forest to grow.
#[derive(Clone, Debug)]
pub(crate) struct ForestPlan {
    pub(crate) params: ForestParams,
    /// The column of each of its features.
    columns: Vec<usize>,
    features: Vec<SearchedFeature>,
    rule: SplitRule,
    poisson: Option<Poisson>,
}

impl ForestPlan {
    /// A forest on these columns of rows in `bins`, each with whether scores may not fall when it is higher, whose training rows are `accepts`
    /// accepted and `drops` dropped ones, neither 0.
    pub(crate) fn new(
        bins: &[Bins],
        params: ForestParams,
        columns: Vec<(usize, bool)>,
        (accepts, drops): (u64, u64),
    ) -> Self {
        let rule = SplitRule {
            criterion: params.criterion,
            class_weight: params.class_weight.weights(accepts, drops),
            min_samples_leaf: u64::from(params.min_samples_leaf),
        };
        let max_bins = usize::from(params.max_bins);
        let feature = |&(at, rises): &(usize, bool)| SearchedFeature {
            bins: bins[at].coarser(max_bins),
            rises,
        };
        let features = columns.iter().map(feature).collect();
        let columns = columns.iter().map(|&(at, _)| at).collect();
        let poisson = params.bootstrap.then(|| Poisson::new(params.max_samples.unwrap_or(1.0)));
        ForestPlan { params, columns, features, rule, poisson }
    }

    /// The column of each of its features.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Bytes that a growing tree takes.
    fn bytes_per_tree(&self, threads: usize) -> usize {
        let nodes = 1 << (self.params.max_depth - 1);
        // The histograms of a level, plus each thread's cells for half its nodes, at half the size.
        nodes * NodeHistogram::bytes(self.columns.len()) * (5 + threads) / 4
    }
}

/// About the memory that histograms take while forests grow.
const HISTOGRAM_BYTES: usize = 64 << 20;

/// Grows the trees of forests on the training rows of `rows`.
pub(crate) fn grow_forests(
    rows: &BinnedRows,
    plans: Vec<ForestPlan>,
    threads: &Threads,
) -> Result<Vec<Vec<GrowingTree>>, TrainError> {
    let mut growing = GrowingForests::new(plans, threads.count());
    while let Some(level) = growing.to_count() {
        let counts = count_level(rows, &level, threads)?;
        growing.split(counts)?;
    }
    Ok(growing.finish())
}

/// Forests while they grow: what to count next, and the splits once it is counted.
///
/// Each level is one pass over all rows for as many trees as memory allows. A pass needs only the
/// trees grown so far; rows carry no state from pass to pass.
#[derive(Debug)]
pub(crate) struct GrowingForests {
    plans: Vec<ForestPlan>,
    /// Number of threads that count.
    threads: usize,
    /// Quads of trees that have not begun to grow, by forest and number.
    waiting: VecDeque<(usize, usize)>,
    /// Those that grow now, by forest.
    group: Vec<(usize, Quad)>,
    /// Their level.
    level: usize,
    grown: Vec<Vec<GrowingTree>>,
}

impl GrowingForests {
    /// Forests that have not begun to grow; their rows are counted on this many threads.
    pub(crate) fn new(plans: Vec<ForestPlan>, threads: usize) -> Self {
        let quads = plans.iter().enumerate().flat_map(|(forest, plan)| {
            let quads = usize::from(plan.params.n_estimators).div_ceil(LANES);
            (0..quads).map(move |quad| (forest, quad))
        });
        let (waiting, grown) = (quads.collect(), vec![Vec::new(); plans.len()]);
        let mut growing =
            GrowingForests { plans, threads, waiting, group: Vec::new(), level: 0, grown };
        growing.begin_group();
        growing
    }

    /// What to count next; `None` once all trees are grown.
    pub(crate) fn to_count(&self) -> Option<CountedLevel> {
        if self.group.is_empty() {
            return None;
        }
        let quads =
            self.group.iter().map(|(forest, quad)| quad.to_count(&self.plans[*forest])).collect();
        Some(CountedLevel { level: self.level, quads })
    }

    /// Splits the nodes of the level that was counted.
    ///
    /// # Errors
    /// [`TrainError::SourceChanged`] if the counts are not of the same rows as before.
    pub(crate) fn split(&mut self, counts: LevelCounts) -> Result<(), TrainError> {
        for ((forest, quad), counts) in self.group.iter_mut().zip(counts.0) {
            for (growth, counts) in quad.trees.iter_mut().zip(counts) {
                growth.split_level(&self.plans[*forest], self.level, counts)?;
            }
        }
        self.level += 1;
        if !self.group.iter().any(|(_, quad)| quad.grows()) {
            for (forest, quad) in std::mem::take(&mut self.group) {
                self.grown[forest].extend(quad.trees.into_iter().map(|growth| growth.tree));
            }
            self.begin_group();
        }
        Ok(())
    }

    /// The trees of each forest.
    pub(crate) fn finish(self) -> Vec<Vec<GrowingTree>> {
        self.grown
    }

    /// Begins as many trees as memory allows.
    fn begin_group(&mut self) {
        self.level = 0;
        let mut bytes = 0;
        while let Some(&(forest, quad)) = self.waiting.front() {
            let plan = &self.plans[forest];
            bytes += LANES * plan.bytes_per_tree(self.threads);
            if bytes > HISTOGRAM_BYTES && !self.group.is_empty() {
                return;
            }
            self.group.push((forest, Quad::new(plan, quad)));
            self.waiting.pop_front();
        }
    }
}

/// Trees that share their draws.
#[derive(Debug)]
struct Quad {
    bootstrap: Bootstrap,
    trees: Vec<Growth>,
}

impl Quad {
    fn new(plan: &ForestPlan, quad: usize) -> Self {
        let first = quad * LANES;
        let after = usize::from(plan.params.n_estimators).min(first + LANES);
        let depth = usize::from(plan.params.max_depth);
        let bootstrap =
            Bootstrap { seed: plan.params.seed, quad: quad as u64, poisson: plan.poisson };
        let trees = (first..after).map(|tree| Growth::new(tree as u64, depth)).collect();
        Quad { bootstrap, trees }
    }

    fn grows(&self) -> bool {
        self.trees.iter().any(|growth| !growth.next.is_empty())
    }

    fn to_count(&self, plan: &ForestPlan) -> CountedQuad {
        let lanes = std::array::from_fn(|lane| self.trees.get(lane).map(Growth::to_count));
        let params = &plan.params;
        // Without these two settings draws are enough: they show whether a class has rows at all,
        // and a single row is of one class anyway.
        let distinct = params.min_samples_leaf > 1 || params.min_samples_split > 2;
        CountedQuad { bootstrap: self.bootstrap, distinct, columns: plan.columns.clone(), lanes }
    }
}

/// A growing tree.
#[derive(Debug)]
struct Growth {
    number: u64,
    tree: GrowingTree,
    /// By node, the least and the most that its leaves may weigh.
    bounds: Vec<(u8, u8)>,
    /// What to count on the next level.
    next: Vec<Siblings>,
}

/// The two children of a node, or the root alone. Only the child with fewer rows is counted; the
/// other's counts are the parent's minus these.
#[derive(Debug)]
struct Siblings {
    counted: Child,
    other: Option<(Child, NodeHistogram)>,
}

#[derive(Clone, Copy, Debug)]
struct Child {
    /// Its index on its level.
    place: u8,
    /// Whether it may split.
    is_open: bool,
}

impl Growth {
    fn new(number: u64, depth: usize) -> Self {
        let root = Child { place: 0, is_open: true };
        let next = vec![Siblings { counted: root, other: None }];
        let bounds = vec![(0, u8::MAX); GrowingTree::first(depth + 1)];
        Growth { number, tree: GrowingTree::new(depth), bounds, next }
    }

    fn to_count(&self) -> Counted {
        let places = self.next.iter().map(|siblings| siblings.counted.place).collect();
        Counted { tree: self.tree.clone(), places }
    }

    /// Splits the open nodes of `level`; `counted` are the histograms of those counted.
    fn split_level(
        &mut self,
        plan: &ForestPlan,
        level: usize,
        counted: Vec<NodeHistogram>,
    ) -> Result<(), TrainError> {
        for (siblings, histogram) in std::mem::take(&mut self.next).into_iter().zip(counted) {
            if let Some((other, parent)) = siblings.other {
                let left = parent.without(&histogram).ok_or(TrainError::SourceChanged)?;
                self.split(plan, level, other, left);
            }
            self.split(plan, level, siblings.counted, histogram);
        }
        Ok(())
    }

    /// Sets the weight of a node as a leaf on these rows, within its bounds; returns it.
    fn weigh(&mut self, plan: &ForestPlan, node: usize, counts: ClassCounts) -> u8 {
        let (least, most) = self.bounds[node];
        let weight = plan.rule.leaf_weight(counts).clamp(least, most);
        self.tree.set_leaf(node, weight, counts.map(|count| count.draws));
        weight
    }

    fn split(&mut self, plan: &ForestPlan, level: usize, node: Child, histogram: NodeHistogram) {
        let number = GrowingTree::first(level) + usize::from(node.place);
        if level == 0 {
            let root = sum(histogram.feature(0));
            self.weigh(plan, 0, root);
            if !may_split(&plan.params, root) {
                return;
            }
        }
        if !node.is_open {
            return;
        }
        let features = plan.columns.len();
        let stream = Purpose::FeatureOrder.stream(plan.params.seed, &[self.number, number as u64]);
        let order = stream.permutation(features);
        let tried = plan.params.max_features.count(features);
        let Some(split) = plan.rule.search(&histogram, &plan.features, &order, tried) else {
            return;
        };
        let feature = u16::try_from(split.feature).expect("there are few features to choose from");
        self.tree.split(number, feature, split.bin);
        let sides = [split.left, split.right];
        let (least, most) = self.bounds[number];
        let weights = [0, 1].map(|side| {
            let child = 2 * number + 1 + side;
            self.bounds[child] = (least, most);
            u16::from(self.weigh(plan, child, sides[side]))
        });
        if plan.features[split.feature].rises {
            // Whatever grows below, no leaf on the left weighs more than one on the right.
            let between = u8::try_from(weights.iter().sum::<u16>() / 2).unwrap_or(u8::MAX);
            self.bounds[2 * number + 1] = (least, between);
            self.bounds[2 * number + 2] = (between, most);
        }
        let is_last = level + 1 == usize::from(plan.params.max_depth);
        let child = |side: usize| Child {
            place: node.place << 1 | side as u8,
            is_open: !is_last && may_split(&plan.params, sides[side]),
        };
        let fewer = usize::from(rows(sides[1]) < rows(sides[0]));
        let (counted, other) = (child(fewer), child(1 - fewer));
        if counted.is_open || other.is_open {
            self.next
                .push(Siblings { counted, other: other.is_open.then_some((other, histogram)) });
        }
    }
}

fn may_split(params: &ForestParams, counts: ClassCounts) -> bool {
    let is_pure = counts[0].rows == 0 || counts[1].rows == 0;
    !is_pure && rows(counts) >= u64::from(params.min_samples_split)
}
