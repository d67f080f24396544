//! Growing forests, level by level.

use crate::growth::best_split::{Counts, SplitRule, rows, sum};
use crate::growth::bootstrap::{Bootstrap, LANES, Poisson};
use crate::growth::growing::GrowingTree;
use crate::growth::histogram::{Counted, CountedQuad, NodeHistogram, count_level};
use crate::random::Purpose;
use crate::rows::binned::BinnedRows;
use crate::threads::Threads;
use crate::{ForestParams, TrainError};
use dropcast_forest::binning::CoarserBins;

#[cfg(test)]
mod cart;

/// A forest to grow.
#[derive(Clone, Debug)]
pub(crate) struct ForestPlan {
    pub(crate) params: ForestParams,
    /// The column of each of its features.
    columns: Vec<usize>,
    /// By feature, the bins it may split between.
    bins: Vec<CoarserBins>,
    rule: SplitRule,
    poisson: Option<Poisson>,
}

impl ForestPlan {
    /// A forest on these columns of `rows`, whose training rows are `accepts` accepted and `drops`
    /// dropped ones, neither 0.
    pub(crate) fn new(
        rows: &BinnedRows,
        params: ForestParams,
        columns: Vec<usize>,
        (accepts, drops): (u64, u64),
    ) -> Self {
        let rule = SplitRule {
            criterion: params.criterion,
            class_weight: params.class_weight.weights(accepts, drops),
            min_samples_leaf: u64::from(params.min_samples_leaf),
        };
        let max_bins = usize::from(params.max_bins);
        let bins = columns.iter().map(|&at| rows.bins()[at].coarser(max_bins)).collect();
        let poisson = params.bootstrap.then(|| Poisson::new(params.max_samples.unwrap_or(1.0)));
        ForestPlan { params, columns, bins, rule, poisson }
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
///
/// Each level is one pass over all rows for as many trees as memory allows. A pass needs only the
/// trees grown so far; rows carry no state from pass to pass.
pub(crate) fn grow_forests(
    rows: &BinnedRows,
    plans: &[ForestPlan],
    threads: &Threads,
) -> Result<Vec<Vec<GrowingTree>>, TrainError> {
    let mut forests = vec![Vec::new(); plans.len()];
    let mut waiting = plans.iter().enumerate().flat_map(|(forest, plan)| {
        let quads = usize::from(plan.params.n_estimators).div_ceil(LANES);
        (0..quads).map(move |quad| (forest, Quad::new(plan, quad)))
    });
    let mut next = waiting.next();
    while next.is_some() {
        let (mut group, mut bytes) = (Vec::new(), 0);
        while let Some((_, quad)) = &next {
            bytes += LANES * quad.plan.bytes_per_tree(threads.count());
            if bytes > HISTOGRAM_BYTES && !group.is_empty() {
                break;
            }
            group.extend(next.take());
            next = waiting.next();
        }
        let mut level = 0;
        while group.iter().any(|(_, quad)| quad.grows()) {
            grow_level(rows, level, &mut group, threads)?;
            level += 1;
        }
        for (forest, quad) in group {
            forests[forest].extend(quad.trees.into_iter().map(|growth| growth.tree));
        }
    }
    Ok(forests)
}

fn grow_level(
    rows: &BinnedRows,
    level: usize,
    group: &mut [(usize, Quad<'_>)],
    threads: &Threads,
) -> Result<(), TrainError> {
    let counted: Vec<CountedQuad<'_>> = group.iter().map(|(_, quad)| quad.to_count()).collect();
    let found = count_level(rows, level, &counted, threads)?;
    drop(counted);
    for ((_, quad), found) in group.iter_mut().zip(found) {
        for (growth, found) in quad.trees.iter_mut().zip(found) {
            growth.split_level(quad.plan, level, found);
        }
    }
    Ok(())
}

/// Trees that share their draws.
struct Quad<'a> {
    plan: &'a ForestPlan,
    bootstrap: Bootstrap,
    trees: Vec<Growth>,
}

impl<'a> Quad<'a> {
    fn new(plan: &'a ForestPlan, quad: usize) -> Self {
        let first = quad * LANES;
        let after = usize::from(plan.params.n_estimators).min(first + LANES);
        let depth = usize::from(plan.params.max_depth);
        let bootstrap =
            Bootstrap { seed: plan.params.random_state, quad: quad as u64, poisson: plan.poisson };
        let trees = (first..after).map(|tree| Growth::new(tree as u64, depth)).collect();
        Quad { plan, bootstrap, trees }
    }

    fn grows(&self) -> bool {
        self.trees.iter().any(|growth| !growth.next.is_empty())
    }

    fn to_count(&self) -> CountedQuad<'_> {
        let lanes = std::array::from_fn(|lane| self.trees.get(lane).map(Growth::to_count));
        let params = &self.plan.params;
        // Without these two settings draws are enough: they show whether a class has rows at all,
        // and a single row is of one class anyway.
        let distinct = params.min_samples_leaf > 1 || params.min_samples_split > 2;
        let columns = &self.plan.columns;
        CountedQuad { bootstrap: self.bootstrap, distinct, columns, lanes }
    }
}

/// A growing tree.
struct Growth {
    number: u64,
    tree: GrowingTree,
    /// What to count on the next level.
    next: Vec<Siblings>,
}

/// The two children of a node, or the root alone. Only the child with fewer rows is counted; the
/// other's counts are the parent's minus these.
struct Siblings {
    counted: Child,
    other: Option<(Child, NodeHistogram)>,
}

#[derive(Clone, Copy)]
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
        Growth { number, tree: GrowingTree::new(depth), next }
    }

    fn to_count(&self) -> Counted<'_> {
        let places = self.next.iter().map(|siblings| siblings.counted.place).collect();
        Counted { tree: &self.tree, places }
    }

    /// Splits the open nodes of `level`; `counted` are the histograms of those counted.
    fn split_level(&mut self, plan: &ForestPlan, level: usize, counted: Vec<NodeHistogram>) {
        for (siblings, histogram) in std::mem::take(&mut self.next).into_iter().zip(counted) {
            if let Some((other, parent)) = siblings.other {
                let left = parent.without(&histogram);
                self.split(plan, level, other, left);
            }
            self.split(plan, level, siblings.counted, histogram);
        }
    }

    fn split(&mut self, plan: &ForestPlan, level: usize, node: Child, histogram: NodeHistogram) {
        let number = GrowingTree::first(level) + usize::from(node.place);
        if level == 0 {
            let root = sum(histogram.feature(0));
            self.tree.set_weight(0, plan.rule.leaf_weight(root));
            if !may_split(&plan.params, root) {
                return;
            }
        }
        if !node.is_open {
            return;
        }
        let features = plan.columns.len();
        let stream =
            Purpose::FeatureOrder.stream(plan.params.random_state, &[self.number, number as u64]);
        let order = stream.permutation(features);
        let tried = plan.params.max_features.count(features);
        let Some(split) = plan.rule.search(&histogram, &plan.bins, &order, tried) else { return };
        let feature = u16::try_from(split.feature).expect("there are few features to choose from");
        self.tree.split(number, feature, split.bin);
        let sides = [split.left, split.right];
        for (side, counts) in sides.into_iter().enumerate() {
            self.tree.set_weight(2 * number + 1 + side, plan.rule.leaf_weight(counts));
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

fn may_split(params: &ForestParams, counts: Counts) -> bool {
    let is_pure = counts[0].rows == 0 || counts[1].rows == 0;
    !is_pure && rows(counts) >= u64::from(params.min_samples_split)
}
