//! The cost of a forest, updated as the forest is made smaller.

use super::budget::Resource;
use super::cost::{ForestCost, TreeOutline};
use super::work::{Move, WorkForest};
use super::work_tree::Outline;

/// The cost of a forest as a sum over trees and features: rating a move takes only the trees and
/// features it changes.
pub(super) struct RunningCost<'c, C> {
    cost: &'c C,
    resource: Resource,
    trees: Vec<Outline>,
    tree_costs: Vec<u64>,
    /// By feature and threshold number, how many trees use it.
    uses: Vec<Vec<u32>>,
    feature_costs: Vec<u64>,
    total: u64,
}

/// What a move changes.
struct Change {
    trees: Vec<(usize, Outline)>,
    uses: Vec<UseChange>,
}

/// Feature, threshold number, and the change in the number of trees that use it.
type UseChange = ((u16, u16), i64);

impl<'c, C: ForestCost> RunningCost<'c, C> {
    /// The cost of `work`; `None` if it is not a sum.
    pub(super) fn new(work: &WorkForest<'_>, cost: &'c C, resource: Resource) -> Option<Self> {
        cost.thresholds_cost(&[0], resource)?;
        let trees: Vec<Outline> = (0..work.trees()).map(|tree| work.outline(tree, None)).collect();
        let tree_costs: Option<Vec<u64>> =
            trees.iter().map(|outline| cost.tree_cost(size(outline), resource)).collect();
        let tree_costs = tree_costs?;
        let features = 0..work.features() as u16;
        let mut uses: Vec<Vec<u32>> =
            features.map(|feature| vec![0; work.thresholds(feature).len()]).collect();
        for &(feature, number) in trees.iter().flat_map(|outline| &outline.splits) {
            uses[usize::from(feature)][usize::from(number)] += 1;
        }
        let mut running = RunningCost {
            cost,
            resource,
            trees,
            tree_costs,
            feature_costs: vec![0; uses.len()],
            uses,
            total: 0,
        };
        for feature in 0..running.uses.len() {
            running.feature_costs[feature] = running.feature_cost(work, feature as u16, &[]);
        }
        running.total =
            running.tree_costs.iter().sum::<u64>() + running.feature_costs.iter().sum::<u64>();
        Some(running)
    }

    /// The cost now.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The cost after a move.
    pub(super) fn after(&self, work: &WorkForest<'_>, step: Move) -> u64 {
        let change = self.change(work, step);
        let mut total = self.total;
        for (tree, outline) in &change.trees {
            total = total - self.tree_costs[*tree] + self.tree_cost(outline);
        }
        for (feature, changes) in self.changed_features(&change.uses) {
            let old = self.feature_costs[usize::from(feature)];
            total = total - old + self.feature_cost(work, feature, changes);
        }
        total
    }

    /// Applies a move that `work` has not applied yet.
    pub(super) fn make(&mut self, work: &WorkForest<'_>, step: Move) {
        self.total = self.after(work, step);
        let change = self.change(work, step);
        let features: Vec<(u16, u64)> = self
            .changed_features(&change.uses)
            .map(|(feature, changes)| (feature, self.feature_cost(work, feature, changes)))
            .collect();
        for (feature, cost) in features {
            self.feature_costs[usize::from(feature)] = cost;
        }
        for ((feature, number), by) in change.uses {
            let uses = &mut self.uses[usize::from(feature)][usize::from(number)];
            *uses = uses.saturating_add_signed(by as i32);
        }
        for (tree, outline) in change.trees {
            self.tree_costs[tree] = self.tree_cost(&outline);
            self.trees[tree] = outline;
        }
    }

    fn change(&self, work: &WorkForest<'_>, step: Move) -> Change {
        let mut change = Change { trees: Vec::new(), uses: Vec::new() };
        for tree in work.changed_trees(step) {
            let outline = work.outline(tree, Some(step));
            change.uses.extend(self.trees[tree].splits.iter().map(|&split| (split, -1)));
            change.uses.extend(outline.splits.iter().map(|&split| (split, 1)));
            change.trees.push((tree, outline));
        }
        change.uses.sort_unstable();
        change.uses.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        change.uses.retain(|&(_, by)| by != 0);
        change
    }

    /// The features with thresholds that become used or unused, and the changes of each.
    fn changed_features<'u>(
        &self,
        uses: &'u [UseChange],
    ) -> impl Iterator<Item = (u16, &'u [UseChange])> {
        let by_feature = uses.chunk_by(|a, b| a.0.0 == b.0.0);
        by_feature.map(|changes| (changes[0].0.0, changes)).filter(|(_, changes)| {
            changes.iter().any(|&((feature, number), by)| {
                let now = i64::from(self.uses[usize::from(feature)][usize::from(number)]);
                (now == 0) != (now + by == 0)
            })
        })
    }

    fn tree_cost(&self, outline: &Outline) -> u64 {
        self.cost.tree_cost(size(outline), self.resource).unwrap_or_default()
    }

    /// The cost of a feature after these changes.
    fn feature_cost(&self, work: &WorkForest<'_>, feature: u16, changes: &[UseChange]) -> u64 {
        let mut changes = changes.iter().peekable();
        let mut thresholds = Vec::new();
        let uses = self.uses[usize::from(feature)].iter();
        for (number, (&uses, &threshold)) in uses.zip(work.thresholds(feature)).enumerate() {
            let by = changes.next_if(|change| usize::from(change.0.1) == number);
            if i64::from(uses) + by.map_or(0, |change| change.1) > 0 {
                thresholds.push(threshold);
            }
        }
        if thresholds.is_empty() {
            return 0;
        }
        self.cost.thresholds_cost(&thresholds, self.resource).unwrap_or_default()
    }
}

fn size(outline: &Outline) -> TreeOutline {
    TreeOutline { leaves: outline.leaves, thresholds: outline.splits.len() as u64 }
}
