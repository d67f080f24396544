//! What to count on a level.

use crate::growth::bootstrap::{Bootstrap, LANES};
use crate::growth::growing::GrowingTree;

/// What to count for one tree.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) tree: &'a GrowingTree,
    /// Positions of the counted nodes on the level.
    pub(crate) places: Vec<u8>,
}

/// What to count for trees that share their draws.
#[derive(Debug)]
pub(crate) struct CountedQuad<'a> {
    pub(crate) bootstrap: Bootstrap,
    /// Whether to count distinct rows besides draws.
    pub(crate) distinct: bool,
    /// The column of each of the trees' features.
    pub(crate) columns: &'a [usize],
    pub(crate) lanes: [Option<Counted<'a>>; LANES],
}
