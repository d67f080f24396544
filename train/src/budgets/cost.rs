//! How much forests take of a device.

use super::budget::{Budget, Resource};
use dropcast_forest::Forest;

/// How much forests take. Known where tables are made.
pub trait ForestCost: Sync {
    /// How much of `resource` the forest takes; `None` if it cannot be made into tables at all.
    fn cost(&self, forest: &Forest, resource: Resource) -> Option<u64>;

    /// What one tree takes by itself, if the cost of every forest is the sum of this over its trees
    /// and of [`thresholds_cost`](ForestCost::thresholds_cost) over its features. A search that
    /// knows the parts need not ask for whole forests.
    fn tree_cost(&self, _tree: TreeOutline, _resource: Resource) -> Option<u64> {
        None
    }

    /// What the distinct thresholds of a feature take, ascending and at least one, if the cost of
    /// every forest is a sum.
    fn thresholds_cost(&self, _thresholds: &[u32], _resource: Resource) -> Option<u64> {
        None
    }
}

/// The size of a tree, without nodes that no row reaches and splits whose sides weigh the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeOutline {
    /// Leaves, at least one.
    pub leaves: u64,
    /// Distinct pairs of a feature and a threshold.
    pub thresholds: u64,
}

impl<F: Fn(&Forest, Resource) -> Option<u64> + Sync> ForestCost for F {
    fn cost(&self, forest: &Forest, resource: Resource) -> Option<u64> {
        self(forest, resource)
    }
}

impl Budget {
    /// Whether a forest fits.
    pub fn admits(&self, forest: &Forest, cost: &impl ForestCost) -> bool {
        let fits = |&(resource, most): &(Resource, u64)| {
            cost.cost(forest, resource).is_some_and(|cost| cost <= most)
        };
        self.limits().iter().all(fits)
    }
}
