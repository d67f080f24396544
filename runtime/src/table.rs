//! A forest on a device.

use crate::layout::{Field, Layout, MAGIC, ShapeError, VERSION};
use crate::{DropOracle, crc32};
use core::fmt;
use core::ops::Range;

/// A forest of complete integer trees: a checked view of the bytes of a `.dct` file.
///
/// In each tree, starting at split 0, a row goes from split `i` to `2i + 1` if its value in the
/// split's column is at most the threshold, else to `2i + 2`; after `depth` splits it is at a
/// leaf. Its score is the sum of the leaves' weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table<'a> {
    layout: Layout,
    vote_threshold: u32,
    average_ns: u32,
    model_id: [u8; 8],
    thresholds: &'a [[u8; 4]],
    columns: &'a [u8],
    weights: &'a [u8],
    feature_codes: &'a [u8],
}

/// The code of features of the user's own (docs/features.md): each is another one.
const OWN_FEATURE: u8 = 255;

/// Why bytes are not a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// Fewer bytes than a header.
    NoHeader {
        /// Bytes found.
        found: usize,
    },
    /// The first bytes are not [`MAGIC`].
    NotATable,
    /// A version unknown to this reader.
    Version(u8),
    /// The header describes a shape that no table can have.
    Shape(ShapeError),
    /// The length differs from that in the header.
    Length {
        /// Bytes, by the header.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// The checksum does not match: the bytes are damaged.
    Checksum {
        /// The checksum in the header.
        expected: u32,
        /// The checksum of the bytes.
        found: u32,
    },
    /// A split compares a column that rows do not have.
    Column {
        /// The split, counted through all trees.
        split: usize,
        /// Its column.
        column: u8,
        /// Number of columns.
        features: u8,
    },
    /// Two columns of a row are the same feature, and not of the user's own.
    FeatureTwice {
        /// Its code.
        code: u8,
    },
}

impl<'a> Table<'a> {
    /// Reads a table, checking everything that predictions rely on.
    ///
    /// # Errors
    /// If `bytes` are not exactly one valid table of version [`VERSION`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, TableError> {
        let (header, _) = bytes
            .split_first_chunk::<{ Layout::HEADER_BYTES }>()
            .ok_or(TableError::NoHeader { found: bytes.len() })?;
        if header[Field::MAGIC] != MAGIC {
            return Err(TableError::NotATable);
        }
        let [version] = field(header, Field::VERSION);
        if version != VERSION {
            return Err(TableError::Version(version));
        }
        let ([depth], [features]) = (field(header, Field::DEPTH), field(header, Field::FEATURES));
        let trees = u16::from_le_bytes(field(header, Field::TREES));
        let layout = Layout::new(trees, depth, features).map_err(TableError::Shape)?;
        if bytes.len() != layout.total_bytes() {
            let (expected, found) = (layout.total_bytes(), bytes.len());
            return Err(TableError::Length { expected, found });
        }
        let expected = u32::from_le_bytes(field(header, Field::CHECKSUM));
        let found = crc32(&bytes[Field::CHECKSUM.end..]);
        if expected != found {
            return Err(TableError::Checksum { expected, found });
        }
        let columns = &bytes[layout.columns()];
        if let Some(split) = columns.iter().position(|&column| column >= features) {
            return Err(TableError::Column { split, column: columns[split], features });
        }
        let feature_codes = &bytes[layout.feature_codes()];
        let mut codes = feature_codes.iter().enumerate();
        let is_twice =
            |&(at, code): &(usize, &u8)| *code != OWN_FEATURE && feature_codes[..at].contains(code);
        if let Some((_, &code)) = codes.find(is_twice) {
            return Err(TableError::FeatureTwice { code });
        }
        Ok(Table {
            layout,
            vote_threshold: u32::from_le_bytes(field(header, Field::VOTE_THRESHOLD)),
            average_ns: u32::from_le_bytes(field(header, Field::AVERAGE_NS)),
            model_id: field(header, Field::MODEL_ID),
            thresholds: bytes[layout.thresholds()].as_chunks().0,
            columns,
            weights: &bytes[layout.weights()],
            feature_codes,
        })
    }

    /// Sum of the weights of the leaves that `row` reaches, one in each tree.
    ///
    /// The values of `row` are in the order of [`feature_codes`](Self::feature_codes). Missing
    /// values of a short row count as 0, and extra values of a long one are ignored: a device has
    /// nobody to report an error to, and survives a wrong prediction.
    pub fn score(&self, row: &[u32]) -> u32 {
        let splits = self.layout.splits_per_tree();
        let leaves_of_trees = self.weights.chunks_exact(self.layout.leaves_per_tree());
        leaves_of_trees
            .enumerate()
            .map(|(tree, leaves)| {
                let of_tree = tree * splits..(tree + 1) * splits;
                let (thresholds, columns) =
                    (&self.thresholds[of_tree.clone()], &self.columns[of_tree]);
                let mut at = 0;
                for _ in 0..self.layout.depth() {
                    let value = row.get(usize::from(columns[at])).copied().unwrap_or(0);
                    let goes_right = value > u32::from_le_bytes(thresholds[at]);
                    at = 2 * at + 1 + usize::from(goes_right);
                }
                u32::from(leaves[at - splits])
            })
            .sum()
    }

    /// Whether a drop is predicted for `row`: its score is above the vote threshold.
    pub fn predicts_drop(&self, row: &[u32]) -> bool {
        self.score(row) > self.vote_threshold
    }

    /// Column and threshold of a split of a tree, level by level from 0.
    pub fn split(&self, tree: usize, split: usize) -> Option<(u8, u32)> {
        let splits = self.layout.splits_per_tree();
        let at = (split < splits).then_some(tree * splits + split)?;
        let threshold = self.thresholds.get(at)?;
        Some((*self.columns.get(at)?, u32::from_le_bytes(*threshold)))
    }

    /// Weight of a leaf of a tree, left to right from 0.
    pub fn weight(&self, tree: usize, leaf: usize) -> Option<u8> {
        let leaves = self.layout.leaves_per_tree();
        let at = (leaf < leaves).then_some(tree * leaves + leaf)?;
        self.weights.get(at).copied()
    }

    /// The numbers of trees, levels and features, and where they lie.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// A score above this predicts a drop.
    pub fn vote_threshold(&self) -> u32 {
        self.vote_threshold
    }

    /// Time constant of the moving averages among the features, ns, if the model states it.
    pub fn average_ns(&self) -> Option<u32> {
        (self.average_ns != 0).then_some(self.average_ns)
    }

    /// First 8 bytes of the SHA-256 of the `model.json` that the table was made from.
    pub fn model_id(&self) -> [u8; 8] {
        self.model_id
    }

    /// The feature of each value of a row: `dropcast_features::Feature::code`.
    pub fn feature_codes(&self) -> &'a [u8] {
        self.feature_codes
    }
}

impl DropOracle for Table<'_> {
    fn predicts_drop(&self, features: &[u32]) -> bool {
        Table::predicts_drop(self, features)
    }
}

/// The bytes of one field; `range` is one of [`Field`]'s and `N` its length.
fn field<const N: usize>(header: &[u8; Layout::HEADER_BYTES], range: Range<usize>) -> [u8; N] {
    core::array::from_fn(|byte| header[range.start + byte])
}

// By hand: this crate runs on devices and has no dependencies.
impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::NoHeader { found } => {
                let header = Layout::HEADER_BYTES;
                write!(f, "not a .dct table: {found} bytes, fewer than the header's {header}")
            }
            TableError::NotATable => f.write_str("not a .dct table: it does not start with DCT"),
            TableError::Version(version) => {
                write!(f, ".dct table of version {version}; this program reads version {VERSION}")
            }
            TableError::Shape(_) => f.write_str("bad header of a .dct table"),
            TableError::Length { expected, found } => {
                write!(f, ".dct table of {found} bytes, its header says {expected}")
            }
            TableError::Checksum { expected, found } => {
                write!(
                    f,
                    "damaged .dct table: checksum {found:08x}, its header says {expected:08x}"
                )
            }
            TableError::Column { split, column, features } => {
                write!(f, "bad .dct table: split {split} compares column {column} of {features}")
            }
            TableError::FeatureTwice { code } => {
                write!(f, "bad .dct table: the feature with code {code} is in two columns")
            }
        }
    }
}

impl core::error::Error for TableError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            TableError::Shape(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec::Vec;

    /// One tree, depth 1: column 1 up to 0x0102_0304 weighs 9, above 200; drop above 10.
    fn stump() -> Vec<u8> {
        let mut bytes = std::vec![
            b'D', b'C', b'T', 1, 0, 0, 0, 0, // magic, version, checksum
            1, 0, 1, 2, // one tree, one level, two features
            10, 0, 0, 0, // vote threshold
            0x40, 0x42, 0x0F, 0, // 1 ms
            1, 2, 3, 4, 5, 6, 7, 8, // model
            4, 3, 2, 1, // threshold
            1, // column
            9, 200, // weights
            0, 2, // feature codes
        ];
        seal(&mut bytes);
        bytes
    }

    fn seal(bytes: &mut [u8]) {
        let checksum = crc32(&bytes[8..]).to_le_bytes();
        bytes[4..8].copy_from_slice(&checksum);
    }

    #[test]
    fn a_stump_written_by_hand_is_read() {
        let bytes = stump();
        let table = Table::parse(&bytes).unwrap();
        assert_eq!(table.score(&[u32::MAX, 0x0102_0304]), 9);
        assert_eq!(table.score(&[0, 0x0102_0305]), 200);
        assert!(!table.predicts_drop(&[0, 0]));
        assert!(table.predicts_drop(&[0, u32::MAX]));
        assert_eq!(table.feature_codes(), [0, 2]);
        assert_eq!(table.average_ns(), Some(1_000_000));
        assert_eq!(table.model_id(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(table.layout(), Layout::new(1, 1, 2).unwrap());
    }

    #[test]
    fn a_tie_accepts() {
        let mut bytes = stump();
        bytes[12] = 200;
        seal(&mut bytes);
        let table = Table::parse(&bytes).unwrap();
        assert_eq!(table.score(&[0, u32::MAX]), table.vote_threshold());
        assert!(!DropOracle::predicts_drop(&table, &[0, u32::MAX]));
    }

    #[test]
    fn missing_values_count_as_zero_and_surplus_ones_not_at_all() {
        let bytes = stump();
        let table = Table::parse(&bytes).unwrap();
        assert_eq!(table.score(&[]), table.score(&[0, 0]));
        assert_eq!(table.score(&[u32::MAX]), table.score(&[u32::MAX, 0]));
        assert_eq!(table.score(&[0, u32::MAX, 7]), 200);
    }

    #[test]
    fn every_defect_has_its_error() {
        let changed = |at: usize, value: u8| {
            let mut bytes = stump();
            bytes[at] = value;
            seal(&mut bytes);
            Table::parse(&bytes).map(|_| ()).unwrap_err()
        };
        assert_eq!(changed(0, b'd'), TableError::NotATable);
        assert_eq!(changed(3, 2), TableError::Version(2));
        assert_eq!(changed(8, 0), TableError::Shape(ShapeError::NoTrees));
        assert_eq!(changed(10, 17), TableError::Shape(ShapeError::TooDeep(17)));
        assert_eq!(changed(11, 0), TableError::Shape(ShapeError::NoFeatures));
        assert_eq!(changed(8, 2), TableError::Length { expected: 44, found: 37 });
        assert_eq!(changed(32, 2), TableError::Column { split: 0, column: 2, features: 2 });
        assert_eq!(changed(36, 0), TableError::FeatureTwice { code: 0 });
        let own = {
            let mut bytes = stump();
            bytes[35..37].fill(OWN_FEATURE);
            seal(&mut bytes);
            Table::parse(&bytes).map(|table| table.feature_codes().to_vec())
        };
        assert_eq!(own, Ok(std::vec![OWN_FEATURE; 2]));
        assert!(changed(3, 7).to_string().contains("version 7"));
    }

    #[test]
    fn any_changed_bit_and_any_cut_is_noticed() {
        let good = stump();
        for bit in 0..8 * good.len() {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Table::parse(&bytes).is_err(), "bit {bit}");
        }
        for length in 0..good.len() {
            assert!(Table::parse(&good[..length]).is_err(), "{length} bytes");
        }
        let longer = [good.as_slice(), &[0]].concat();
        assert_eq!(Table::parse(&longer), Err(TableError::Length { expected: 37, found: 38 }));
    }

    proptest! {
        /// Bytes that pass the checks can be scored; others are an error, never a panic.
        #[test]
        fn no_bytes_panic(
            trees in 0_u16..4, depth in 0_u8..5, features in 0_u8..4,
            body in proptest::collection::vec(any::<u8>(), 0..300),
            fits in any::<bool>(),
            row in proptest::collection::vec(any::<u32>(), 0..6),
        ) {
            let mut bytes = stump();
            bytes.truncate(28);
            bytes[8..10].copy_from_slice(&trees.to_le_bytes());
            (bytes[10], bytes[11]) = (depth, features);
            bytes.extend(body);
            if fits && let Ok(layout) = Layout::new(trees, depth, features) {
                bytes.resize(layout.total_bytes(), 0);
                bytes[layout.columns()].iter_mut().for_each(|column| *column %= features + 1);
                bytes[layout.feature_codes()].iter_mut().zip(0..).for_each(|(code, at)| *code = at);
            }
            seal(&mut bytes);
            if let Ok(table) = Table::parse(&bytes) {
                prop_assert!(table.score(&row) <= 255 * u32::from(trees));
            }
        }
    }
}
