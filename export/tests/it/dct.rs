//! The table that `dropcast-runtime` reads equals the forest.

use crate::forests::{Shape, exported, origin_of, random_forest, shapes};
use dropcast_export::{Facts, Origin, Vectors};
use dropcast_runtime::{DropOracle, Field, Table, crc32};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_table_predicts_what_its_forest_does(shape in shapes(1..=128), seed in any::<u64>()) {
        // Half a million vectors for each of the largest would test little more.
        let shape = Shape { depth: shape.depth.min(if shape.trees > 16 { 5 } else { 8 }), ..shape };
        let forest = random_forest(shape, seed);
        let bytes = exported(&forest, &origin_of(&forest, "m"), "dct");
        let table = Table::parse(&bytes).expect("what was written can be read");
        for row in Vectors::new(&forest, seed, 100).expect("valid").rows() {
            prop_assert_eq!(table.score(row), forest.score(row), "{:?}", row);
            prop_assert_eq!(DropOracle::predicts_drop(&table, row), forest.predicts_drop(row));
        }
    }

    #[test]
    fn damaged_tables_are_refused(
        shape in shapes(1..=8), seed in any::<u64>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let forest = random_forest(shape, seed);
        let good = exported(&forest, &origin_of(&forest, "m"), "dct");
        prop_assert!(Table::parse(&good[..cut.index(good.len())]).is_err());
        let mut bytes = good.clone();
        for (at, change) in changes {
            bytes[at.index(good.len())] ^= change;
        }
        // CRC-32 detects every burst of up to 32 bits, and all but 2^-32 of other errors.
        prop_assert!(bytes == good || Table::parse(&bytes).is_err());
    }

    /// A forged table with a valid checksum is refused or predicts something; it never panics.
    #[test]
    fn forged_tables_do_not_panic(
        shape in shapes(1..=8), seed in any::<u64>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        row in proptest::collection::vec(any::<u32>(), 0..14),
    ) {
        let forest = random_forest(shape, seed);
        let mut bytes = exported(&forest, &origin_of(&forest, "m"), "dct");
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let checksum = crc32(&bytes[Field::CHECKSUM.end..]);
        bytes[Field::CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        if let Ok(table) = Table::parse(&bytes) {
            prop_assert!(table.score(&row) <= 255 * u32::from(table.layout().trees()));
        }
    }
}

#[test]
fn four_trees_of_depth_four_on_four_features_take_at_most_400_bytes() {
    let shape = Shape { trees: 4, depth: 4, features: 4, largest: 1_000_000, stops: 0 };
    let forest = random_forest(shape, 1);
    let origin = origin_of(&forest, "m");
    let bytes = exported(&forest, &origin, "dct");
    assert_eq!(bytes.len(), 396);
    assert_eq!(Facts::new(&forest, &origin).expect("valid").dct_bytes, bytes.len());
}

#[test]
fn a_table_says_where_it_comes_from() {
    let forest =
        random_forest(Shape { trees: 3, depth: 2, features: 5, largest: 100, stops: 20 }, 7);
    let mut origin = origin_of(&forest, "m");
    origin.columns.iter_mut().for_each(|column| column.code += 10);
    let average_ns = |origin: &Origin| {
        let bytes = exported(&forest, origin, "dct");
        Table::parse(&bytes).expect("what was written can be read").average_ns()
    };
    assert_eq!(average_ns(&origin), None);
    origin.average_ns = Some(25_200);
    assert_eq!(average_ns(&origin), Some(25_200));
    let bytes = exported(&forest, &origin, "dct");
    let read = Table::parse(&bytes).expect("what was written can be read");
    assert_eq!(read.feature_codes(), [10, 11, 12, 13, 14]);
    assert_eq!(read.model_id(), [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]);
    assert_eq!(read.vote_threshold(), forest.vote_threshold);
    assert_eq!((read.layout().trees(), read.layout().depth()), (3, 2));
}
