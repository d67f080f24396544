//! The trainer against an obvious second implementation: a recursive CART on raw values and
//! exact arithmetic, without bins and histograms. It shares only the random draws.

use crate::growth::bootstrap::{Bootstrap, LANES, Poisson};
use crate::random::Purpose;
use crate::rows::row_kind::RowKind;
use crate::{
    ClassWeight, FitTask, ForestParams, MaxFeatures, Monotone, Part, RunBatch, Split, VoteRule, fit,
};
use dropcast_data::LabelledBatch;
use dropcast_features::FeatureSet;
use dropcast_forest::{LeafRows, Node, ScoreHistogram, SwitchContext, Tree};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// A row: its values, whether it is a drop, and how often it was drawn.
#[derive(Clone, Debug)]
struct Row {
    values: Vec<u32>,
    drop: bool,
    draws: u128,
}

/// A tree grown by CART, with what is known of its leaves.
#[derive(Clone, Debug, PartialEq)]
enum Cart<L> {
    Leaf(L),
    Split { feature: usize, threshold: u32, sides: Box<[Cart<L>; 2]> },
}

impl Cart<(u8, f64)> {
    /// The shares of its leaves.
    fn shares(&self) -> Cart<f64> {
        match self {
            Cart::Leaf((_, share)) => Cart::Leaf(*share),
            Cart::Split { feature, threshold, sides } => Cart::Split {
                feature: *feature,
                threshold: *threshold,
                sides: Box::new(sides.each_ref().map(Cart::shares)),
            },
        }
    }

    /// The weights of its leaves, without splits between equal ones.
    fn weights(&self) -> Cart<u8> {
        let (feature, threshold, sides) = match self {
            Cart::Leaf((weight, _)) => return Cart::Leaf(*weight),
            Cart::Split { feature, threshold, sides } => (*feature, *threshold, sides),
        };
        match sides.each_ref().map(Cart::weights) {
            [Cart::Leaf(a), Cart::Leaf(b)] if a == b => Cart::Leaf(a),
            sides => Cart::Split { feature, threshold, sides: Box::new(sides) },
        }
    }
}

struct Rules {
    params: ForestParams,
    tree: u64,
    /// The distinct values of each feature over all rows.
    values: Vec<Vec<u32>>,
}

impl Rules {
    /// Whether scores may not fall when a feature is higher.
    fn rises(&self, feature: usize) -> bool {
        self.params.monotone == Monotone::On && FeatureSet::all().features()[feature].rises()
    }
}

type Fraction = (u128, u128);

/// Drawn rows: dropped ones and all.
fn count(rows: &[Row]) -> (u128, u128) {
    let drops = rows.iter().filter(|row| row.drop).map(|row| row.draws).sum();
    (drops, rows.iter().map(|row| row.draws).sum())
}

/// Weighted Gini impurity of two sides, `sum of 2 a b / n`, as a fraction.
fn impurity(left: &[Row], right: &[Row]) -> Fraction {
    let ((a, n), (b, m)) = (count(left), count(right));
    (2 * a * (n - a) * m + 2 * b * (m - b) * n, n * m)
}

/// The weight of a leaf with these rows, within bounds.
fn weight(rows: &[Row], (least, most): (u8, u8)) -> u8 {
    let (drops, all) = count(rows);
    (((2 * 255 * drops + all) / (2 * all).max(1)) as u8).clamp(least, most)
}

/// The tree of `rows` below node `number` (its children are `2n + 1` and `2n + 2`), whose leaves weigh no less and no
/// more than `bounds`.
fn grow(
    rows: &[Row],
    number: usize,
    depth: u8,
    bounds: (u8, u8),
    rules: &Rules,
) -> Cart<(u8, f64)> {
    let (drops, all) = count(rows);
    let leaf = Cart::Leaf((weight(rows, bounds), drops as f64 / all.max(1) as f64));
    let params = &rules.params;
    let is_small = rows.len() < params.min_samples_split as usize;
    if drops == 0 || drops == all || depth == params.max_depth || is_small {
        return leaf;
    }
    let Some((feature, below, above)) = best_split(rows, number, rules) else { return leaf };
    let (left, right) = part(rows, feature, below);
    let threshold = threshold(&rules.values[feature], below, above);
    let mut own = [bounds; 2];
    if rules.rises(feature) {
        let weights = [&left, &right].map(|side| u16::from(weight(side, bounds)));
        let between = (weights.iter().sum::<u16>() / 2) as u8;
        (own[0].1, own[1].0) = (between, between);
    }
    let sides = [
        grow(&left, 2 * number + 1, depth + 1, own[0], rules),
        grow(&right, 2 * number + 2, depth + 1, own[1], rules),
    ];
    Cart::Split { feature, threshold, sides: Box::new(sides) }
}

/// The feature to split on, and the values on either side of the cut.
fn best_split(rows: &[Row], number: usize, rules: &Rules) -> Option<(usize, u32, u32)> {
    let params = &rules.params;
    let features = rules.values.len();
    let key = [rules.tree, number as u64];
    let order = Purpose::FeatureOrder.stream(params.seed, &key).permutation(features);
    let mut best: Option<(Fraction, (usize, u32, u32))> = None;
    for (nth, &feature) in order.iter().enumerate() {
        if nth >= params.max_features.count(features) && best.is_some() {
            break;
        }
        let here: BTreeSet<u32> = rows.iter().map(|row| row.values[feature]).collect();
        let here: Vec<u32> = here.into_iter().collect();
        for pair in here.windows(2) {
            let (left, right) = part(rows, feature, pair[0]);
            if left.len().min(right.len()) < params.min_samples_leaf as usize {
                continue;
            }
            let ((a, n), (b, m)) = (count(&left), count(&right));
            if rules.rises(feature) && a * m > b * n {
                continue;
            }
            let now = impurity(&left, &right);
            if best.is_none_or(|(best, _)| now.0 * best.1 < best.0 * now.1) {
                best = Some((now, (feature, pair[0], pair[1])));
            }
        }
    }
    best.map(|(_, split)| split)
}

fn part(rows: &[Row], feature: usize, most: u32) -> (Vec<Row>, Vec<Row>) {
    rows.iter().cloned().partition(|row| row.values[feature] <= most)
}

/// Of the midpoints between neighbours of all values, the last up to the middle of the gap.
fn threshold(values: &[u32], below: u32, above: u32) -> u32 {
    let midpoints: Vec<u32> = values
        .windows(2)
        .filter(|pair| below <= pair[0] && pair[1] <= above)
        .map(|pair| (pair[0] + pair[1]) / 2)
        .collect();
    let middle = (midpoints[0] + midpoints[midpoints.len() - 1]) / 2;
    midpoints.into_iter().rfind(|&midpoint| midpoint <= middle).unwrap()
}

fn read<L>(tree: &Tree, at: usize, leaf: &impl Fn(u8) -> L) -> Cart<L> {
    match tree.nodes[at] {
        Node::Leaf { weight } => Cart::Leaf(leaf(weight)),
        Node::Split { feature, threshold, left, right } => Cart::Split {
            feature: usize::from(feature),
            threshold,
            sides: Box::new([left, right].map(|side| read(tree, side as usize, leaf))),
        },
    }
}

/// The leaf that a row reaches.
fn place_of(tree: &Tree, row: &[u32]) -> usize {
    let mut at = 0;
    while let Node::Split { feature, threshold, left, right } = tree.nodes[at] {
        at = if row[usize::from(feature)] <= threshold { left } else { right } as usize;
    }
    at
}

fn batch(rows: &[Row]) -> RunBatch {
    let features = rows[0].values.len();
    let column = |feature: usize| rows.iter().map(|row| row.values[feature]).collect();
    let batch = LabelledBatch {
        features: (0..features).map(column).collect(),
        drop: rows.iter().map(|row| row.drop).collect(),
        ..LabelledBatch::default()
    };
    RunBatch { run: 9, batch }
}

fn fitted(rows: &[Row], params: &ForestParams) -> crate::Fitted {
    let names = FeatureSet::all().names()[..rows[0].values.len()].to_vec();
    let task = FitTask {
        features: FeatureSet::try_from(names).unwrap(),
        params: params.clone().check().unwrap(),
        split: Split::None,
        vote: VoteRule::F1,
        switch: SwitchContext::default(),
        data: Vec::new(),
        threads: NonZeroUsize::MIN,
    };
    fit(&[batch(rows)][..], &task).unwrap()
}

fn rows(features: usize) -> impl Strategy<Value = Vec<Row>> {
    let values = prop::collection::vec(0_u32..40, features);
    let row = (values, any::<bool>()).prop_map(|(values, drop)| Row { values, drop, draws: 1 });
    prop::collection::vec(row, 2..60).prop_filter("both classes", |rows| {
        rows.iter().any(|row| row.drop) && rows.iter().any(|row| !row.drop)
    })
}

fn params() -> impl Strategy<Value = ForestParams> {
    let max_features = prop_oneof![
        Just(MaxFeatures::Sqrt),
        Just(MaxFeatures::All),
        Just(MaxFeatures::Count(2.try_into().unwrap())),
    ];
    let flags = (any::<bool>(), any::<bool>());
    (1_u8..=6, max_features, 1_u32..4, 2_u32..6, flags, any::<u64>()).prop_map(
        |(max_depth, max_features, leaf, split, (bootstrap, monotone), seed)| ForestParams {
            monotone: if monotone { Monotone::On } else { Monotone::Off },
            n_estimators: 5,
            max_depth,
            max_features,
            min_samples_leaf: leaf,
            min_samples_split: split,
            bootstrap,
            seed,
            ..ForestParams::default()
        },
    )
}

/// Draws the rows of a tree: a row is identified by its index among the rows of its class.
fn draw(rows: &mut [Row], tree: u64, seed: u64) {
    let quad = tree / LANES as u64;
    let bootstrap = Bootstrap { seed, quad, poisson: Some(Poisson::new(1.0)) };
    for drop in [false, true] {
        let kind = RowKind { run: 9, switch: 0, part: Part::Train, drop };
        for (number, row) in (0..).zip(rows.iter_mut().filter(|row| row.drop == drop)) {
            let mut draws = [0];
            bootstrap.draw(&kind, number, &mut draws);
            row.draws = u128::from(draws[0] >> (16 * (tree as usize % LANES)) & 0xffff);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn trees_are_those_of_an_exact_cart(
        rows in (1_usize..=4).prop_flat_map(rows),
        params in params(),
    ) {
        let fitted = fitted(&rows, &params);
        let (forest, shares) = (fitted.model.forest, fitted.leaf_shares.unwrap());
        prop_assert_eq!(forest.check(), Ok(()));
        prop_assert_eq!(forest.trees.len(), shares.0.len());
        let values = |feature: usize| {
            let values: BTreeSet<u32> = rows.iter().map(|row| row.values[feature]).collect();
            values.into_iter().collect()
        };
        let values: Vec<Vec<u32>> = (0..rows[0].values.len()).map(values).collect();
        for ((number, tree), grown) in (0..).zip(&forest.trees).zip(&shares.0) {
            let mut drawn = rows.clone();
            if params.bootstrap {
                draw(&mut drawn, number, params.seed);
            }
            drawn.retain(|row| row.draws > 0);
            let rules = Rules { params: params.clone(), tree: number, values: values.clone() };
            let cart = grow(&drawn, 0, 0, (0, 255), &rules);
            prop_assert_eq!(read(tree, 0, &|weight| weight), cart.weights());
            let share = |leaf: u8| grown.shares[usize::from(leaf)];
            prop_assert_eq!(read(&grown.tree, 0, &share), cart.shares());
        }
    }

    /// Weights are shares in 255ths, so the scores that decide are their sums but for the rounding.
    #[test]
    fn scores_are_the_leaf_shares_rounded(
        rows in rows(3),
        params in params(),
        heavy in prop_oneof![Just(ClassWeight::None), Just(ClassWeight::Balanced)],
    ) {
        let params = ForestParams { class_weight: heavy, monotone: Monotone::Off, ..params };
        let fitted = fitted(&rows, &params);
        let forest = fitted.model.forest;
        let means = fitted.leaf_shares.unwrap().means(&batch(&rows).batch.features);
        prop_assert_eq!(means.len(), rows.len());
        for (row, mean) in rows.iter().zip(means) {
            let apart = f64::from(forest.score(&row.values)) / 255.0 - mean * forest.trees.len() as f64;
            prop_assert!(apart.abs() <= forest.trees.len() as f64 * (0.5 / 255.0 + 1e-12), "{}", apart);
        }
    }

    /// Between two neighbouring thresholds of a feature nothing changes, so one value of each such range is tried, with
    /// all of the other features.
    #[test]
    fn the_score_of_a_monotone_forest_never_falls_when_a_feature_that_rises_is_higher(
        rows in rows(3),
        params in params(),
    ) {
        let params = ForestParams { monotone: Monotone::On, max_depth: params.max_depth.min(5), ..params };
        let forest = fitted(&rows, &params).model.forest;
        let values = |feature: usize| {
            let thresholds = forest.trees.iter().flat_map(|tree| &tree.nodes).filter_map(|node| match node {
                Node::Split { feature: of, threshold, .. } if usize::from(*of) == feature => Some(*threshold),
                _ => None,
            });
            let values: BTreeSet<u32> = thresholds.map(|threshold| threshold + 1).chain([0]).collect();
            Vec::from_iter(values)
        };
        let values: [Vec<u32>; 3] = [0, 1, 2].map(values);
        let [a, b, c] = &values;
        let all = a.iter().flat_map(|&a| b.iter().flat_map(move |&b| c.iter().map(move |&c| [a, b, c])));
        for row in all {
            for (feature, values) in values.iter().enumerate() {
                let next = values.iter().find(|&&value| value > row[feature]);
                let Some(&next) = next.filter(|_| FeatureSet::all().features()[feature].rises()) else { continue };
                let mut higher = row;
                higher[feature] = next;
                prop_assert!(forest.score(&higher) >= forest.score(&row), "{:?} {:?}", row, higher);
            }
        }
    }

    /// As often as a row was drawn, it is in one leaf of each tree.
    #[test]
    fn leaves_stand_on_all_rows_that_were_drawn(rows in rows(3), params in params()) {
        let model = fitted(&rows, &params).model;
        let leaves = model.leaf_rows.unwrap();
        prop_assert_eq!(leaves.len(), model.forest.trees.len());
        for ((number, tree), leaves) in (0..).zip(&model.forest.trees).zip(&leaves) {
            let mut drawn = rows.clone();
            if params.bootstrap {
                draw(&mut drawn, number, params.seed);
            }
            let mut expected = Vec::new();
            for (place, node) in tree.nodes.iter().enumerate() {
                if let Node::Leaf { .. } = node {
                    let own: Vec<Row> =
                        drawn.iter().filter(|row| place_of(tree, &row.values) == place).cloned().collect();
                    let (drops, all) = count(&own);
                    expected.push(LeafRows { rows: all as u64, drops: drops as u64 });
                }
            }
            prop_assert_eq!(leaves, &expected);
        }
    }

    #[test]
    fn bins_decide_as_values_do(rows in rows(3), max_bins in 2_u16..20, seed in 0_u64..100) {
        let params = ForestParams { max_bins, seed, ..ForestParams::default() };
        let fitted = fitted(&rows, &params);
        let mut scores = ScoreHistogram::new(4);
        for row in &rows {
            scores.add(fitted.model.forest.score(&row.values), row.drop);
        }
        prop_assert_eq!(scores, fitted.train_scores);
    }
}

/// Parameters without randomness.
fn exact(n_estimators: u16, max_depth: u8, max_features: MaxFeatures) -> ForestParams {
    let params = ForestParams { n_estimators, max_depth, max_features, ..ForestParams::default() };
    ForestParams { bootstrap: false, monotone: Monotone::Off, ..params }
}

fn rows_of(rows: &[(&[u32], bool)]) -> Vec<Row> {
    let row = |&(values, drop): &(&[u32], bool)| Row { values: values.to_vec(), drop, draws: 1 };
    rows.iter().map(row).collect()
}

#[test]
fn a_tree_worked_by_hand() {
    // Drops are the rows with a long queue (above 10) in a full buffer (above 100).
    let rows = rows_of(&[
        (&[5, 50], false),
        (&[5, 150], false),
        (&[20, 50], false),
        (&[20, 90], false),
        (&[20, 150], true),
        (&[15, 110], true),
    ]);
    let model = fitted(&rows, &exact(1, 2, MaxFeatures::All)).model;
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
    // Exclusive or: no first split lowers the impurity, but one is made anyway.
    let rows = rows_of(&[(&[0, 0], false), (&[0, 1], true), (&[1, 0], true), (&[1, 1], false)]);
    let model = fitted(&rows, &exact(1, 2, MaxFeatures::All)).model;
    assert_eq!(model.metrics.unwrap().train.accuracy, Some(1.0));
}

#[test]
fn the_search_goes_on_past_features_that_are_constant() {
    // One feature of four is informative; with one drawn per node it must still be found.
    let rows: Vec<Row> = (0..100_u32)
        .map(|at| Row { values: vec![7, 7, 7, at], drop: at >= 60, draws: 1 })
        .collect();
    let model = fitted(&rows, &exact(16, 1, "1".parse().unwrap())).model;
    let nodes = vec![
        Node::Split { feature: 3, threshold: 59, left: 1, right: 2 },
        Node::Leaf { weight: 0 },
        Node::Leaf { weight: 255 },
    ];
    assert_eq!(model.forest.trees, vec![Tree { nodes }; 16]);
}
