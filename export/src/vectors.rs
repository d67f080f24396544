//! The rows on which a device must agree with the reference.

use crate::ExportError;
use crate::checked::check_forest;
use crate::region::{Region, regions};
use crate::ties::{Search, Ties, critical_values, rows_scoring};
use dropcast_data::random::SplitMix64;
use dropcast_forest::{Forest, Node, Tree};

/// Rows that distinguish a forest from forests that differ in one place.
///
/// For every split, both sides of its threshold by rows that reach it; for every leaf, rows that
/// reach it; values 0 and `u32::MAX`; vote ties and scores one above; random rows. Sorted and
/// distinct; the same forest and seed give the same rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vectors {
    rows: Vec<Vec<u32>>,
    kinds: Vec<RowKind>,
    unreachable: Vec<LeafPlace>,
    ties: Ties,
}

/// The purpose of a row. A row with several purposes is of the first kind that applies.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum RowKind {
    /// Values 0 and `u32::MAX`.
    Extreme,
    /// One side of a split's threshold: the threshold itself, or one above.
    Split,
    /// Reaches a leaf.
    Leaf,
    /// Its score is the vote threshold.
    Tie,
    /// Its score is one above the vote threshold.
    AboveTie,
    /// A random row.
    Random,
}

impl RowKind {
    /// Every kind, in order.
    pub const ALL: &'static [RowKind] = <RowKind as strum::VariantArray>::VARIANTS;
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
    /// Rows for `forest`, including `random_rows` random ones.
    ///
    /// # Errors
    /// If the forest is invalid.
    pub fn new(forest: &Forest, seed: u64, random_rows: usize) -> Result<Self, ExportError> {
        check_forest(forest)?;
        let mut random = SplitMix64::new(seed);
        let mut rows = Rows::default();
        rows.add(RowKind::Extreme, extremes(forest.features.len()));
        let mut unreachable = Vec::new();
        for (tree, nodes) in forest.trees.iter().enumerate() {
            let leaves = walk(nodes, forest.features.len(), &mut random, &mut rows);
            unreachable.extend(leaves.into_iter().map(|node| LeafPlace { tree, node }));
        }
        rows.add(RowKind::Random, random_rows_of(forest, random_rows, &mut random));
        let mut no_tie = Ties::NotFound;
        match rows_scoring(forest, forest.vote_threshold, &mut random) {
            Search::Rows(found) => rows.add(RowKind::Tie, found),
            Search::Impossible => no_tie = Ties::Impossible,
            Search::GaveUp => {}
        }
        if let Some(above) = forest.vote_threshold.checked_add(1)
            && let Search::Rows(found) = rows_scoring(forest, above, &mut random)
        {
            rows.add(RowKind::AboveTie, found);
        }
        let (rows, kinds) = rows.sorted();
        let tied = rows.iter().filter(|row| forest.score(row) == forest.vote_threshold).count();
        let ties = if tied == 0 { no_tie } else { Ties::Found(tied) };
        Ok(Vectors { rows, kinds, unreachable, ties })
    }

    /// The rows, each as long as the forest has features.
    pub fn rows(&self) -> &[Vec<u32>] {
        &self.rows
    }

    /// The kind of each row.
    pub fn kinds(&self) -> &[RowKind] {
        &self.kinds
    }

    /// Leaves that no row can reach, because splits above them contradict each other.
    pub fn unreachable(&self) -> &[LeafPlace] {
        &self.unreachable
    }

    /// Whether vote ties are among the rows.
    pub fn ties(&self) -> Ties {
        self.ties
    }

    /// The rows as CSV with `forest`'s predictions: the features' values, `score`, `drop` (0 or 1).
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

/// Rows being collected.
#[derive(Default)]
struct Rows(Vec<(Vec<u32>, RowKind)>);

impl Rows {
    fn add(&mut self, kind: RowKind, rows: impl IntoIterator<Item = Vec<u32>>) {
        self.0.extend(rows.into_iter().map(|row| (row, kind)));
    }

    /// Sorted; each row once, with the first of its kinds.
    fn sorted(mut self) -> (Vec<Vec<u32>>, Vec<RowKind>) {
        self.0.sort_unstable();
        self.0.dedup_by(|one, before| one.0 == before.0);
        self.0.into_iter().unzip()
    }
}

/// All values at one extreme, and each alone at the other.
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
fn walk(tree: &Tree, features: usize, random: &mut SplitMix64, rows: &mut Rows) -> Vec<usize> {
    let mut unreachable = Vec::new();
    for (at, (node, region)) in tree.nodes.iter().zip(regions(tree, features)).enumerate() {
        match (node, region) {
            (Node::Leaf { .. }, None) => unreachable.push(at),
            (Node::Leaf { .. }, Some(region)) => {
                rows.add(RowKind::Leaf, settings(&region, random));
            }
            (Node::Split { feature, threshold, .. }, region) => {
                let region = region.unwrap_or_else(|| Region::all(features));
                for value in [Some(*threshold), threshold.checked_add(1)].into_iter().flatten() {
                    let mut around = settings(&region, random);
                    around.iter_mut().for_each(|row| row[usize::from(*feature)] = value);
                    rows.add(RowKind::Split, around);
                }
            }
        }
    }
    unreachable
}

/// Three rows of a region: its two corners and a random one.
fn settings(region: &Region, random: &mut SplitMix64) -> [Vec<u32>; 3] {
    [region.low.clone(), region.high.clone(), region.draw(random)]
}

/// Random rows, in turn: any values, values up to twice the largest threshold, and values beside
/// thresholds.
fn random_rows_of(
    forest: &Forest,
    count: usize,
    random: &mut SplitMix64,
) -> impl Iterator<Item = Vec<u32>> {
    let critical = critical_values(forest);
    let usual: Vec<u32> =
        critical.iter().map(|values| values.last().unwrap_or(&0).saturating_mul(2)).collect();
    let value = move |row: usize, feature: usize, random: &mut SplitMix64| match row % 3 {
        0 => random.between(0, u32::MAX),
        1 => random.between(0, usual[feature]),
        _ => random.pick(&critical[feature]).unwrap_or(0),
    };
    let features = forest.features.len();
    (0..count).map(move |row| (0..features).map(|feature| value(row, feature, random)).collect())
}
