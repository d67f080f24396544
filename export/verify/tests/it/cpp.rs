//! C++ headers, alone and called by ns-3.

use crate::agreement::{SHAPES, agrees, forest_of};
use crate::forests::{Shape, random_forest};
use dropcast_features::FeatureSet;
use dropcast_forest::Forest;

#[test]
fn headers_agree() {
    for (seed, shape) in SHAPES.into_iter().enumerate() {
        agrees(&forest_of(shape, seed as u64), "cpp", 5000);
    }
}

#[test]
#[ignore = "slow"]
fn ns3_is_answered_as_the_artifact_asks() {
    for (seed, (trees, depth)) in [(1, 1), (4, 4), (32, 8)].into_iter().enumerate() {
        // In a different order than the arguments.
        let features: FeatureSet =
            "occupancy,avg_occupancy,queue_length,avg_queue_length".parse().expect("known");
        let shape = Shape { trees, depth, features: 4, largest: 2_000_000, stops: 10 };
        let forest = random_forest(shape, seed as u64);
        let forest = Forest { features: features.names(), ..forest };
        let programs = agrees(&forest, "cpp", 5000);
        let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(programs == 4 || !ci, "both compilers, with ns-3; but {programs} programs");
    }
}
