//! Bins: ranges of a feature's values, one byte each. Trainers and scorers work on bins, which
//! loses nothing: a split between bins is a split of values.

mod bins;
mod masks;

pub use bins::{Bins, CoarserBins};
pub use masks::BinMasks;

/// Bins of a feature at most.
pub const BINS: usize = 256;

/// Rows that are scored together: what is gathered about them stays in the nearest cache.
pub const BLOCK_ROWS: usize = 1024;
