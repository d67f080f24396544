//! Tables, run entry by entry, predict what their forest does.

use crate::forests::{Shape, random_forest, shapes};
use dropcast_export::tables::Emulator;
use dropcast_export::{Tables, TernaryEntries, Vectors};
use dropcast_forest::{Forest, Node, Tree};
use proptest::prelude::*;

/// Every n-th row of many, or all of few.
fn check(forest: &Forest, most_rows: usize) {
    let tables = Tables::new(forest).expect("sound");
    let emulator = Emulator::new(&tables);
    let vectors = Vectors::new(forest, 5, 500).expect("sound");
    let step = vectors.rows().len().div_ceil(most_rows);
    for row in vectors.rows().iter().step_by(step) {
        assert_eq!(emulator.score(row), Ok(forest.score(row)), "{row:?}");
        assert_eq!(emulator.predicts_drop(row), Ok(forest.predicts_drop(row)));
    }
    check_counts(forest, &tables);
}

fn check_counts(forest: &Forest, tables: &Tables) {
    let counted = TernaryEntries::count(forest).expect("sound");
    let prefixes: usize = tables.features.iter().map(|feature| feature.prefixes.len()).sum();
    let naive: usize =
        tables.features.iter().map(|feature| feature.disjoint_prefixes().len()).sum();
    let lookups = tables.trees.iter().filter(|tree| tree.constant().is_none());
    let leaves: usize = lookups.map(|tree| tree.leaves.len()).sum();
    assert_eq!(counted.prefixes, prefixes as u64);
    assert_eq!(counted.naive_prefixes, naive as u64);
    assert_eq!(counted.leaves, leaves as u64);
    assert!(counted.minimised() <= counted.naive());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn tables_score_what_their_forest_does(shape in shapes(1..=16), seed in any::<u64>()) {
        check(&random_forest(shape, seed), 2_000);
    }
}

#[test]
fn large_forests_are_the_same_as_tables() {
    for (trees, depth, features) in [(32, 8, 4), (32, 8, 12), (128, 4, 6)] {
        let shape = Shape { trees, depth, features, largest: 2_000_000, stops: 5 };
        check(&random_forest(shape, 1), 3_000);
    }
}

#[test]
fn a_forest_that_is_the_same_for_every_row_needs_no_tables() {
    let split = |threshold, left, right| Node::Split { feature: 0, threshold, left, right };
    let leaf = |weight| Node::Leaf { weight };
    let trees = vec![
        Tree { nodes: vec![leaf(9)] },
        Tree { nodes: vec![split(u32::MAX, 1, 2), leaf(20), leaf(200)] },
        Tree { nodes: vec![split(0, 1, 2), leaf(7), leaf(7)] },
    ];
    let forest = Forest { features: vec!["x".to_owned()], vote_threshold: 35, trees };
    let tables = Tables::new(&forest).expect("sound");
    assert!(tables.features.is_empty());
    assert_eq!((tables.constant_score(), tables.max_score()), (36, 36));
    let counted = TernaryEntries::count(&forest).expect("sound");
    assert_eq!((counted.naive(), counted.minimised()), (0, 0));
    assert_eq!(Emulator::new(&tables).predicts_drop(&[5]), Ok(true));
}

#[test]
fn thresholds_at_the_ends_of_the_values_work() {
    for threshold in [0, 1, 1 << 20, u32::MAX - 1] {
        let split = Node::Split { feature: 0, threshold, left: 1, right: 2 };
        let nodes = vec![split, Node::Leaf { weight: 1 }, Node::Leaf { weight: 2 }];
        let forest = Forest {
            features: vec!["x".to_owned(), "unused".to_owned()],
            vote_threshold: 1,
            trees: vec![Tree { nodes }],
        };
        let tables = Tables::new(&forest).expect("sound");
        assert_eq!(tables.features.len(), 1);
        assert_eq!(tables.features[0].bounds(0), 0..=threshold);
        assert_eq!(tables.features[0].bounds(1), threshold + 1..=u32::MAX);
        check(&forest, usize::MAX);
    }
}

#[test]
fn what_is_not_a_forest_has_no_tables() {
    let forest = Forest { features: vec![], vote_threshold: 0, trees: vec![] };
    assert!(Tables::new(&forest).is_err());
    assert!(TernaryEntries::count(&forest).is_err());
}
