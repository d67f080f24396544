//! The layout of a `.dct` table. The reader here and the writer in `dropcast-export` both use it,
//! so the format is defined once; `docs/dct.md` documents it.

use core::fmt;
use core::ops::Range;

/// A table's first bytes; the version byte follows.
pub const MAGIC: [u8; 3] = *b"DCT";

/// The version of the format written and read here.
pub const VERSION: u8 = 1;

/// Maximum levels of splits in a table. Trees are stored complete, so each level doubles the size.
pub const MAX_DEPTH: u8 = 16;

/// The header's fields, all little-endian, as ranges of bytes.
#[non_exhaustive]
pub struct Field;

impl Field {
    /// [`MAGIC`].
    pub const MAGIC: Range<usize> = 0..3;
    /// [`VERSION`], `u8`.
    pub const VERSION: Range<usize> = 3..4;
    /// [`crc32`](crate::crc32) of every byte after this field, `u32`.
    pub const CHECKSUM: Range<usize> = 4..8;
    /// Number of trees, `u16`, at least 1.
    pub const TREES: Range<usize> = 8..10;
    /// Levels of splits in every tree, `u8`, at most [`MAX_DEPTH`].
    pub const DEPTH: Range<usize> = 10..11;
    /// Number of features, `u8`, at least 1.
    pub const FEATURES: Range<usize> = 11..12;
    /// A drop is predicted if and only if the score is larger than this `u32`.
    pub const VOTE_THRESHOLD: Range<usize> = 12..16;
    /// Time constant of the moving averages among the features, ns, `u32`; 0: not stated.
    pub const AVERAGE_NS: Range<usize> = 16..20;
    /// First 8 bytes of the SHA-256 of the `model.json` that the table was made from.
    pub const MODEL_ID: Range<usize> = 20..28;
}

/// Bytes of the header.
const HEADER_BYTES: u64 = 28;

/// The shape of a table, which determines the place of its arrays and its length.
///
/// With `t` trees of depth `d` and `f` features, the header is followed by `t * (2^d - 1)`
/// thresholds (`u32`), as many columns (`u8`), `t * 2^d` leaf weights (`u8`) and `f` feature codes
/// (`u8`). Thresholds come first, so that an aligned table has aligned thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    trees: u16,
    depth: u8,
    features: u8,
}

/// A shape that no table can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeError {
    /// There are no trees.
    NoTrees,
    /// There are no features.
    NoFeatures,
    /// More levels of splits than [`MAX_DEPTH`].
    TooDeep(u8),
    /// More bytes than this machine can address.
    TooLarge(u64),
}

impl Layout {
    /// Bytes of the header.
    pub const HEADER_BYTES: usize = HEADER_BYTES as usize;

    /// The layout of a table of `trees` complete trees of `depth` levels of splits.
    ///
    /// # Errors
    /// If no table can have this shape.
    pub fn new(trees: u16, depth: u8, features: u8) -> Result<Self, ShapeError> {
        let layout = Layout { trees, depth, features };
        if trees == 0 {
            return Err(ShapeError::NoTrees);
        }
        if features == 0 {
            return Err(ShapeError::NoFeatures);
        }
        if depth > MAX_DEPTH {
            return Err(ShapeError::TooDeep(depth));
        }
        let bytes = layout.total_u64();
        match usize::try_from(bytes) {
            Ok(_) => Ok(layout),
            Err(_) => Err(ShapeError::TooLarge(bytes)),
        }
    }

    /// Number of trees.
    pub fn trees(self) -> u16 {
        self.trees
    }

    /// Levels of splits in every tree.
    pub fn depth(self) -> u8 {
        self.depth
    }

    /// Number of features.
    pub fn features(self) -> u8 {
        self.features
    }

    /// Splits of one tree.
    pub fn splits_per_tree(self) -> usize {
        self.leaves_per_tree() - 1
    }

    /// Leaves of one tree.
    pub fn leaves_per_tree(self) -> usize {
        1 << self.depth
    }

    /// Bytes of the whole table.
    pub fn total_bytes(self) -> usize {
        self.feature_codes().end
    }

    /// The bytes of the thresholds: tree by tree, level by level, `u32`.
    pub fn thresholds(self) -> Range<usize> {
        after(Self::HEADER_BYTES, 4 * self.splits())
    }

    /// The bytes of the columns that the thresholds are compared with, in the same order, `u8`.
    pub fn columns(self) -> Range<usize> {
        after(self.thresholds().end, self.splits())
    }

    /// The bytes of the leaf weights: tree by tree, left to right, `u8`.
    pub fn weights(self) -> Range<usize> {
        after(self.columns().end, usize::from(self.trees) * self.leaves_per_tree())
    }

    /// The bytes of the feature codes, one per column of a row, `u8`.
    pub fn feature_codes(self) -> Range<usize> {
        after(self.weights().end, usize::from(self.features))
    }

    fn splits(self) -> usize {
        usize::from(self.trees) * self.splits_per_tree()
    }

    /// Bytes of the whole table, which may not fit a `usize`.
    fn total_u64(self) -> u64 {
        let (trees, leaves) = (u64::from(self.trees), 1_u64 << self.depth);
        HEADER_BYTES + trees * (5 * (leaves - 1) + leaves) + u64::from(self.features)
    }
}

fn after(start: usize, bytes: usize) -> Range<usize> {
    start..start + bytes
}

// By hand: this crate runs on devices and has no dependencies.
impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::NoTrees => f.write_str("it has no trees"),
            ShapeError::NoFeatures => f.write_str("it has no features"),
            ShapeError::TooDeep(depth) => {
                write!(f, "it has {depth} levels of splits; a table has at most {MAX_DEPTH}")
            }
            ShapeError::TooLarge(bytes) => write!(f, "it would take {bytes} bytes"),
        }
    }
}

impl core::error::Error for ShapeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_trees_of_depth_four_on_four_features_take_396_bytes() {
        let layout = Layout::new(4, 4, 4).unwrap();
        assert_eq!(layout.total_bytes(), 396);
        assert_eq!(layout.thresholds(), 28..268);
        assert_eq!(layout.columns(), 268..328);
        assert_eq!(layout.weights(), 328..392);
        assert_eq!(layout.feature_codes(), 392..396);
    }

    #[test]
    fn both_ways_to_count_bytes_agree() {
        for (trees, depth, features) in [(1, 0, 1), (1, 1, 1), (128, 8, 12), (u16::MAX, 16, 255)] {
            let layout = Layout::new(trees, depth, features).unwrap();
            assert_eq!(layout.total_u64(), layout.total_bytes() as u64);
        }
    }

    #[test]
    fn impossible_shapes_are_refused() {
        assert_eq!(Layout::new(0, 4, 4), Err(ShapeError::NoTrees));
        assert_eq!(Layout::new(4, 4, 0), Err(ShapeError::NoFeatures));
        assert_eq!(Layout::new(4, 17, 4), Err(ShapeError::TooDeep(17)));
        assert_eq!(Layout::new(4, 255, 4), Err(ShapeError::TooDeep(255)));
    }
}
