//! Counts ternary entries, cheaply enough for every forest of a sweep.

use super::prefixes::{disjoint_prefixes, minimal_prefixes};
use super::prune::Pruned;
use crate::ExportError;
use crate::checked::check_forest;
use dropcast_forest::Forest;
use serde::Serialize;
use std::collections::BTreeSet;

/// The number of ternary entries of a forest's tables.
///
/// A logical count, before a device's compiler places the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TernaryEntries {
    /// Prefixes of all features' ranges, each range cut separately.
    pub naive_prefixes: u64,
    /// The fewest prefixes of all features' ranges with longest-prefix match, as exported.
    pub prefixes: u64,
    /// Entries of all trees whose weight depends on the row: one per leaf.
    pub leaves: u64,
}

impl TernaryEntries {
    /// Counts the entries of [`Tables`](super::Tables) without making them.
    ///
    /// # Errors
    /// If the forest is not sound.
    pub fn count(forest: &Forest) -> Result<Self, ExportError> {
        check_forest(forest)?;
        let columns = forest.features.len();
        let mut thresholds = vec![BTreeSet::new(); columns];
        let mut leaves = 0;
        for tree in &forest.trees {
            let tree = Pruned::new(tree, columns);
            tree.each_split(&mut |feature, threshold| {
                thresholds[feature].insert(threshold);
            });
            leaves += match tree.leaves() {
                1 => 0,
                leaves => leaves as u64,
            };
        }
        let mut entries = TernaryEntries { naive_prefixes: 0, prefixes: 0, leaves };
        for set in thresholds.into_iter().filter(|set| !set.is_empty()) {
            let thresholds: Vec<u32> = set.into_iter().collect();
            entries.naive_prefixes += disjoint_prefixes(&thresholds).len() as u64;
            entries.prefixes += minimal_prefixes(&thresholds).len() as u64;
        }
        Ok(entries)
    }

    /// The fewest prefixes for the ranges between the thresholds of one feature, which are
    /// ascending, distinct and below `u32::MAX`.
    pub fn prefixes_of(thresholds: &[u32]) -> u64 {
        minimal_prefixes(thresholds).len() as u64
    }

    /// All exported entries.
    pub fn minimised(&self) -> u64 {
        self.prefixes + self.leaves
    }

    /// All entries with ranges cut into naive prefixes.
    pub fn naive(&self) -> u64 {
        self.naive_prefixes + self.leaves
    }
}
