//! Which forests a sweep trains, and which of them are grown together.

use super::{SweepAxes, SweepSetting};
use crate::{CheckedForestParams, ForestParams, ParamError, VoteRule};
use dropcast_features::FeatureSet;
use serde::Serialize;
use std::ops::Range;

/// Maximum rows of a sweep.
pub const MOST_SWEEP_ROWS: usize = 100_000;

/// All rows of a sweep, in groups that are grown together.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPlan {
    /// The groups; groups with the same features and bins are adjacent.
    pub groups: Vec<SweepGroup>,
    /// Number of rows.
    pub rows: usize,
}

/// Rows whose forests are, for each seed, parts of one largest forest: they differ in the number of trees, the
/// depth, the vote rule and the seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepGroup {
    /// The features.
    pub features: FeatureSet,
    /// The parameters of its forests, but for the number of trees, the depth and the seed.
    pub forest: ForestParams,
    /// Numbers of trees.
    pub trees: Vec<u16>,
    /// Depths.
    pub max_depth: Vec<u8>,
    /// Vote rules.
    pub votes: Vec<VoteRule>,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// Indices of the group's rows among all rows: for each number of trees, each depth, each rule, each seed.
    #[serde(skip)]
    pub places: Range<usize>,
}

impl SweepPlan {
    /// Every combination of the axes. `None` if there are more than [`MOST_SWEEP_ROWS`].
    ///
    /// Rows are in the order of the axes: features, bins, features drawn, criterion, class weight,
    /// rows per leaf, trees, depth, vote, seed; the last changes fastest.
    pub fn new(axes: &SweepAxes) -> Option<Self> {
        let sizes = [
            axes.features.len(),
            axes.max_bins.len(),
            axes.max_features.len(),
            axes.criterion.len(),
            axes.class_weight.len(),
            axes.min_samples_leaf.len(),
            axes.trees.len(),
            axes.max_depth.len(),
            axes.votes.len(),
            axes.seeds.len(),
        ];
        let rows = sizes.into_iter().try_fold(1_usize, usize::checked_mul)?;
        if rows > MOST_SWEEP_ROWS {
            return None;
        }
        let shared = axes.trees.len() * axes.max_depth.len() * axes.votes.len() * axes.seeds.len();
        let mut groups = vec![SweepGroup::new(axes)];
        groups = each(groups, &axes.features, |group, of| group.features = of.clone());
        groups = each(groups, &axes.max_bins, |group, &of| group.forest.max_bins = of);
        groups = each(groups, &axes.max_features, |group, &of| group.forest.max_features = of);
        groups = each(groups, &axes.criterion, |group, &of| group.forest.criterion = of);
        groups = each(groups, &axes.class_weight, |group, &of| group.forest.class_weight = of);
        groups =
            each(groups, &axes.min_samples_leaf, |group, &of| group.forest.min_samples_leaf = of);
        for (nth, group) in groups.iter_mut().enumerate() {
            group.places = nth * shared..(nth + 1) * shared;
        }
        Some(SweepPlan { groups, rows })
    }
}

/// Every group with every value; the values change fastest.
fn each<T>(
    groups: Vec<SweepGroup>,
    values: &[T],
    set: impl Fn(&mut SweepGroup, &T),
) -> Vec<SweepGroup> {
    let with = |group: &SweepGroup, value: &T| {
        let mut group = group.clone();
        set(&mut group, value);
        group
    };
    groups.iter().flat_map(|group| values.iter().map(|value| with(group, value))).collect()
}

impl SweepGroup {
    /// The group of all trees, depths and votes, with default parameters.
    fn new(axes: &SweepAxes) -> Self {
        SweepGroup {
            features: FeatureSet::paper4(),
            forest: ForestParams::default(),
            trees: axes.trees.clone(),
            max_depth: axes.max_depth.clone(),
            votes: axes.votes.clone(),
            seeds: axes.seeds.clone(),
            places: 0..0,
        }
    }

    /// Number of trees and depth of each of its forests with one seed, before votes are chosen.
    pub fn sizes(&self) -> impl Iterator<Item = (u16, u8)> {
        self.trees.iter().flat_map(|&trees| self.max_depth.iter().map(move |&depth| (trees, depth)))
    }

    /// The parameters of one of its forests.
    ///
    /// # Errors
    /// If an axis has an invalid value.
    pub fn params(
        &self,
        (n_estimators, max_depth): (u16, u8),
        seed: u64,
    ) -> Result<CheckedForestParams, ParamError> {
        ForestParams { n_estimators, max_depth, seed, ..self.forest.clone() }.check()
    }

    /// The setting of one of its rows.
    pub fn setting(&self, (trees, max_depth): (u16, u8), vote: VoteRule) -> SweepSetting {
        SweepSetting {
            features: self.features.spelled(),
            trees,
            max_depth,
            max_bins: self.forest.max_bins,
            max_features: self.forest.max_features,
            criterion: self.forest.criterion,
            class_weight: self.forest.class_weight,
            min_samples_leaf: self.forest.min_samples_leaf,
            vote,
        }
    }
}
