//! How weights are added up, and how many stages a program takes by dependencies alone.

use super::shape::{Shape, TreeShape};

/// Ternary blocks of a stage of Tofino, of [`BLOCK_ENTRIES`] entries of [`BLOCK_BITS`] bits.
const BLOCKS: usize = 24;
const BLOCK_ENTRIES: usize = 512;
const BLOCK_BITS: usize = 44;

/// Bits of ternary keys that a stage selects: 12 groups of 44.
const KEY_BITS: usize = 12 * BLOCK_BITS;

/// The most sums that trees may add to. Additions link all of them and the score, so these share a group of 16 containers of Tofino.
const MAX_SUMS: usize = 15;

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

    /// All steps.
    pub(crate) fn total(&self) -> usize {
        self.codes + self.trees + self.additions + self.vote
    }
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
