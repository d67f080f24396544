//! How weights are added up, and how many stages a program takes: by dependencies alone, and
//! estimated with what a stage of Tofino has.

use super::code_words::{CodeWords, GROUP_CONTAINERS, fit_containers};
use super::shape::{FeatureShape, Shape, TreeShape};

/// Ternary blocks of a stage of Tofino, of [`BLOCK_ENTRIES`] entries of [`BLOCK_BITS`] bits.
const BLOCKS: usize = 24;
const BLOCK_ENTRIES: usize = 512;
const BLOCK_BITS: usize = 44;

/// Bits of ternary keys that a stage selects: 12 groups of 44.
const KEY_BITS: usize = 12 * BLOCK_BITS;

/// Bits of a feature's value.
const VALUE_BITS: usize = 32;

/// Bits of action data that a stage's tables write together.
const ACTION_BITS: usize = 128 * 8;

/// The most sums that trees may add to. Additions link all of them and the score, so these share a group.
const MAX_SUMS: usize = GROUP_CONTAINERS - 1;

/// Trees add their weights to a few sums as they match, then the sums are added in pairs. Tree `t`
/// of those that have a table adds to sum `t % sums`; the first of each sum sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sums(pub(crate) usize);

/// Stages of each step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stages {
    /// The tables of features.
    pub(crate) codes: usize,
    /// The tables of trees, of each round.
    pub(crate) trees: usize,
    /// The additions of sums.
    pub(crate) additions: usize,
    /// The vote.
    pub(crate) vote: usize,
}

impl Sums {
    /// The fewest sums of those that take the fewest stages.
    pub(crate) fn new(trees: &[TreeShape]) -> Self {
        let stages = |sums: &usize| {
            let sums = Sums(*sums);
            sums.tree_stages(trees) + sums.levels()
        };
        Sums((1..=trees.len().clamp(1, MAX_SUMS)).min_by_key(stages).unwrap_or(1))
    }

    /// Levels of additions of pairs.
    pub(crate) fn levels(self) -> usize {
        self.0.next_power_of_two().trailing_zeros() as usize
    }

    fn tree_stages(self, trees: &[TreeShape]) -> usize {
        let round = |trees: &[TreeShape]| {
            let bits: usize = trees.iter().map(|tree| tree.key_bits).sum();
            let blocks: usize = trees.iter().map(|tree| blocks(tree.key_bits, tree.entries)).sum();
            bits.div_ceil(KEY_BITS).max(blocks.div_ceil(BLOCKS)).max(1)
        };
        trees.chunks(self.0).map(round).sum()
    }
}

impl Stages {
    /// Steps that depend on the one before, with as many tables in each as there may be.
    pub(crate) fn by_dependencies(shape: &Shape) -> Self {
        let sums = Sums::new(&shape.trees);
        Stages {
            codes: usize::from(!shape.features.is_empty()),
            trees: shape.trees.len().div_ceil(sums.0),
            additions: sums.levels(),
            vote: usize::from(!shape.trees.is_empty()),
        }
    }

    /// The same, if each step takes as many stages of Tofino as its keys, entries and action data
    /// need. Features share stages if their words are pinned to containers, else each has its own. An
    /// estimate: a compiler may need more for placement.
    pub(crate) fn of_tofino(shape: &Shape) -> Self {
        let sums = Sums::new(&shape.trees);
        let words: Vec<usize> =
            shape.features.iter().flat_map(|feature| CodeWords::new(feature).words).collect();
        if fit_containers(words.into_iter(), shape.features.len(), sums.0) {
            return Stages::least_of_tofino(shape);
        }
        let alone = |feature: &FeatureShape| code_stages(std::slice::from_ref(feature));
        let codes = shape.features.iter().map(alone).sum();
        Stages { codes, ..Stages::least_of_tofino(shape) }
    }

    /// The same, if features share stages as far as these have room.
    pub(crate) fn least_of_tofino(shape: &Shape) -> Self {
        Stages {
            codes: code_stages(&shape.features),
            trees: Sums::new(&shape.trees).tree_stages(&shape.trees),
            ..Stages::by_dependencies(shape)
        }
    }

    /// All steps.
    pub(crate) fn total(&self) -> usize {
        self.codes + self.trees + self.additions + self.vote
    }
}

/// Stages that these features fill with their keys, entries and action data.
fn code_stages(features: &[FeatureShape]) -> usize {
    let data = |feature: &FeatureShape| CodeWords::new(feature).words.iter().sum::<usize>();
    let data_bits: usize = features.iter().map(data).sum();
    let blocks: usize = features.iter().map(|feature| blocks(VALUE_BITS, feature.entries)).sum();
    let groups = features.len().div_ceil(KEY_BITS / BLOCK_BITS);
    groups.max(blocks.div_ceil(BLOCKS)).max(data_bits.div_ceil(ACTION_BITS))
}

/// TCAM blocks of a table.
fn blocks(key_bits: usize, entries: usize) -> usize {
    key_bits.div_ceil(BLOCK_BITS) * entries.div_ceil(BLOCK_ENTRIES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trees(count: usize, key_bits: usize, entries: usize) -> Vec<TreeShape> {
        (0..count).map(|number| TreeShape { number, entries, key_bits }).collect()
    }

    /// What p4c-barefoot placed of forests of these trees and depths, with pinned words.
    #[test]
    fn features_share_a_stage_where_their_words_are_pinned() {
        let shape = |count: usize, bits: usize, entries: usize| {
            let code = |tree| (tree, bits);
            let feature = |column| FeatureShape {
                column,
                entries: 30,
                codes: (0..count).map(code).collect(),
            };
            Shape {
                features: (0..4).map(feature).collect(),
                trees: trees(count, 4 * bits, entries),
                score_bits: 16,
                vote_entries: 10,
            }
        };
        for (count, bits, entries, placed) in
            [(2, 4, 15, 4), (4, 4, 15, 5), (8, 4, 15, 6), (8, 7, 60, 6), (4, 12, 200, 5)]
        {
            assert_eq!(Stages::of_tofino(&shape(count, bits, entries)).total(), placed, "{count}");
        }
        // 64 words of 32 bits are more than ingress has: a layout of 8 trees of depth 6.
        let large = shape(8, 64, 60);
        // Each feature then has a stage, where their action data alone would fill two.
        let codes = [Stages::of_tofino(&large).codes, Stages::least_of_tofino(&large).codes];
        assert_eq!(codes, [4, 2]);
    }

    #[test]
    fn trees_add_to_as_few_sums_as_take_no_more_stages() {
        for (count, key_bits, entries, sums, stages) in [
            (1, 15, 15, 1, 1),
            (2, 15, 15, 1, 2),
            (4, 15, 15, 2, 3),
            (16, 50, 60, 8, 5),
            (30, 15, 15, 15, 6),
            // With 16 sums two rounds would do, but 16 sums and the score are no group of 16.
            (31, 15, 15, 8, 7),
            (64, 15, 15, 13, 9),
            // Six trees fill the keys of a stage.
            (16, 88, 60, 4, 6),
            // One does.
            (4, 528, 60, 1, 4),
        ] {
            let trees = trees(count, key_bits, entries);
            let chosen = Sums::new(&trees);
            let taken = chosen.tree_stages(&trees) + chosen.levels();
            assert_eq!((chosen, taken), (Sums(sums), stages), "{count} {key_bits}");
        }
    }
}
