//! Leaves of a model that stand on few training rows.

use dropcast_forest::LeafRows;
use dropcast_train::TrainedModel;
use serde::Serialize;

/// Leaves on fewer training rows than this say little.
const FEW: u64 = 20;

/// What stands on few training rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FewRows {
    /// Leaves with fewer rows than this are listed.
    pub below: u64,
    /// All leaves.
    pub leaves: usize,
    /// Dropped training rows; each counts in every tree, as often as it was drawn.
    pub drops: u64,
    /// How many of them end in a leaf that is listed.
    pub drops_on_few: u64,
    /// The leaves, those of the first tree first.
    pub on_few: Vec<LeafOnFew>,
}

/// A leaf that stands on few rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeafOnFew {
    /// Its tree, from 0.
    pub tree: usize,
    /// Its weight.
    pub weight: u8,
    /// Its rows.
    #[serde(flatten)]
    pub stands_on: LeafRows,
}

impl FewRows {
    /// Those of a model; none if it does not say what its leaves stand on.
    pub fn of(model: &TrainedModel) -> Option<Self> {
        let leaf_rows = model.leaf_rows.as_ref()?;
        let trees = model.forest.trees.iter().zip(leaf_rows).enumerate();
        let leaves = trees.flat_map(|(tree, (nodes, rows))| {
            let leaf = move |(weight, stands_on)| LeafOnFew { tree, weight, stands_on };
            nodes.leaves().zip(rows.iter().copied()).map(leaf)
        });
        let all: Vec<LeafOnFew> = leaves.collect();
        let drops = |leaves: &[LeafOnFew]| leaves.iter().map(|leaf| leaf.stands_on.drops).sum();
        let on_few: Vec<LeafOnFew> =
            all.iter().filter(|leaf| leaf.stands_on.rows < FEW).cloned().collect();
        let (leaves, drops_on_few) = (all.len(), drops(&on_few));
        Some(FewRows { below: FEW, leaves, drops: drops(&all), drops_on_few, on_few })
    }
}
