//! Costs of feature sets on a chip.

use dropcast_features::{Chip, FeatureCost, FeatureSet};

const LEAF: Chip = Chip { queues: 40, buffer_bytes: 1_052_672 };

fn of(features: &str, chip: Chip) -> FeatureCost {
    features.parse::<FeatureSet>().expect("known features").cost(chip)
}

#[test]
fn parts_are_counted_once() {
    let both = of("level_in_quarter_rtt,level_in_one_rtt", LEAF);
    let one = of("level_in_one_rtt", LEAF);
    // A word for each horizon; recent arrivals and the time once.
    assert_eq!((one.queue_bytes, both.queue_bytes), (16, 20));
    assert_eq!(both.stages, one.stages);
    assert_eq!(of("level4,level1", LEAF), of("level4", LEAF));
}

#[test]
fn scans_grow_with_the_queues_and_classes_do_not() {
    let large = Chip { queues: 256, ..LEAF };
    for set in ["cut1", "class1", "paper4"] {
        assert_eq!(of(set, LEAF), of(set, large), "{set}");
    }
    let (small, large) = (of("level4", LEAF), of("level4", large));
    assert_eq!(large.accesses - small.accesses, 4 * (256 - 40));
    assert_eq!(large.stages - small.stages, 2);
}
