//! The check that every target must pass.

use crate::forests::{Shape, origin_of, random_forest};
use dropcast_export::{Target, Vectors};
use dropcast_forest::Forest;
use dropcast_verify::{Built, Comparison, VerifyError};
use std::io::Write;

/// Trees, depth, features: from the smallest to what every target must support.
pub(crate) const SHAPES: [(usize, usize, usize); 8] =
    [(1, 0, 1), (1, 1, 1), (3, 0, 4), (2, 2, 3), (4, 4, 4), (4, 4, 6), (7, 8, 12), (32, 8, 6)];

/// A random forest of a shape; some have few values, so that ties and contradictions are common.
pub(crate) fn forest_of((trees, depth, features): (usize, usize, usize), seed: u64) -> Forest {
    let largest = if seed.is_multiple_of(3) { 4 } else { 2_000_000 };
    random_forest(Shape { trees, depth, features, largest, stops: 10 }, seed)
}

/// Exports, builds and runs a forest on its vectors and `random_rows` more: no program of the
/// target may differ. Returns the number of programs; 0 if a tool is missing, which is an error in
/// CI.
///
/// # Panics
/// If one differs, does not build or does not run, or if a tool is missing and `CI=true`.
pub(crate) fn agrees(forest: &Forest, target: &str, random_rows: usize) -> usize {
    let target: Target = target.parse().expect("a target");
    let mut built = match Built::new(forest, &origin_of(forest, "m"), target) {
        Ok(built) => built,
        Err(error @ VerifyError::MissingTool { .. }) => return missing(&error),
        Err(error) => panic!("{target}: {error:?}"),
    };
    let vectors = Vectors::new(forest, 11, random_rows).expect("valid");
    for program in built.programs() {
        let mut comparison = Comparison::default();
        comparison.add(forest, program.as_mut(), vectors.rows()).expect("it runs");
        assert_eq!(comparison.mismatches, 0, "{}: {:?}", program.name(), comparison.first);
        assert_eq!(comparison.rows, vectors.rows().len() as u64);
    }
    built.programs().len()
}

/// Says, bypassing the test harness, that nothing was tested.
pub(crate) fn missing(error: &VerifyError) -> usize {
    let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!ci, "{error}, and CI=true");
    writeln!(std::io::stderr(), "\n*** {error}: NOTHING WAS TESTED WITH IT ***\n")
        .expect("stderr is writable");
    0
}

/// Targets whose tests have files of their own: their tools take longer, or ask for other forests.
const TESTED_APART: [&str; 4] = ["cpp", "ebpf", "onnx", "verilog"];

#[test]
fn every_other_target_agrees() {
    let runs = |target| !matches!(Built::from_files(&[], 1, target), Err(VerifyError::NoRunner(_)));
    let is_here = |target: &&Target| runs(**target) && !TESTED_APART.contains(&target.name());
    for target in Target::all().iter().filter(is_here) {
        for (seed, shape) in SHAPES.into_iter().chain([(128, 8, 12)]).enumerate() {
            let programs = agrees(&forest_of(shape, seed as u64), target.name(), 20_000);
            let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
            // Both forms of the C header, with both compilers.
            let expected = if target.name() == "c" { 4 } else { 1 };
            assert!(programs == expected || !ci, "{target}: {programs} programs");
        }
    }
}
