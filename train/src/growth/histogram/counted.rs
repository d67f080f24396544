//! What to count on a level.

use crate::growth::bootstrap::{Bootstrap, LANES};
use crate::growth::growing::GrowingTree;
use serde::{Deserialize, Serialize};

/// What to count for one tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) tree: GrowingTree,
    /// Positions of the counted nodes on the level.
    pub(crate) places: Vec<u8>,
}

/// What to count for trees that share their draws.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CountedQuad {
    pub(crate) bootstrap: Bootstrap,
    /// Whether to count distinct rows besides draws.
    pub(crate) distinct: bool,
    /// The column of each of the trees' features.
    pub(crate) columns: Vec<usize>,
    pub(crate) lanes: [Option<Counted>; LANES],
}

/// What to count in one pass over the training rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CountedLevel {
    /// The level of all counted nodes.
    pub(crate) level: usize,
    pub(crate) quads: Vec<CountedQuad>,
}
