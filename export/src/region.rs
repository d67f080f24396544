//! The rows that reach a node, as one interval per feature.

use dropcast_data::random::SplitMix64;
use dropcast_forest::{Node, Tree};

/// A box of rows: from `low[f]` to `high[f]`, both included, in each feature `f`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) low: Vec<u32>,
    pub(crate) high: Vec<u32>,
}

impl Region {
    /// Every row.
    pub(crate) fn all(features: usize) -> Self {
        Region { low: vec![0; features], high: vec![u32::MAX; features] }
    }

    /// The rows that go left, if any.
    pub(crate) fn left(&self, feature: usize, threshold: u32) -> Option<Self> {
        let mut region = self.clone();
        region.high[feature] = region.high[feature].min(threshold);
        (region.low[feature] <= region.high[feature]).then_some(region)
    }

    /// The rows that go right, if any.
    pub(crate) fn right(&self, feature: usize, threshold: u32) -> Option<Self> {
        let mut region = self.clone();
        region.low[feature] = region.low[feature].max(threshold.checked_add(1)?);
        (region.low[feature] <= region.high[feature]).then_some(region)
    }

    /// The rows in both, if any.
    pub(crate) fn and(&self, other: &Self) -> Option<Self> {
        let low: Vec<u32> = self.low.iter().zip(&other.low).map(|(a, b)| *a.max(b)).collect();
        let high: Vec<u32> = self.high.iter().zip(&other.high).map(|(a, b)| *a.min(b)).collect();
        let has_rows = low.iter().zip(&high).all(|(low, high)| low <= high);
        has_rows.then_some(Region { low, high })
    }

    /// A random row.
    pub(crate) fn draw(&self, random: &mut SplitMix64) -> Vec<u32> {
        self.low.iter().zip(&self.high).map(|(&low, &high)| random.between(low, high)).collect()
    }
}

/// For each node of a checked tree, the rows that reach it, if any.
pub(crate) fn regions(tree: &Tree, features: usize) -> Vec<Option<Region>> {
    let mut regions = vec![None; tree.nodes.len()];
    regions[0] = Some(Region::all(features));
    for (at, node) in tree.nodes.iter().enumerate() {
        if let (Some(region), Node::Split { feature, threshold, left, right }) =
            (regions[at].clone(), node)
        {
            let feature = usize::from(*feature);
            regions[*left as usize] = region.left(feature, *threshold);
            regions[*right as usize] = region.right(feature, *threshold);
        }
    }
    regions
}
