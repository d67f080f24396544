//! Budgets are kept, a larger one is never worse, and tiny forests are squeezed optimally.

use super::*;
use crate::splits::Part;
use dropcast_forest::{Forest, Node, ScoreHistogram, Tree};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Leaves of trees with more than one, plus distinct thresholds: roughly what tables take.
fn cost(forest: &Forest, resource: Resource) -> Option<u64> {
    let nodes = || forest.trees.iter().flat_map(|tree| &tree.nodes);
    let mut used = BTreeSet::new();
    for node in nodes() {
        if let Node::Split { feature, threshold, .. } = *node {
            used.insert((feature, threshold));
        }
    }
    let leaves = forest.trees.iter().map(|tree| tree.nodes.len() as u64 / 2 + 1);
    match resource {
        Resource::TernaryEntries => {
            Some(used.len() as u64 + leaves.filter(|&leaves| leaves > 1).sum::<u64>())
        }
        Resource::Thresholds => Some(used.len() as u64),
        Resource::DctBytes => None,
        _ => Some(nodes().count() as u64),
    }
}

/// The same cost, given as a sum of parts.
struct ByParts;

impl ForestCost for ByParts {
    fn cost(&self, forest: &Forest, resource: Resource) -> Option<u64> {
        cost(forest, resource)
    }

    fn tree_cost(&self, tree: TreeOutline, resource: Resource) -> Option<u64> {
        match resource {
            Resource::TernaryEntries => Some(if tree.leaves > 1 { tree.leaves } else { 0 }),
            Resource::Thresholds => Some(0),
            _ => None,
        }
    }

    fn thresholds_cost(&self, thresholds: &[u32], resource: Resource) -> Option<u64> {
        let is_sum = matches!(resource, Resource::TernaryEntries | Resource::Thresholds);
        is_sum.then_some(thresholds.len() as u64)
    }
}

/// A tree over two features: splits (feature, threshold) in a complete tree of depth 2, leaves.
fn tree() -> impl Strategy<Value = Tree> {
    let split = (0_u16..2, 0_u32..30);
    ([split.clone(), split.clone(), split], [any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>()])
        .prop_map(|(splits, weights)| {
            let split = |at: usize, left, right| Node::Split {
                feature: splits[at].0,
                threshold: splits[at].1,
                left,
                right,
            };
            let leaf = |at: usize| Node::Leaf { weight: weights[at] };
            let nodes = vec![
                split(0, 1, 4),
                split(1, 2, 3),
                leaf(0),
                leaf(1),
                split(2, 5, 6),
                leaf(2),
                leaf(3),
            ];
            Tree { nodes }
        })
}

fn forest(trees: Vec<Tree>) -> Forest {
    let features = vec!["a".to_owned(), "b".to_owned()];
    Forest { features, vote_threshold: 0, trees }
}

type Row = ([u32; 2], bool, bool);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec(([0_u32..32, 0_u32..32], any::<bool>(), any::<bool>()), 1..80)
}

fn states(forest: &Forest, rows: &[Row]) -> ForestStates {
    let mut states = ForestStates::new(&[forest]);
    for (row, drop, validates) in rows {
        let part = if *validates { Part::Validation } else { Part::Train };
        states.add(row, *drop, part);
    }
    states
}

fn scores(forest: &Forest, rows: &[Row], validates: bool) -> ScoreHistogram {
    let mut scores = ScoreHistogram::new(forest.trees.len());
    let of_part = rows.iter().filter(|row| row.2 == validates);
    of_part.for_each(|(row, drop, _)| scores.add(forest.score(row), *drop));
    scores
}

/// The value on validation rows, or on training rows without them.
fn value(forest: &Forest, rows: &[Row]) -> f64 {
    let validates = rows.iter().any(|row| row.2);
    BudgetObjective::F1.value(&scores(forest, rows, validates))
}

fn within(forest: &Forest, rows: &[Row], budget: &str) -> Option<Squeezed> {
    within_by(&cost, forest, rows, budget)
}

fn within_by(
    cost: &impl ForestCost,
    forest: &Forest,
    rows: &[Row],
    budget: &str,
) -> Option<Squeezed> {
    let (states, budget) = (states(forest, rows), budget.parse().unwrap());
    let squeezing = Squeezing {
        states: &states,
        class_weight: [1.0, 2.0],
        objective: BudgetObjective::F1,
        budget: &budget,
        threads: NonZeroUsize::MIN,
        progress: &|_, _| {},
    };
    squeeze(std::slice::from_ref(forest), &squeezing, cost)
}

/// Every way to turn inner nodes of a tree into leaves, each weighted by its training rows.
fn prunings(tree: &Tree, rows: &[Row], at: u32) -> Vec<Vec<Node>> {
    let node = tree.nodes[at as usize].clone();
    let Node::Split { feature, threshold, left, right } = node else { return vec![vec![node]] };
    let column = usize::from(feature);
    let (low, high): (Vec<Row>, Vec<Row>) =
        rows.iter().copied().partition(|row| row.0[column] <= threshold);
    let count = |drop: bool| rows.iter().filter(|row| !row.2 && row.1 == drop).count() as f64;
    let drops = 2.0 * count(true);
    let share = if drops == 0.0 { 0.0 } else { drops / (drops + count(false)) };
    let mut all = vec![vec![Node::Leaf { weight: (255.0 * share + 0.5).floor() as u8 }]];
    for below in prunings(tree, &low, left) {
        for above in prunings(tree, &high, right) {
            let right_at = 1 + below.len() as u32;
            let shift = |nodes: &[Node], by: u32| -> Vec<Node> {
                let shifted = |node: &Node| match *node {
                    Node::Leaf { weight } => Node::Leaf { weight },
                    Node::Split { feature, threshold, left, right } => {
                        Node::Split { feature, threshold, left: left + by, right: right + by }
                    }
                };
                nodes.iter().map(shifted).collect()
            };
            let mut nodes = vec![Node::Split { feature, threshold, left: 1, right: right_at }];
            nodes.extend(shift(&below, 1));
            nodes.extend(shift(&above, right_at));
            all.push(nodes);
        }
    }
    all
}

/// Whether rows from `low` to `high` can pass every split to either side, and no split has two
/// leaves of equal weight.
fn is_pruned(tree: &Tree, at: u32, low: [u32; 2], high: [u32; 2]) -> bool {
    let node = |at: u32| &tree.nodes[at as usize];
    let Node::Split { feature, threshold, left, right } = *node(at) else { return true };
    let column = usize::from(feature);
    let (mut above, mut below) = (low, high);
    above[column] = threshold.saturating_add(1);
    below[column] = threshold;
    let divides = (low[column]..high[column]).contains(&threshold);
    let differs = !matches!((node(left), node(right)),
        (Node::Leaf { weight: a }, Node::Leaf { weight: b }) if a == b);
    divides && differs && is_pruned(tree, left, low, below) && is_pruned(tree, right, above, high)
}

#[test]
fn budgets_are_read_as_they_are_written() {
    for text in ["ternary-entries=256", "dct-bytes=400,thresholds=20"] {
        assert_eq!(text.parse::<Budget>().unwrap().to_string(), text);
    }
    for text in ["", "entries=2", "bits", "bits=-1", "bits=1,bits=2", "bits=1,"] {
        let error: NotABudget = text.parse::<Budget>().unwrap_err();
        assert!(error.to_string().starts_with(&format!("{text:?} is not a budget")));
    }
}

#[test]
fn what_cannot_be_made_into_tables_fits_no_budget() {
    let leaf = forest(vec![Tree { nodes: vec![Node::Leaf { weight: 9 }] }]);
    assert!(within(&leaf, &[([0, 0], true, false)], "dct-bytes=9999").is_none());
    assert!(within(&leaf, &[([0, 0], true, false)], "bits=1").is_some());
    assert!(within(&leaf, &[([0, 0], true, false)], "bits=0").is_none());
}

#[test]
fn thresholds_are_shared_where_that_loses_nothing() {
    let stump = |threshold| {
        let split = Node::Split { feature: 0, threshold, left: 1, right: 2 };
        Tree { nodes: vec![split, Node::Leaf { weight: 0 }, Node::Leaf { weight: 200 }] }
    };
    let forest = forest(vec![stump(10), stump(12)]);
    let rows = [([3, 0], false, false), ([20, 0], true, false)];
    let squeezed = within(&forest, &rows, "thresholds=1").unwrap();
    assert_eq!(squeezed.value, 1.0);
    assert_eq!(cost(&squeezed.forest, Resource::Thresholds), Some(1));
}

#[test]
fn rows_that_are_left_out_take_no_room() {
    let leaf = forest(vec![Tree { nodes: vec![Node::Leaf { weight: 9 }] }]);
    let mut states = ForestStates::new(&[&leaf]);
    states.add(&[1, 2], true, Part::Gap);
    assert!(states.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn budgets_are_kept_and_larger_ones_are_no_worse(
        trees in prop::collection::vec(tree(), 1..4),
        rows in rows(),
    ) {
        let forest = forest(trees);
        let mut before = f64::NEG_INFINITY;
        for most in 0..24 {
            let squeezed = within(&forest, &rows, &format!("ternary-entries={most}")).unwrap();
            prop_assert!(cost(&squeezed.forest, Resource::TernaryEntries) <= Some(most));
            prop_assert!(squeezed.forest.check().is_ok());
            // Pruned splits cannot come back when the leaf weights are refitted.
            for tree in &squeezed.forest.trees {
                prop_assert!(is_pruned(tree, 0, [0; 2], [u32::MAX; 2]), "{:?}", tree);
            }
            prop_assert_eq!(&squeezed.train_scores, &scores(&squeezed.forest, &rows, false));
            prop_assert_eq!(&squeezed.validation_scores, &scores(&squeezed.forest, &rows, true));
            prop_assert_eq!(squeezed.value, value(&squeezed.forest, &rows));
            prop_assert!(squeezed.value >= before);
            before = squeezed.value;
        }
        prop_assert!(before >= value(&forest, &rows), "the whole forest fits");
    }

    #[test]
    fn costs_known_by_parts_lead_to_the_same_forest(
        trees in prop::collection::vec(tree(), 1..5),
        rows in rows(),
        most in 0_u64..24,
    ) {
        let forest = forest(trees);
        for resource in ["ternary-entries", "thresholds"] {
            let budget = format!("{resource}={most}");
            let by_parts = within_by(&ByParts, &forest, &rows, &budget).map(|of| of.forest);
            prop_assert_eq!(by_parts, within(&forest, &rows, &budget).map(|of| of.forest));
        }
    }

    #[test]
    fn tiny_forests_are_squeezed_as_well_as_by_trying_everything(
        trees in prop::collection::vec(tree(), 1..3),
        rows in rows(),
        most in 0_u64..16,
    ) {
        let forest = forest(trees);
        let of_tree: Vec<Vec<Vec<Node>>> =
            forest.trees.iter().map(|tree| prunings(tree, &rows, 0)).collect();
        let mut all: Vec<Vec<Tree>> = vec![Vec::new()];
        for prunings in &of_tree {
            let with = |trees: &Vec<Tree>, nodes: &Vec<Node>| {
                let mut trees = trees.clone();
                trees.push(Tree { nodes: nodes.clone() });
                trees
            };
            all = all.iter().flat_map(|trees| prunings.iter().map(|n| with(trees, n))).collect();
        }
        let all = all.into_iter().map(|trees| Forest { trees, ..forest.clone() });
        let fitting = all.filter(|forest| cost(forest, Resource::TernaryEntries) <= Some(most));
        let best = fitting.map(|forest| value(&forest, &rows)).fold(f64::NEG_INFINITY, f64::max);
        let squeezed = within(&forest, &rows, &format!("ternary-entries={most}")).unwrap();
        // Moved thresholds can beat every pruning.
        prop_assert!(squeezed.value >= best, "{} {}", squeezed.value, best);
    }
}
