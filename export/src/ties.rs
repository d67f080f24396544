//! Rows with a given score, mainly vote ties, where `>` and `>=` differ.

use crate::facts::thresholds_by_feature;
use crate::region::{Region, regions};
use dropcast_data::random::SplitMix64;
use dropcast_forest::{Forest, Node};

/// The rows whose score equals the vote threshold, as far as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// This many of the rows are ties.
    Found(usize),
    /// No row is a tie: the search was exhaustive.
    Impossible,
    /// None was found before the search gave up.
    NotFound,
}

/// The outcome of a search.
pub(crate) enum Search {
    /// Such rows.
    Rows(Vec<Vec<u32>>),
    /// There are none.
    Impossible,
    /// Unknown.
    GaveUp,
}

/// Enough rows: one is needed, the others are extra.
const ENOUGH: usize = 8;

/// How many combinations of leaves are tried.
const COMBINATIONS: usize = 100_000;

/// Searches for rows that score exactly `target`: through the combinations of leaves while that is
/// cheap, then by hill climbing from random rows.
pub(crate) fn rows_scoring(forest: &Forest, target: u32, random: &mut SplitMix64) -> Search {
    match by_leaves(forest, target, random) {
        Search::GaveUp => uphill(forest, target, random),
        search => search,
    }
}

/// A leaf that some row reaches.
struct Reach {
    region: Region,
    weight: u32,
}

/// One tree's choice of leaf.
struct Choice {
    /// The rows that reach the leaves chosen in the trees before.
    region: Region,
    /// The total weight of those leaves.
    score: u32,
    /// The next leaf to try.
    next: usize,
}

/// Depth-first through the trees' leaves, pruning what cannot reach the target.
fn by_leaves(forest: &Forest, target: u32, random: &mut SplitMix64) -> Search {
    let trees = leaves(forest);
    let least = suffix_sums(&trees, |leaves| leaves.iter().map(|leaf| leaf.weight).min());
    let most = suffix_sums(&trees, |leaves| leaves.iter().map(|leaf| leaf.weight).max());
    let within = |tree: usize, score: u32| {
        score + least[tree] <= target && target <= score.saturating_add(most[tree])
    };
    let mut rows = Vec::new();
    let mut stack = Vec::new();
    if within(0, 0) {
        stack.push(Choice { region: Region::all(forest.features.len()), score: 0, next: 0 });
    }
    let mut budget = COMBINATIONS;
    while let Some(depth) = stack.len().checked_sub(1) {
        let choice = &mut stack[depth];
        let Some(leaf) = trees[depth].get(choice.next) else {
            stack.pop();
            continue;
        };
        choice.next += 1;
        if budget == 0 {
            return if rows.is_empty() { Search::GaveUp } else { Search::Rows(rows) };
        }
        budget -= 1;
        let score = choice.score + leaf.weight;
        if !within(depth + 1, score) {
            continue;
        }
        let Some(region) = choice.region.and(&leaf.region) else { continue };
        if depth + 1 < trees.len() {
            stack.push(Choice { region, score, next: 0 });
            continue;
        }
        rows.push(region.draw(random));
        if rows.len() == ENOUGH {
            break;
        }
    }
    if rows.is_empty() { Search::Impossible } else { Search::Rows(rows) }
}

fn leaves(forest: &Forest) -> Vec<Vec<Reach>> {
    let of_tree = |tree: &dropcast_forest::Tree| {
        let reached = regions(tree, forest.features.len());
        let leaf = |(node, region): (&Node, Option<Region>)| match (node, region) {
            (Node::Leaf { weight }, Some(region)) => {
                Some(Reach { region, weight: u32::from(*weight) })
            }
            _ => None,
        };
        tree.nodes.iter().zip(reached).filter_map(leaf).collect()
    };
    forest.trees.iter().map(of_tree).collect()
}

/// For each tree, the sum over it and the trees after it; 0 after the last.
fn suffix_sums(trees: &[Vec<Reach>], of: impl Fn(&[Reach]) -> Option<u32>) -> Vec<u32> {
    let mut sums = vec![0; trees.len() + 1];
    for (tree, leaves) in trees.iter().enumerate().rev() {
        sums[tree] = sums[tree + 1] + of(leaves).unwrap_or(0);
    }
    sums
}

/// From random rows, changes one value at a time to one beside a threshold, if the score moves no
/// further from the target.
fn uphill(forest: &Forest, target: u32, random: &mut SplitMix64) -> Search {
    const STARTS: usize = 32;
    const STEPS: usize = 1000;
    let critical = critical_values(forest);
    let mut rows = Vec::new();
    for _ in 0..STARTS {
        let mut row: Vec<u32> =
            critical.iter().map(|values| random.pick(values).unwrap_or(0)).collect();
        let mut distance = forest.score(&row).abs_diff(target);
        for _ in 0..STEPS {
            if distance == 0 {
                rows.push(row);
                break;
            }
            let feature = random.between(0, row.len() as u32 - 1) as usize;
            let before = row[feature];
            row[feature] = random.pick(&critical[feature]).unwrap_or(0);
            match forest.score(&row).abs_diff(target) {
                closer if closer <= distance => distance = closer,
                _ => row[feature] = before,
            }
        }
        if rows.len() == ENOUGH {
            break;
        }
    }
    if rows.is_empty() { Search::GaveUp } else { Search::Rows(rows) }
}

/// For each feature, the values on both sides of its thresholds.
pub(crate) fn critical_values(forest: &Forest) -> Vec<Vec<u32>> {
    let around = |threshold: u32| [Some(threshold), threshold.checked_add(1)];
    thresholds_by_feature(forest)
        .into_iter()
        .map(|set| {
            let mut values: Vec<u32> = set.into_iter().flat_map(around).flatten().collect();
            values.dedup();
            values
        })
        .collect()
}
