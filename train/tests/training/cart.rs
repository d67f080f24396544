//! The trainer against an obvious second implementation: a recursive CART on raw values, exact
//! arithmetic, no bins and no histograms.

use crate::support::{Row, exact_task, run_of};
use dropcast_train::{ForestParams, MaxFeatures, Node, Tree, fit};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A tree as CART grows it.
#[derive(Clone, Debug, PartialEq)]
enum Cart {
    Leaf(u8),
    Split { feature: usize, threshold: u32, sides: Box<[Cart; 2]> },
}

struct Rules {
    depth: u8,
    min_samples_leaf: usize,
    min_samples_split: usize,
    /// The distinct values of each feature over all rows.
    values: Vec<Vec<u32>>,
}

/// Weighted Gini impurity of two sides, `sum of 2 a b / n`, as a fraction.
fn impurity(left: &[Row], right: &[Row]) -> (u128, u128) {
    let side = |rows: &[Row]| {
        let drops = rows.iter().filter(|row| row.1).count() as u128;
        (2 * drops * (rows.len() as u128 - drops), rows.len() as u128)
    };
    let ((a, n), (b, m)) = (side(left), side(right));
    (a * m + b * n, n * m)
}

fn grow(rows: &[Row], depth: u8, rules: &Rules) -> Cart {
    let drops = rows.iter().filter(|row| row.1).count();
    let leaf = Cart::Leaf(((2 * 255 * drops + rows.len()) / (2 * rows.len())) as u8);
    let is_pure = drops == 0 || drops == rows.len();
    if is_pure || depth == rules.depth || rows.len() < rules.min_samples_split {
        return leaf;
    }
    let mut best: Option<((u128, u128), usize, u32, u32)> = None;
    for feature in 0..rows[0].0.len() {
        let here: BTreeSet<u32> = rows.iter().map(|row| row.0[feature]).collect();
        let here: Vec<u32> = here.into_iter().collect();
        for pair in here.windows(2) {
            let (left, right) = part(rows, feature, pair[0]);
            if left.len().min(right.len()) < rules.min_samples_leaf {
                continue;
            }
            let now = impurity(&left, &right);
            if best.is_none_or(|(best, ..)| now.0 * best.1 < best.0 * now.1) {
                best = Some((now, feature, pair[0], pair[1]));
            }
        }
    }
    let Some((_, feature, below, above)) = best else { return leaf };
    let (left, right) = part(rows, feature, below);
    let threshold = threshold(&rules.values[feature], below, above);
    let sides = [grow(&left, depth + 1, rules), grow(&right, depth + 1, rules)];
    match &sides {
        [Cart::Leaf(a), Cart::Leaf(b)] if a == b => Cart::Leaf(*a),
        _ => Cart::Split { feature, threshold, sides: Box::new(sides) },
    }
}

fn part(rows: &[Row], feature: usize, most: u32) -> (Vec<Row>, Vec<Row>) {
    rows.iter().cloned().partition(|row| row.0[feature] <= most)
}

/// The midpoint between neighbours of all values that is the last up to the middle of the gap.
fn threshold(values: &[u32], below: u32, above: u32) -> u32 {
    let midpoints: Vec<u32> = values
        .windows(2)
        .filter(|pair| below <= pair[0] && pair[1] <= above)
        .map(|pair| (pair[0] + pair[1]) / 2)
        .collect();
    let middle = (midpoints[0] + midpoints[midpoints.len() - 1]) / 2;
    midpoints.into_iter().rfind(|&midpoint| midpoint <= middle).unwrap()
}

fn read(tree: &Tree, at: usize) -> Cart {
    match tree.nodes[at] {
        Node::Leaf { weight } => Cart::Leaf(weight),
        Node::Split { feature, threshold, left, right } => Cart::Split {
            feature: usize::from(feature),
            threshold,
            sides: Box::new([read(tree, left as usize), read(tree, right as usize)]),
        },
    }
}

fn rows(features: usize) -> impl Strategy<Value = Vec<Row>> {
    let row = (prop::collection::vec(0_u32..40, features), any::<bool>());
    prop::collection::vec(row, 2..60)
        .prop_filter("both classes", |rows| rows.iter().any(|r| r.1) && rows.iter().any(|r| !r.1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn trees_are_those_of_an_exact_cart(
        rows in (1_usize..4).prop_flat_map(rows),
        depth in 1_u8..=5,
        min_samples_leaf in 1_u32..4,
        min_samples_split in 2_u32..6,
    ) {
        let features = rows[0].0.len();
        let params = ForestParams {
            n_estimators: 1,
            max_depth: depth,
            max_features: MaxFeatures::All,
            min_samples_leaf,
            min_samples_split,
            ..ForestParams::default()
        };
        let fitted = fit(&[run_of(1, &rows)][..], &exact_task(features, params)).unwrap();
        let values = |feature: usize| -> Vec<u32> {
            let values: BTreeSet<u32> = rows.iter().map(|row| row.0[feature]).collect();
            values.into_iter().collect()
        };
        let rules = Rules {
            depth,
            min_samples_leaf: min_samples_leaf as usize,
            min_samples_split: min_samples_split as usize,
            values: (0..features).map(values).collect(),
        };
        prop_assert!(fitted.model.forest.check().is_ok());
        prop_assert_eq!(read(&fitted.model.forest.trees[0], 0), grow(&rows, 0, &rules));
    }

    #[test]
    fn bins_decide_as_values_do(rows in rows(3), max_bins in 2_u16..20, seed in 0_u64..100) {
        let params = ForestParams { max_bins, random_state: seed, ..ForestParams::default() };
        let task = crate::support::task(3, params.check().unwrap(), dropcast_train::Split::None);
        let fitted = fit(&[run_of(1, &rows)][..], &task).unwrap();
        let mut scores = dropcast_train::ScoreHistogram::new(4);
        for (values, drop) in &rows {
            scores.add(fitted.model.forest.score(values), *drop);
        }
        prop_assert_eq!(scores, fitted.train_scores);
    }
}

#[test]
fn a_tree_worked_by_hand() {
    // Drops are the rows with a long queue (above 10) in a full buffer (above 100).
    let rows: Vec<Row> = [
        (&[5, 50], false),
        (&[5, 150], false),
        (&[20, 50], false),
        (&[20, 90], false),
        (&[20, 150], true),
        (&[15, 110], true),
    ]
    .iter()
    .map(|&(values, drop): &(&[u32; 2], bool)| (values.to_vec(), drop))
    .collect();
    let params = ForestParams {
        n_estimators: 1,
        max_depth: 2,
        max_features: MaxFeatures::All,
        ..ForestParams::default()
    };
    let model = fit(&[run_of(1, &rows)][..], &exact_task(2, params)).unwrap().model;
    // At the root, occupancy 90|110 leaves 3 pure rows and 1 of 3; queue 5|15 leaves 2 of 4.
    let nodes = vec![
        Node::Split { feature: 1, threshold: 100, left: 1, right: 2 },
        Node::Leaf { weight: 0 },
        Node::Split { feature: 0, threshold: 10, left: 3, right: 4 },
        Node::Leaf { weight: 0 },
        Node::Leaf { weight: 255 },
    ];
    assert_eq!(model.forest.trees, [Tree { nodes }]);
    assert_eq!(model.forest.vote_threshold, 127);
    assert_eq!(model.metrics.unwrap().train.f1, Some(1.0));
}

#[test]
fn two_features_that_only_matter_together_are_found() {
    // Exclusive or: no first split lowers the impurity, and it is made all the same.
    let rows: Vec<Row> =
        (0..8_u32).map(|at| (vec![at % 2, at / 2 % 2], (at % 2) != (at / 2 % 2))).collect();
    let params = ForestParams {
        n_estimators: 1,
        max_depth: 2,
        max_features: MaxFeatures::All,
        ..ForestParams::default()
    };
    let model = fit(&[run_of(1, &rows)][..], &exact_task(2, params)).unwrap().model;
    assert_eq!(model.metrics.unwrap().train.accuracy, Some(1.0));
}

#[test]
fn the_search_goes_on_past_features_that_are_constant() {
    // One feature of four tells; with one drawn per node it must be found all the same.
    let rows: Vec<Row> = (0..100_u32).map(|at| (vec![7, 7, 7, at], at >= 60)).collect();
    let params = ForestParams {
        n_estimators: 16,
        max_depth: 1,
        max_features: "1".parse().unwrap(),
        ..ForestParams::default()
    };
    let model = fit(&[run_of(1, &rows)][..], &exact_task(4, params)).unwrap().model;
    let nodes = vec![
        Node::Split { feature: 3, threshold: 59, left: 1, right: 2 },
        Node::Leaf { weight: 0 },
        Node::Leaf { weight: 255 },
    ];
    assert_eq!(model.forest.trees, vec![Tree { nodes }; 16]);
}
