//! The entries and default actions of the tables, independent of format.

use crate::tables::{FeatureTable, LeafEntry, PrefixEntry, TreeTable};
use std::cmp::Reverse;

/// The entries of a feature's table, and the default.
pub(crate) struct Prefixes {
    /// By priority: longer prefixes first.
    pub(crate) entries: Vec<PrefixEntry>,
    /// The empty prefix, which every value has.
    pub(crate) default: PrefixEntry,
}

impl Prefixes {
    pub(crate) fn new(feature: &FeatureTable) -> Self {
        let mut entries = feature.prefixes.clone();
        entries.sort_by_key(|prefix| (Reverse(prefix.length), prefix.value));
        let default = entries.pop().expect("a table of prefixes has one");
        assert_eq!(default.length, 0, "every value has a prefix");
        Prefixes { entries, default }
    }
}

/// The entries of a tree's table, and the default weight.
pub(crate) struct Leaves<'a> {
    pub(crate) entries: Vec<&'a LeafEntry>,
    /// The default is the lightest leaf: until entries are loaded, no row's score is lower, so no
    /// drop is predicted, unless the forest always predicts one.
    pub(crate) default: &'a LeafEntry,
}

impl<'a> Leaves<'a> {
    pub(crate) fn new(tree: &'a TreeTable) -> Self {
        let lightest = (0..tree.leaves.len()).min_by_key(|&at| tree.leaves[at].weight);
        let mut entries: Vec<&LeafEntry> = tree.leaves.iter().collect();
        let default = entries.remove(lightest.expect("a tree has a leaf"));
        Leaves { entries, default }
    }
}
