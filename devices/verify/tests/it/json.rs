//! JSON tables, read by Python.

use crate::agreement::{SHAPES, agrees, forest_of};

#[test]
fn tables_agree() {
    for (seed, shape) in SHAPES.into_iter().chain([(128, 8, 12)]).enumerate() {
        agrees(&forest_of(shape, seed as u64), "json", 20_000);
    }
}
