//! Growing a forest, level by level.

use crate::ForestParams;
use crate::best_split::{Counts, SplitRule, rows, sum};
use crate::binned::BinnedRows;
use crate::growing::GrowingTree;
use crate::histogram::{Bootstrap, Level, count_level};
use crate::random::{Poisson, Purpose, Stream, permutation};

#[cfg(test)]
mod cart;

/// Grows the trees of a forest on the training rows of `rows`, of which `accepts` were accepted
/// and `drops` dropped, neither of them 0.
///
/// Each level is a pass over all rows, which needs of a tree only what it is so far; the rows
/// carry no state from pass to pass.
pub(crate) fn grow_forest(
    rows: &BinnedRows,
    params: &ForestParams,
    (accepts, drops): (u64, u64),
    threads: usize,
) -> Vec<GrowingTree> {
    let rule = SplitRule {
        criterion: params.criterion,
        class_weight: params.class_weight.of(accepts, drops),
        min_samples_leaf: u64::from(params.min_samples_leaf),
    };
    let poisson = params.bootstrap.then(|| Poisson::new(params.max_samples.unwrap_or(1.0)));
    let mut trees: Vec<Growth<'_>> = (0..u64::from(params.n_estimators))
        .map(|tree| {
            let bootstrap = Bootstrap { seed: params.random_state, tree, poisson };
            Growth::new(rows, params, rule, bootstrap)
        })
        .collect();
    for level in 0..usize::from(params.max_depth) {
        trees.iter_mut().for_each(|tree| tree.grow(level, threads));
    }
    trees.into_iter().map(|growth| growth.tree).collect()
}

/// One tree on its way.
struct Growth<'a> {
    rows: &'a BinnedRows,
    params: &'a ForestParams,
    rule: SplitRule,
    bootstrap: Bootstrap,
    tree: GrowingTree,
    /// Places on the next level whose nodes may be split.
    open: Vec<u16>,
}

impl<'a> Growth<'a> {
    fn new(
        rows: &'a BinnedRows,
        params: &'a ForestParams,
        rule: SplitRule,
        bootstrap: Bootstrap,
    ) -> Self {
        let tree = GrowingTree::new(usize::from(params.max_depth));
        Growth { rows, params, rule, bootstrap, tree, open: vec![0] }
    }

    /// Splits the open nodes of `level`.
    fn grow(&mut self, level: usize, threads: usize) {
        if self.open.is_empty() {
            return;
        }
        let open = std::mem::take(&mut self.open);
        let task = Level { tree: &self.tree, level, open: &open, bootstrap: self.bootstrap };
        let histogram = count_level(self.rows, &task, threads);
        let features = self.rows.features();
        for (node, &place) in open.iter().enumerate() {
            let number = GrowingTree::first(level) + usize::from(place);
            if level == 0 {
                let root = sum(histogram.of(0, 0));
                self.tree.set_weight(0, self.rule.leaf_weight(root));
                if !self.may_split(root) {
                    continue;
                }
            }
            let Bootstrap { seed, tree, .. } = self.bootstrap;
            let key = [tree, number as u64];
            let order = permutation(features, Stream::new(seed, Purpose::FeatureOrder, &key));
            let tried = self.params.max_features.of(features);
            let found = self.rule.search(&histogram, node, self.rows.bins(), &order, tried);
            let Some(split) = found else { continue };
            let feature =
                u16::try_from(split.feature).expect("there are few features to choose from");
            self.tree.split(number, feature, split.bin);
            for (side, counts) in [split.left, split.right].into_iter().enumerate() {
                self.tree.set_weight(2 * number + 1 + side, self.rule.leaf_weight(counts));
                if self.may_split(counts) {
                    self.open.push(2 * place + side as u16);
                }
            }
        }
    }

    fn may_split(&self, counts: Counts) -> bool {
        let is_pure = counts[0].rows == 0 || counts[1].rows == 0;
        !is_pure && rows(counts) >= u64::from(self.params.min_samples_split)
    }
}
