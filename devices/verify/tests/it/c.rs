//! Both forms of the C header, with gcc and clang.

use crate::agreement::{SHAPES, agrees, forest_of};

#[test]
fn headers_agree() {
    for (seed, shape) in SHAPES.into_iter().chain([(128, 8, 12)]).enumerate() {
        let programs = agrees(&forest_of(shape, seed as u64), "c", 20_000);
        let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(programs == 4 || !ci, "both compilers, both forms; but {programs} programs");
    }
}
