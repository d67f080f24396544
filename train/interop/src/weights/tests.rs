//! Weights and proofs against slow obvious ones: every box of a small space, one row at a time.

use super::*;
use crate::values::{Leaf, ValueNode};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Features of the forests here, and how many of their values matter.
const FEATURES: usize = 2;
const VALUES: u32 = 5;

/// A tree of depth up to 3 over small values.
fn tree(leaf: BoxedStrategy<f64>) -> impl Strategy<Value = ValueTree> {
    let leaf = leaf.prop_map(Shape::Leaf);
    leaf.prop_recursive(3, 8, 2, |below| {
        (0..FEATURES as u16, 0..VALUES - 1, below.clone(), below).prop_map(
            |(feature, threshold, a, b)| Shape::Split(feature, threshold, Box::new([a, b])),
        )
    })
    .prop_map(|shape| {
        let mut tree = ValueTree { nodes: Vec::new(), leaves: Vec::new() };
        shape.add_to(&mut tree);
        tree
    })
}

#[derive(Clone, Debug)]
enum Shape {
    Leaf(f64),
    Split(u16, u32, Box<[Shape; 2]>),
}

impl Shape {
    fn add_to(&self, tree: &mut ValueTree) {
        let place = tree.nodes.len();
        match self {
            Shape::Leaf(value) => {
                tree.nodes.push(ValueNode::Leaf(tree.leaves.len() as u32));
                tree.leaves.push(Leaf::new(*value));
            }
            Shape::Split(feature, threshold, sides) => {
                tree.nodes.push(ValueNode::Leaf(0));
                let left = tree.nodes.len() as u32;
                sides[0].add_to(tree);
                let right = tree.nodes.len() as u32;
                sides[1].add_to(tree);
                tree.nodes[place] =
                    ValueNode::Split { feature: *feature, threshold: *threshold, left, right };
            }
        }
    }
}

fn forest(leaf: BoxedStrategy<f64>) -> impl Strategy<Value = ValueForest> {
    (prop::collection::vec(tree(leaf), 1..5), -1.0..1.0_f64, any::<bool>()).prop_map(
        |(trees, threshold, is_single)| ValueForest {
            trees,
            base: 0.0,
            threshold: (threshold * 8.0).round() / 8.0,
            sums: if is_single { Values::F32 } else { Values::F64 },
            blur: 0.0,
        },
    )
}

fn numbers() -> BoxedStrategy<f64> {
    (-1.0..1.0_f64).prop_map(|value| f64::from(value as f32)).boxed()
}

/// Multiples of an eighth: sums of them are exact, and ties are common.
fn eighths() -> BoxedStrategy<f64> {
    (-8_i32..=8).prop_map(|eighths| f64::from(eighths) / 8.0).boxed()
}

fn votes() -> BoxedStrategy<f64> {
    prop_oneof![Just(0.0), Just(1.0)].boxed()
}

/// Every row that differs for some split, and the largest one.
fn rows() -> impl Iterator<Item = [u32; FEATURES]> {
    let values = || (0..VALUES).chain([u32::MAX]);
    values().flat_map(move |a| values().map(move |b| [a, b]))
}

/// The leaf of a tree that a row reaches.
fn leaf(tree: &ValueTree, row: &[u32]) -> u32 {
    let mut at = 0;
    loop {
        match tree.nodes[at as usize] {
            ValueNode::Leaf(leaf) => return leaf,
            ValueNode::Split { feature, threshold, left, right } => {
                at = if row[usize::from(feature)] <= threshold { left } else { right };
            }
        }
    }
}

fn leaves(forest: &ValueForest, row: &[u32]) -> Vec<u32> {
    forest.trees.iter().map(|tree| leaf(tree, row)).collect()
}

fn values<'a>(forest: &'a ValueForest, row: &'a [u32]) -> impl Iterator<Item = f64> + 'a {
    forest.trees.iter().map(|tree| tree.leaves[leaf(tree, row) as usize].value)
}

/// What a tool decides that adds in this order.
fn decision(forest: &ValueForest, values: impl Iterator<Item = f64>) -> bool {
    match forest.sums {
        Values::F32 => {
            let sum = values.fold(forest.base as f32, |sum, value| sum + value as f32);
            f64::from(sum) > forest.threshold
        }
        Values::F64 => values.fold(forest.base, |sum, value| sum + value) > forest.threshold,
    }
}

fn check(forest: &ValueForest) -> Result<(), TestCaseError> {
    let weighted = weigh(forest, FEATURES);
    let score = |row: &[u32]| -> u32 {
        weighted.trees.iter().map(|tree| u32::from(tree.weight(row))).sum()
    };
    let mut wrong = BTreeSet::new();
    for row in rows() {
        let ours = score(&row) > weighted.vote_threshold;
        let forwards = decision(forest, values(forest, &row));
        let mut numbers: Vec<f64> = values(forest, &row).collect();
        numbers.reverse();
        let backwards = decision(forest, numbers.into_iter());
        if ours != forwards || ours != backwards {
            wrong.insert(leaves(forest, &row));
            let distance = (values(forest, &row).sum::<f64>() - forest.threshold).abs();
            prop_assert!(distance <= weighted.agreement.margin + 1e-12, "{:?}", weighted.agreement);
        }
    }
    // A difference that is proven absent is absent; one that is counted may be a matter of order.
    if weighted.agreement.is_proven() {
        prop_assert!(wrong.is_empty(), "{:?}: {wrong:?}", weighted.agreement);
    }
    if let Some(differing) = weighted.agreement.differing {
        prop_assert!(wrong.len() as u64 <= differing);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn proofs_hold_for_any_leaves(forest in forest(numbers())) {
        check(&forest)?;
    }

    #[test]
    fn proofs_hold_where_ties_are_common(forest in forest(eighths())) {
        check(&forest)?;
    }

    #[test]
    fn votes_are_always_proven(forest in forest(votes())) {
        prop_assert_eq!(weigh(&forest, FEATURES).agreement, Agreement::EQUAL);
        check(&forest)?;
    }

    #[test]
    fn combinations_are_those_that_some_row_reaches(forest in forest(votes()), most in 0_usize..30) {
        let reached: BTreeSet<Vec<u32>> = rows().map(|row| leaves(&forest, &row)).collect();
        let mut seen = Vec::new();
        prop_assert!(each_combination(&forest, FEATURES, usize::MAX, |leaves| seen.push(leaves.to_vec())));
        let distinct: BTreeSet<Vec<u32>> = seen.iter().cloned().collect();
        prop_assert_eq!(&distinct, &reached);
        prop_assert_eq!(seen.len(), distinct.len(), "each once");
        let mut count = 0;
        let is_all = each_combination(&forest, FEATURES, most, |_| count += 1);
        prop_assert_eq!(is_all, seen.len() <= most);
        prop_assert_eq!(count, seen.len().min(most));
    }
}

/// A forest whose score can be next to its threshold, at any distance.
fn near(distance: f64, sums: Values) -> ValueForest {
    let tree = |low: f64, high: f64| ValueTree {
        nodes: vec![
            ValueNode::Split { feature: 0, threshold: 1, left: 1, right: 2 },
            ValueNode::Leaf(0),
            ValueNode::Leaf(1),
        ],
        leaves: vec![Leaf::new(low), Leaf::new(high)],
    };
    let trees = vec![tree(0.1, 0.7), tree(-0.3, 0.4 + distance)];
    ValueForest { trees, base: 0.0, threshold: 0.7 + 0.4, sums, blur: 0.0 }
}

#[test]
fn scores_within_the_rounding_of_a_tools_sums_are_not_proven() {
    let agreement = |distance, sums| weigh(&near(distance, sums), 1).agreement;
    assert!(agreement(1e-5, Values::F32).is_proven());
    assert!(!agreement(1e-8, Values::F32).is_proven());
    assert!(agreement(1e-8, Values::F64).is_proven());
    assert!(!agreement(0.0, Values::F64).is_proven());
    let blurred = ValueForest { blur: 1e-3, ..near(1e-5, Values::F32) };
    assert_eq!(weigh(&blurred, 1).agreement.differing, Some(1));
}

#[test]
fn forests_that_always_say_the_same_are_proven() {
    for (threshold, drop) in [(-9.0, true), (9.0, false)] {
        for forest in [near(0.0, Values::F32), near(0.3, Values::F64)] {
            let weighted = weigh(&ValueForest { threshold, ..forest }, 1);
            assert!(weighted.agreement.is_proven(), "{:?}", weighted.agreement);
            for row in [[0], [2]] {
                let score: u32 =
                    weighted.trees.iter().map(|tree| u32::from(tree.weight(&row))).sum();
                assert_eq!(score > weighted.vote_threshold, drop);
            }
        }
    }
}
