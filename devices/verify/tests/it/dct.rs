//! Byte tables, read by `dropcast-oracle`.

use crate::agreement::{SHAPES, agrees, forest_of};

#[test]
fn tables_agree() {
    for (seed, shape) in SHAPES.into_iter().chain([(128, 8, 12)]).enumerate() {
        assert_eq!(agrees(&forest_of(shape, seed as u64), "dct", 20_000), 1);
    }
}
