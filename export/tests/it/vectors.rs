//! Vectors serve their purposes.

use crate::forests::{Shape, random_forest, shapes};
use dropcast_export::{ExportError, LeafPlace, RowKind, Ties, Vectors};
use dropcast_forest::{Forest, ForestError, Node, Tree};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Shapes with few distinguishable rows, so that all of them can be tried.
fn small_shapes() -> impl Strategy<Value = Shape> {
    (1_usize..=5, 0_usize..=3, 1_usize..=3, 0_u32..60).prop_map(
        |(trees, depth, features, stops)| Shape { trees, depth, features, largest: 4, stops },
    )
}

/// All rows that the splits can distinguish.
fn every_row(forest: &Forest) -> Vec<Vec<u32>> {
    let values = [0, 1, 2, 3, 4, 5, u32::MAX - 1, u32::MAX];
    let longer = |rows: Vec<Vec<u32>>| -> Vec<Vec<u32>> {
        rows.iter()
            .flat_map(|row| values.map(|value| [row.as_slice(), &[value]].concat()))
            .collect()
    };
    (0..forest.features.len()).fold(vec![vec![]], |rows, _| longer(rows))
}

fn reached<'a>(
    forest: &Forest,
    rows: impl IntoIterator<Item = &'a Vec<u32>>,
) -> BTreeSet<LeafPlace> {
    let mut leaves = BTreeSet::new();
    for row in rows {
        leaves.extend(
            forest
                .trees
                .iter()
                .enumerate()
                .map(|(tree, nodes)| LeafPlace { tree, node: leaf_of(nodes, row) }),
        );
    }
    leaves
}

fn leaf_of(tree: &Tree, row: &[u32]) -> usize {
    let mut at = 0;
    while let Node::Split { feature, threshold, left, right } = tree.nodes[at] {
        at = if row[usize::from(feature)] <= threshold { left } else { right } as usize;
    }
    at
}

fn leaf_count(forest: &Forest) -> usize {
    let nodes = forest.trees.iter().flat_map(|tree| &tree.nodes);
    nodes.filter(|node| matches!(node, Node::Leaf { .. })).count()
}

proptest! {
    #[test]
    fn every_leaf_is_reached_or_cannot_be(shape in small_shapes(), seed in any::<u64>()) {
        let forest = random_forest(shape, seed);
        let vectors = Vectors::new(&forest, 1, 0).expect("valid");
        let (found, possible) =
            (reached(&forest, vectors.rows()), reached(&forest, &every_row(&forest)));
        prop_assert_eq!(&found, &possible);
        prop_assert_eq!(found.len() + vectors.unreachable().len(), leaf_count(&forest));
        prop_assert!(vectors.unreachable().iter().all(|leaf| !possible.contains(leaf)));
    }

    #[test]
    fn ties_are_found_if_and_only_if_there_are_any(shape in small_shapes(), seed in any::<u64>()) {
        let mut forest = random_forest(shape, seed);
        // The score of a row, or a neighbouring one that few rows have.
        forest.vote_threshold = (forest.vote_threshold + (seed % 2) as u32).min(255 * shape.trees as u32);
        let vectors = Vectors::new(&forest, 1, 0).expect("valid");
        let tie = |row: &&Vec<u32>| forest.score(row) == forest.vote_threshold;
        let found = vectors.rows().iter().filter(tie).count();
        let possible = every_row(&forest).iter().any(|row| tie(&row));
        prop_assert_eq!(found > 0, possible);
        let said = if possible { Ties::Found(found) } else { Ties::Impossible };
        prop_assert_eq!(vectors.ties(), said);
        let above = |row: &Vec<u32>| Some(forest.score(row)) == forest.vote_threshold.checked_add(1);
        prop_assert_eq!(vectors.rows().iter().any(above), every_row(&forest).iter().any(above));
    }

    /// In trees whose leaves all have different weights, moving any threshold by one or changing
    /// any leaf changes the score of a vector.
    #[test]
    fn vectors_distinguish_forests_with_one_change(shape in shapes(1..=6), seed in any::<u64>()) {
        let mut forest = random_forest(Shape { depth: shape.depth.min(5), ..shape }, seed);
        forest.trees.iter_mut().for_each(weigh_differently);
        let vectors = Vectors::new(&forest, 1, 0).expect("valid");
        for (mutant, change) in mutants(&forest) {
            let differs = vectors.rows().iter().any(|row| mutant.score(row) != forest.score(row));
            prop_assert!(differs, "nothing noticed {}", change);
        }
    }
}

fn weigh_differently(tree: &mut Tree) {
    let mut next = 0;
    for node in &mut tree.nodes {
        if let Node::Leaf { weight } = node {
            *weight = next;
            next += 1;
        }
    }
}

/// The forest with each change that affects some row: a split with two reachable sides moved by
/// one, or another weight of a reachable leaf.
fn mutants(forest: &Forest) -> Vec<(Forest, String)> {
    let mut mutants = Vec::new();
    for (tree, nodes) in forest.trees.iter().enumerate() {
        let bounds = bounds(nodes, forest.features.len());
        for (at, node) in nodes.nodes.iter().enumerate() {
            let Some(bounds) = &bounds[at] else { continue };
            let mut add = |node: Node| {
                let mut mutant = forest.clone();
                let change = format!("tree {tree}, node {at}: {node:?}");
                mutant.trees[tree].nodes[at] = node;
                mutants.push((mutant, change));
            };
            match *node {
                Node::Leaf { weight } => add(Node::Leaf { weight: weight ^ 128 }),
                Node::Split { feature, threshold, left, right } => {
                    let (low, high) = bounds[usize::from(feature)];
                    let to = |threshold| Node::Split { feature, threshold, left, right };
                    if low <= threshold && threshold < high {
                        add(to(threshold + 1));
                    }
                    if low <= threshold && threshold < high && threshold > 0 {
                        add(to(threshold - 1));
                    }
                }
            }
        }
    }
    mutants
}

/// For each node, the smallest and largest value of each feature that reaches it.
fn bounds(tree: &Tree, features: usize) -> Vec<Option<Vec<(u32, u32)>>> {
    let mut bounds = vec![None; tree.nodes.len()];
    bounds[0] = Some(vec![(0, u32::MAX); features]);
    for (at, node) in tree.nodes.iter().enumerate() {
        let (Some(here), Node::Split { feature, threshold, left, right }) =
            (bounds[at].clone(), node)
        else {
            continue;
        };
        let (low, high) = here[usize::from(*feature)];
        let with = |low: u32, high: u32| {
            let mut there = here.clone();
            there[usize::from(*feature)] = (low, high);
            (low <= high).then_some(there)
        };
        bounds[*left as usize] = with(low, high.min(*threshold));
        bounds[*right as usize] =
            threshold.checked_add(1).and_then(|next| with(low.max(next), high));
    }
    bounds
}

#[test]
fn ties_are_found_in_large_forests() {
    for (trees, depth) in [(32, 8), (128, 4), (128, 8)] {
        let shape = Shape { trees, depth, features: 6, largest: 1_000_000, stops: 10 };
        let forest = random_forest(shape, 5);
        let vectors = Vectors::new(&forest, 1, 10).expect("valid");
        assert!(matches!(vectors.ties(), Ties::Found(_)), "{trees}x{depth}: {:?}", vectors.ties());
    }
}

#[test]
fn the_same_seed_gives_the_same_rows_and_another_others() {
    let shape = Shape { trees: 4, depth: 4, features: 4, largest: 1_000_000, stops: 10 };
    let forest = random_forest(shape, 5);
    let vectors = |seed| Vectors::new(&forest, seed, 50).expect("valid");
    assert_eq!(vectors(1), vectors(1));
    assert_ne!(vectors(1), vectors(2));
}

#[test]
fn csv_says_what_the_forest_says() {
    let forest = Forest {
        features: vec!["q".to_owned()],
        vote_threshold: 7,
        trees: vec![Tree {
            nodes: vec![
                Node::Split { feature: 0, threshold: 9, left: 1, right: 2 },
                Node::Leaf { weight: 7 },
                Node::Leaf { weight: 8 },
            ],
        }],
    };
    let csv = Vectors::new(&forest, 1, 0).expect("valid").to_csv(&forest);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[..2], ["q,score,drop", "0,7,0"]);
    assert!(lines.contains(&"9,7,0") && lines.contains(&"10,8,1"), "{csv}");
    assert_eq!(lines.last(), Some(&"4294967295,8,1"));
}

#[test]
fn a_forest_that_is_none_has_no_vectors() {
    let forest = Forest { features: vec!["q".to_owned()], vote_threshold: 0, trees: vec![] };
    assert_eq!(Vectors::new(&forest, 1, 10), Err(ExportError::Forest(ForestError::NoTrees)));
}

#[test]
fn rows_are_of_the_kinds_that_they_say() {
    let shape = Shape { trees: 4, depth: 4, features: 4, largest: 1_000_000, stops: 10 };
    let forest = random_forest(shape, 5);
    let vectors = Vectors::new(&forest, 1, 50).expect("valid");
    assert_eq!(vectors.kinds().len(), vectors.rows().len());
    for &kind in RowKind::ALL {
        assert!(vectors.kinds().contains(&kind), "{kind:?}");
    }
    for (row, kind) in vectors.rows().iter().zip(vectors.kinds()) {
        let score = forest.score(row);
        match kind {
            RowKind::Tie => assert_eq!(score, forest.vote_threshold),
            RowKind::AboveTie => assert_eq!(score, forest.vote_threshold + 1),
            RowKind::Extreme => assert!(row.iter().all(|&value| value == 0 || value == u32::MAX)),
            _ => {}
        }
    }
}
