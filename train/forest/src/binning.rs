//! Bins: ranges of a feature's values, numbered in one byte. Trainers and scorers work on bins
//! without loss: a split between bins is a split of values.

mod bins;
mod masks;

pub use bins::{Bins, CoarserBins};
pub use masks::BinMasks;

/// Maximum number of bins of a feature.
pub const BINS: usize = 256;

/// Rows scored together: their intermediate results stay in the L1 cache.
pub const BLOCK_ROWS: usize = 1024;
