//! The same trees in our encoding and in published ones, counted from their papers and code.
//! docs/resources.md says how each is counted.

use super::totals::{TableTotals, VALUE_BITS};
use crate::region::Region;
use crate::tables::{CodeKey, FeatureTable, LeafEntry, Tables, TreeTable};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The resources of a forest in one encoding. For every encoding, features have 32 bits, trees are
/// pruned, and all values of a feature are mapped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encoding {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Where it is described.
    pub source: Cow<'static, str>,
    /// How trees are combined. Of `sum of weights`, `mean of leaves` and `majority of votes`, only
    /// the first predicts what our forests do.
    pub combines: Cow<'static, str>,
    /// Entries of tables that match ranges; null if ranges are cut into prefixes.
    pub range_entries: Option<u64>,
    /// Entries of ternary tables, with the ranges of `range_entries` cut into prefixes separately;
    /// null if there are too many to count.
    pub ternary_entries: Option<u64>,
    /// Entries of exact-match tables; null if beyond 64 bits.
    pub exact_entries: Option<u64>,
    /// Key bits of all ternary entries; null if there are too many to count.
    pub tcam_key_bits: Option<u64>,
    /// Bits of codes that a packet carries between the tables.
    pub metadata_bits: u64,
}

/// Ours, Flowrest's, Planter's and NetBeacon's.
pub(super) fn all(tables: &Tables, totals: &TableTotals) -> Vec<Encoding> {
    vec![ours(totals), flowrest(tables, totals), planter(tables), netbeacon(tables)]
}

fn ours(totals: &TableTotals) -> Encoding {
    Encoding {
        name: "dropcast".into(),
        source: "docs/resources.md".into(),
        combines: "sum of weights".into(),
        range_entries: None,
        ternary_entries: Some(totals.ternary_entries),
        exact_entries: Some(0),
        tcam_key_bits: Some(totals.tcam_key_bits as u64),
        metadata_bits: totals.metadata_bits as u64,
    }
}

/// Flowrest: range tables write one bit per split of each tree, a ternary table per tree has one
/// entry per leaf, and an exact table has every combination of the trees' votes.
fn flowrest(tables: &Tables, totals: &TableTotals) -> Encoding {
    let prefixes = totals.naive_ternary_entries - leaves(tables);
    let splits = |tree: &TreeTable| tree.leaves.len() as u64 - 1;
    let key_bits = lookups(tables).map(|tree| tree.leaves.len() as u64 * splits(tree));
    Encoding {
        name: "Flowrest".into(),
        source: "Akem et al., INFOCOM 2023; github.com/nds-group/Flowrest".into(),
        combines: "majority of votes".into(),
        range_entries: Some(totals.range_entries as u64),
        ternary_entries: Some(totals.naive_ternary_entries),
        exact_entries: 2_u64.checked_pow(lookups(tables).count() as u32),
        tcam_key_bits: Some(VALUE_BITS as u64 * prefixes + key_bits.sum::<u64>()),
        metadata_bits: lookups(tables).map(splits).sum(),
    }
}

/// Planter's encode-based mapping: ternary tables write a number per tree, an exact table per tree
/// has every combination of numbers whose leaf votes against the default, and another has the
/// combinations of votes that do.
fn planter(tables: &Tables) -> Encoding {
    let prefixes: u64 = tables.features.iter().map(planter_prefixes).sum();
    let width = |key: &CodeKey| u64::from(usize::BITS - key.width().leading_zeros());
    Encoding {
        name: "Planter (encode-based)".into(),
        source:
            "Zheng et al., CCR 2024; github.com/In-Network-Machine-Learning/Planter, RF Type_EB"
                .into(),
        combines: "majority of votes".into(),
        range_entries: None,
        ternary_entries: Some(prefixes),
        exact_entries: planter_exact(tables),
        tcam_key_bits: Some(VALUE_BITS as u64 * prefixes),
        metadata_bits: lookups(tables).flat_map(|tree| &tree.keys).map(width).sum(),
    }
}

/// Planter cuts ranges from the highest down, each into the first blocks that hold its last value
/// and not the last value of the range below; 0 has its own entry.
fn planter_prefixes(feature: &FeatureTable) -> u64 {
    let mut entries = 1;
    let mut last = u32::MAX;
    let below = feature.thresholds.iter().rev().copied().chain([0]);
    for below in below {
        while last != below {
            let block = 1 << (last ^ below).ilog2();
            entries += 1;
            last = last / block * block - 1;
        }
    }
    entries
}

fn planter_exact(tables: &Tables) -> Option<u64> {
    let mut combinations = [0_u64; 2];
    for tree in lookups(tables) {
        for leaf in &tree.leaves {
            let mut sizes = leaf.ranks.iter().map(|ranks| (ranks.end() - ranks.start() + 1) as u64);
            let count = sizes.try_fold(1_u64, u64::checked_mul)?;
            let of_vote = &mut combinations[usize::from(votes_drop(leaf))];
            *of_vote = of_vote.checked_add(count)?;
        }
    }
    combinations.into_iter().min()?.checked_add(majorities(lookups(tables).count() as u32)?)
}

fn votes_drop(leaf: &LeafEntry) -> bool {
    leaf.weight > 127
}

/// The number of combinations of the votes of `trees` trees with a majority for a drop.
fn majorities(trees: u32) -> Option<u64> {
    let all = 1_u128.checked_shl(trees).filter(|_| trees < 127)?;
    let tied = if trees.is_multiple_of(2) { binomial(trees, trees / 2)? } else { 0 };
    u64::try_from((all - tied) / 2).ok()
}

fn binomial(n: u32, k: u32) -> Option<u128> {
    (1..=u128::from(k))
        .try_fold(1_u128, |product, at| Some(product.checked_mul(u128::from(n - k) + at)? / at))
}

/// NetBeacon: ternary tables write one mark per feature, and one ternary table has every
/// combination of the trees' leaves that some row reaches. Its own cutting of ranges gives prefixes
/// with priorities; we count the minimum number, so it may need more.
fn netbeacon(tables: &Tables) -> Encoding {
    let prefixes: u64 = tables.features.iter().map(|feature| feature.prefixes.len() as u64).sum();
    let marks: u64 = tables.features.iter().map(|feature| feature.thresholds.len() as u64).sum();
    let joint = joint_leaves(tables);
    let key_bits = |joint: u64| VALUE_BITS as u64 * prefixes + marks * joint;
    Encoding {
        name: "NetBeacon".into(),
        source: "Zhou et al., USENIX Security 2023; github.com/IDP-code/NetBeacon".into(),
        combines: "mean of leaves".into(),
        range_entries: None,
        ternary_entries: joint.map(|joint| prefixes + joint),
        exact_entries: Some(0),
        tcam_key_bits: joint.map(key_bits),
        metadata_bits: marks,
    }
}

/// How many combinations of leaves are tried.
const COMBINATIONS: u64 = 1_000_000;

/// The number of reachable combinations of leaves, one per tree; `None` if counting takes too long.
fn joint_leaves(tables: &Tables) -> Option<u64> {
    let columns = tables.features.last().map_or(0, |feature| feature.column + 1);
    let trees: Vec<Vec<Region>> = lookups(tables).map(|tree| regions(tree, columns)).collect();
    if trees.is_empty() {
        return Some(0);
    }
    let mut budget = COMBINATIONS;
    let mut joint = 0;
    let mut open = vec![(0, Region::all(columns))];
    while let Some((tree, region)) = open.pop() {
        let Some(leaves) = trees.get(tree) else {
            joint += 1;
            continue;
        };
        budget = budget.checked_sub(leaves.len() as u64)?;
        open.extend(leaves.iter().filter_map(|leaf| Some((tree + 1, region.and(leaf)?))));
    }
    Some(joint)
}

/// The rows of each leaf.
fn regions(tree: &TreeTable, columns: usize) -> Vec<Region> {
    let region = |leaf: &LeafEntry| {
        let mut region = Region::all(columns);
        for (key, ranks) in tree.keys.iter().zip(&leaf.ranks) {
            if let Some(below) = ranks.start().checked_sub(1) {
                region.low[key.column] = key.thresholds[below] + 1;
            }
            if let Some(&high) = key.thresholds.get(*ranks.end()) {
                region.high[key.column] = high;
            }
        }
        region
    };
    tree.leaves.iter().map(region).collect()
}

/// The trees whose weight depends on the row.
fn lookups(tables: &Tables) -> impl Iterator<Item = &TreeTable> {
    tables.trees.iter().filter(|tree| tree.constant().is_none())
}

fn leaves(tables: &Tables) -> u64 {
    lookups(tables).map(|tree| tree.leaves.len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_forest::{Forest, Node, Tree};

    fn forest(trees: Vec<Vec<Node>>) -> Tables {
        let trees = trees.into_iter().map(|nodes| Tree { nodes }).collect();
        let features = vec!["x".to_owned(), "y".to_owned()];
        Tables::new(&Forest { features, vote_threshold: 0, trees }).expect("sound")
    }

    fn stump(feature: u16, threshold: u32) -> Vec<Node> {
        let split = Node::Split { feature, threshold, left: 1, right: 2 };
        vec![split, Node::Leaf { weight: 0 }, Node::Leaf { weight: 255 }]
    }

    #[test]
    fn majorities_are_counted() {
        let counted = |trees: u32| {
            (0..1_u32 << trees).filter(|votes| 2 * votes.count_ones() > trees).count() as u64
        };
        for trees in 0..12 {
            assert_eq!(majorities(trees), Some(counted(trees)));
        }
        assert_eq!(majorities(64).map(u64::leading_zeros), Some(1));
        assert_eq!(majorities(200), None);
    }

    #[test]
    fn planters_prefixes_cover_from_above() {
        // {0}, 1, 2..=3 and 4..=7, 8.., 16.., ... up to the 32nd bit.
        let tables = forest(vec![stump(0, 3)]);
        assert_eq!(planter_prefixes(&tables.features[0]), 1 + 2 + 30);
        let tables = forest(vec![stump(0, 0)]);
        assert_eq!(planter_prefixes(&tables.features[0]), 1 + 32);
    }

    #[test]
    fn leaves_that_no_row_reaches_together_are_not_joint() {
        assert_eq!(joint_leaves(&forest(vec![stump(0, 5), stump(1, 5)])), Some(4));
        assert_eq!(joint_leaves(&forest(vec![stump(0, 5), stump(0, 9)])), Some(3));
        assert_eq!(joint_leaves(&forest(vec![vec![Node::Leaf { weight: 1 }]])), Some(0));
    }

    #[test]
    fn exact_entries_are_combinations_of_ranges() {
        // Each stump: one of two numbers votes against the default; 1 of 4 combinations of votes is
        // a majority.
        assert_eq!(planter_exact(&forest(vec![stump(0, 5), stump(1, 5)])), Some(2 + 1));
    }
}
