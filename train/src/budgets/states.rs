//! Counts of rows that a forest cannot distinguish.

use crate::splits::Part;
use dropcast_forest::{Forest, Node};
use std::collections::{BTreeMap, BTreeSet};

/// Up to this many distinct thresholds, each may also be rounded.
const MOST_ROUNDED: usize = 256;

/// The rows of every part, merged where no threshold of the forests, nor any rounded one, lies
/// between them.
///
/// Memory: about 150 bytes for each distinct row.
#[derive(Clone, Debug)]
pub struct ForestStates {
    features: Vec<String>,
    /// By feature, the possible thresholds, ascending.
    thresholds: Vec<Vec<u32>>,
    counts: BTreeMap<Box<[u16]>, StateCounts>,
}

/// Rows by class: accepted, dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StateCounts {
    pub(crate) train: [u64; 2],
    pub(crate) validation: [u64; 2],
    pub(crate) test: [u64; 2],
}

impl ForestStates {
    /// No rows yet, for forests of the same features.
    pub fn new(forests: &[&Forest]) -> Self {
        let features = forests.first().map(|forest| forest.features.clone()).unwrap_or_default();
        let mut used = vec![BTreeSet::new(); features.len()];
        let nodes = forests.iter().flat_map(|forest| &forest.trees).flat_map(|tree| &tree.nodes);
        for node in nodes {
            if let Node::Split { feature, threshold, .. } = *node {
                used[usize::from(feature)].insert(threshold);
            }
        }
        if used.iter().map(BTreeSet::len).sum::<usize>() <= MOST_ROUNDED {
            for thresholds in &mut used {
                let rounded: Vec<u32> = thresholds.iter().copied().flat_map(roundings).collect();
                thresholds.extend(rounded);
            }
        }
        let thresholds = used.into_iter().map(Vec::from_iter).collect();
        ForestStates { features, thresholds, counts: BTreeMap::new() }
    }

    /// The features, in the order of a row's values.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// Counts a row with these values, unless it is left out.
    pub fn add(&mut self, row: &[u32], drop: bool, part: Part) {
        let classes: fn(&mut StateCounts) -> &mut [u64; 2] = match part {
            Part::Train => |counts| &mut counts.train,
            Part::Validation => |counts| &mut counts.validation,
            Part::Test => |counts| &mut counts.test,
            Part::Gap => return,
        };
        let cell = |(thresholds, &value): (&Vec<u32>, &u32)| {
            // Fewer than 2^16 thresholds: 254 edges, and at most four roundings of 256.
            thresholds.partition_point(|&threshold| threshold < value) as u16
        };
        let state: Box<[u16]> = self.thresholds.iter().zip(row).map(cell).collect();
        classes(self.counts.entry(state).or_default())[usize::from(drop)] += 1;
    }

    /// Number of distinct rows.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether no row was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub(crate) fn thresholds(&self, feature: usize) -> &[u32] {
        &self.thresholds[feature]
    }

    /// Each state (by feature, the number of thresholds below it) with its rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u16], &StateCounts)> {
        self.counts.iter().map(|(state, counts)| (state.as_ref(), counts))
    }
}

/// Thresholds near `threshold` just below a round number: ranges that end there take fewer
/// prefixes.
fn roundings(threshold: u32) -> impl Iterator<Item = u32> {
    // `x <= threshold` is `x < end`.
    let end = u64::from(threshold) + 1;
    let bits = end.ilog2();
    [2, 3, 4, 6].into_iter().filter_map(move |kept| {
        let unit = 1_u64 << bits.checked_sub(kept)?;
        let round = (end + unit / 2) / unit * unit;
        u32::try_from(round - 1).ok()
    })
}
