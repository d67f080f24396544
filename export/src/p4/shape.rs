//! What a program's text depends on: the widths and sizes of its tables, of one forest or of a
//! fixed layout.

use super::vote::vote_patterns;
use crate::fixed_layout::FixedLayout;
use crate::tables::{CodeKey, FeatureTable, Tables};

/// The tables of a program.
pub(crate) struct Shape {
    /// The features that have a table.
    pub(crate) features: Vec<FeatureShape>,
    /// The trees that have a table.
    pub(crate) trees: Vec<TreeShape>,
    /// Bits of the score.
    pub(crate) score_bits: usize,
    /// Entries of the vote.
    pub(crate) vote_entries: usize,
}

/// The table of a feature.
pub(crate) struct FeatureShape {
    /// Which value of a row, from 0.
    pub(crate) column: usize,
    /// The most entries, without the default.
    pub(crate) entries: usize,
    /// The codes that it writes: for which of [`Shape::trees`], and its bits.
    pub(crate) codes: Vec<(usize, usize)>,
}

/// The table of a tree.
pub(crate) struct TreeShape {
    /// Its number in names.
    pub(crate) number: usize,
    /// The most entries, without the default.
    pub(crate) entries: usize,
    /// Bits of the codes that it matches.
    pub(crate) key_bits: usize,
}

impl Shape {
    /// The tables of this forest alone.
    pub(crate) fn of_forest(tables: &Tables) -> Self {
        let numbers = tables.trees_with_tables();
        let code = |column: usize, tree: usize| {
            let at = numbers.binary_search(&tree).expect("a tree that needs a feature has a table");
            (at, tables.key(tree, column).map_or(0, CodeKey::width))
        };
        let feature = |of: &FeatureTable| FeatureShape {
            column: of.column,
            entries: of.prefixes.len() - 1,
            codes: of.trees.iter().map(|&tree| code(of.column, tree)).collect(),
        };
        let tree = |&number: &usize| TreeShape {
            number,
            entries: tables.trees[number].leaves.len() - 1,
            key_bits: tables.trees[number].keys.iter().map(CodeKey::width).sum(),
        };
        let score_bits = score_bits(tables.max_score());
        Shape {
            features: tables.features.iter().map(feature).collect(),
            trees: numbers.iter().map(tree).collect(),
            score_bits,
            vote_entries: vote_patterns(tables.vote_threshold, tables.max_score(), score_bits)
                .len(),
        }
    }

    /// The entries of all tables, without the defaults.
    pub(crate) fn entries(&self) -> usize {
        let features: usize = self.features.iter().map(|feature| feature.entries).sum();
        features + self.trees.iter().map(|tree| tree.entries).sum::<usize>() + self.vote_entries
    }

    /// The tables of any forest on `columns` features that fits the layout.
    pub(crate) fn of_layout(layout: FixedLayout, columns: usize) -> Self {
        let trees = layout.trees();
        let score_bits = score_bits(layout.max_score());
        Shape {
            features: (0..columns)
                .map(|column| FeatureShape {
                    column,
                    entries: layout.prefixes() - 1,
                    codes: (0..trees).map(|tree| (tree, layout.bits())).collect(),
                })
                .collect(),
            trees: (0..trees)
                .map(|number| TreeShape {
                    number,
                    entries: layout.leaves() - 1,
                    key_bits: columns * layout.bits(),
                })
                .collect(),
            score_bits,
            vote_entries: score_bits,
        }
    }
}

fn score_bits(max_score: u32) -> usize {
    if max_score > u32::from(u16::MAX) { 32 } else { 16 }
}
