//! The rows on which whatever runs a forest must agree with the reference.

use crate::ExportError;
use crate::checked::check_forest;
use crate::region::{Region, regions};
use crate::splitmix::SplitMix;
use crate::ties::{Search, Ties, critical_values, rows_scoring};
use dropcast_train::{Forest, Node, Tree};

/// Rows for a forest that tell it from forests that differ in one place.
///
/// For every split, both sides of its threshold by rows that reach it; for every leaf, rows that
/// reach it; values 0 and `u32::MAX`; vote ties and scores one above; random rows. Sorted, without
/// repeats; the same forest and seed give the same rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vectors {
    rows: Vec<Vec<u32>>,
    unreachable: Vec<LeafPlace>,
    ties: Ties,
}

/// Which leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeafPlace {
    /// Which tree, from 0.
    pub tree: usize,
    /// Which of its nodes, from 0.
    pub node: usize,
}

impl Vectors {
    /// Rows for `forest`, `random_rows` of them random.
    ///
    /// # Errors
    /// If the forest is not a valid one.
    pub fn new(forest: &Forest, seed: u64, random_rows: usize) -> Result<Self, ExportError> {
        check_forest(forest)?;
        let mut random = SplitMix::new(seed);
        let mut rows = extremes(forest.features.len());
        let mut unreachable = Vec::new();
        for (tree, nodes) in forest.trees.iter().enumerate() {
            let leaves = walk(nodes, forest.features.len(), &mut random, &mut rows);
            unreachable.extend(leaves.into_iter().map(|node| LeafPlace { tree, node }));
        }
        rows.extend(random_rows_of(forest, random_rows, &mut random));
        let ties = rows_scoring(forest, forest.vote_threshold, &mut random);
        let no_tie =
            if matches!(ties, Search::Impossible) { Ties::Impossible } else { Ties::NotFound };
        let one_above = forest
            .vote_threshold
            .checked_add(1)
            .map(|score| rows_scoring(forest, score, &mut random));
        for search in [Some(ties), one_above].into_iter().flatten() {
            if let Search::Rows(found) = search {
                rows.extend(found);
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let tied = rows.iter().filter(|row| forest.score(row) == forest.vote_threshold).count();
        let ties = if tied == 0 { no_tie } else { Ties::Found(tied) };
        Ok(Vectors { rows, unreachable, ties })
    }

    /// The rows, each as long as the forest has features.
    pub fn rows(&self) -> &[Vec<u32>] {
        &self.rows
    }

    /// Leaves that no row can reach, because splits above them contradict each other.
    pub fn unreachable(&self) -> &[LeafPlace] {
        &self.unreachable
    }

    /// Whether vote ties are among the rows.
    pub fn ties(&self) -> Ties {
        self.ties
    }

    /// The rows as CSV with what `forest` says of each: its features' values, `score`, `drop` (0
    /// or 1).
    pub fn to_csv(&self, forest: &Forest) -> String {
        let mut text = forest.features.join(",") + ",score,drop\n";
        for row in &self.rows {
            for value in row {
                text += &format!("{value},");
            }
            text += &format!("{},{}\n", forest.score(row), u8::from(forest.predicts_drop(row)));
        }
        text
    }
}

/// All values at an end, and each alone at the other.
fn extremes(features: usize) -> Vec<Vec<u32>> {
    let mut rows = Vec::new();
    for (most, one) in [(0, u32::MAX), (u32::MAX, 0)] {
        rows.push(vec![most; features]);
        for feature in 0..features {
            let mut row = vec![most; features];
            row[feature] = one;
            rows.push(row);
        }
    }
    rows
}

/// Adds rows for every split and leaf of a tree; returns the leaves that no row reaches.
fn walk(
    tree: &Tree,
    features: usize,
    random: &mut SplitMix,
    rows: &mut Vec<Vec<u32>>,
) -> Vec<usize> {
    let mut unreachable = Vec::new();
    for (at, (node, region)) in tree.nodes.iter().zip(regions(tree, features)).enumerate() {
        match (node, region) {
            (Node::Leaf { .. }, None) => unreachable.push(at),
            (Node::Leaf { .. }, Some(region)) => rows.extend(settings(&region, random)),
            (Node::Split { feature, threshold, .. }, region) => {
                let region = region.unwrap_or_else(|| Region::all(features));
                for value in [Some(*threshold), threshold.checked_add(1)].into_iter().flatten() {
                    let mut around = settings(&region, random);
                    around.iter_mut().for_each(|row| row[usize::from(*feature)] = value);
                    rows.extend(around);
                }
            }
        }
    }
    unreachable
}

/// Three rows of a region: its two corners and a random one.
fn settings(region: &Region, random: &mut SplitMix) -> [Vec<u32>; 3] {
    [region.low.clone(), region.high.clone(), region.draw(random)]
}

/// Random rows: by turns anything, up to twice the largest threshold, and beside thresholds.
fn random_rows_of(
    forest: &Forest,
    count: usize,
    random: &mut SplitMix,
) -> impl Iterator<Item = Vec<u32>> {
    let critical = critical_values(forest);
    let usual: Vec<u32> =
        critical.iter().map(|values| values.last().unwrap_or(&0).saturating_mul(2)).collect();
    let value = move |row: usize, feature: usize, random: &mut SplitMix| match row % 3 {
        0 => random.between(0, u32::MAX),
        1 => random.between(0, usual[feature]),
        _ => random.pick(&critical[feature]).unwrap_or(0),
    };
    let features = forest.features.len();
    (0..count).map(move |row| (0..features).map(|feature| value(row, feature, random)).collect())
}
