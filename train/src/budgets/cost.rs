//! The resources that forests take on a device.

use super::budget::{Budget, Resource};
use dropcast_forest::Forest;

/// Computes what forests take. Implemented where tables are made.
pub trait ForestCost: Sync {
    /// How much of `resource` the forest takes; `None` if it has no tables.
    fn cost(&self, forest: &Forest, resource: Resource) -> Option<u64>;

    /// What one tree takes by itself, if the cost of every forest is the sum of this over its trees
    /// and of [`thresholds_cost`](ForestCost::thresholds_cost) over its features. Then a search
    /// need not cost whole forests.
    fn tree_cost(&self, _tree: TreeOutline, _resource: Resource) -> Option<u64> {
        None
    }

    /// What a feature's distinct thresholds (ascending, at least one) take, if the cost of every
    /// forest is such a sum.
    fn thresholds_cost(&self, _thresholds: &[u32], _resource: Resource) -> Option<u64> {
        None
    }
}

/// The size of a tree without unreachable nodes and without splits whose sides have the same
/// weight.
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
