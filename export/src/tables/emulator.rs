//! An emulated match-action pipeline: what a device does with the entries.

use super::{Code, FeatureTable, Tables, Ternary, TreeTable};
use std::collections::BTreeMap;

/// An entry of a ternary table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchEntry {
    /// A pattern for each field of the key; all must match.
    pub patterns: Vec<Ternary>,
    /// The matching entry with the highest priority wins.
    pub priority: u32,
    /// The data of its action.
    pub data: Vec<Code>,
}

/// Why a lookup has no defined answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No entry matches.
    #[error("no entry matches")]
    Miss,
    /// Entries of the highest priority overlap and differ: devices may take either.
    #[error("entries of priority {0} overlap and differ")]
    Ambiguous(u32),
}

/// A ternary table.
#[derive(Clone, Debug, Default)]
pub struct MatchTable {
    /// Entries by mask, then by value: the concatenated words of all fields.
    by_mask: BTreeMap<Vec<u64>, BTreeMap<Vec<u64>, Vec<usize>>>,
    /// Priority and data of each.
    entries: Vec<(u32, Vec<Code>)>,
}

impl MatchTable {
    /// A table of these entries, in any order.
    pub fn new(entries: impl IntoIterator<Item = MatchEntry>) -> Self {
        let mut table = MatchTable::default();
        for entry in entries {
            let mask = words(entry.patterns.iter().map(|pattern| &pattern.mask));
            let value = words(entry.patterns.iter().map(|pattern| &pattern.value));
            let same = table.by_mask.entry(mask).or_default().entry(value).or_default();
            same.push(table.entries.len());
            table.entries.push((entry.priority, entry.data));
        }
        table
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The data of the matching entry with the highest priority. The key's fields are as wide as
    /// those of the entries.
    ///
    /// # Errors
    /// If none matches, or if the device could choose between several.
    pub fn lookup<'a>(
        &self,
        key: impl IntoIterator<Item = &'a Code>,
    ) -> Result<&[Code], LookupError> {
        let key = words(key);
        let mut matching: Vec<&(u32, Vec<Code>)> = Vec::new();
        for (mask, entries) in &self.by_mask {
            let masked: Vec<u64> = key.iter().zip(mask).map(|(key, mask)| key & mask).collect();
            let found = entries.get(&masked).into_iter().flatten();
            matching.extend(found.map(|&at| &self.entries[at]));
        }
        let highest = matching.iter().max_by_key(|(priority, _)| *priority);
        let &(priority, data) = highest.ok_or(LookupError::Miss)?;
        match matching.iter().any(|(other, differs)| other == priority && differs != data) {
            true => Err(LookupError::Ambiguous(*priority)),
            false => Ok(data),
        }
    }
}

fn words<'a>(fields: impl IntoIterator<Item = &'a Code>) -> Vec<u64> {
    fields.into_iter().flat_map(Code::words).copied().collect()
}

/// Looks up the value of a feature and writes codes to metadata.
#[derive(Clone, Debug)]
pub struct EmulatedFeature {
    /// Which value of a row, from 0.
    pub column: usize,
    /// The metadata fields that the codes of an entry's data go to, one for each code.
    pub writes: Vec<usize>,
    /// The key is the value, as 32 bits.
    pub table: MatchTable,
}

/// Looks up codes and gives a weight.
#[derive(Clone, Debug)]
pub struct EmulatedTree {
    /// The metadata fields that make up the key.
    pub reads: Vec<usize>,
    /// An entry's data is one code, the weight.
    pub table: MatchTable,
}

/// A pipeline of tables as a device runs it.
#[derive(Clone, Debug)]
pub struct Emulator {
    /// The first stage.
    pub features: Vec<EmulatedFeature>,
    /// The second stage.
    pub trees: Vec<EmulatedTree>,
    /// Where the sum of weights starts.
    pub constant_score: u32,
    /// A drop is predicted if and only if the sum is larger.
    pub vote_threshold: u32,
}

impl Emulator {
    /// A pipeline with the entries of `tables`.
    pub fn new(tables: &Tables) -> Self {
        let fields: Vec<(usize, usize)> = (0..)
            .zip(&tables.trees)
            .flat_map(|(at, tree)| tree.keys.iter().map(move |key| (at, key.column)))
            .collect();
        // Both are sorted by tree, then by column.
        let field = |tree, column| fields.partition_point(|&field| field < (tree, column));
        let feature = |feature: &FeatureTable| EmulatedFeature {
            column: feature.column,
            writes: feature.trees.iter().map(|&tree| field(tree, feature.column)).collect(),
            table: MatchTable::new(feature_entries(tables, feature)),
        };
        let tree = |(at, tree): (usize, &TreeTable)| EmulatedTree {
            reads: tree.keys.iter().map(|key| field(at, key.column)).collect(),
            table: MatchTable::new(tree_entries(tree)),
        };
        let trees = tables.trees.iter().enumerate();
        Emulator {
            features: tables.features.iter().map(feature).collect(),
            trees: trees.filter(|(_, tree)| tree.constant().is_none()).map(tree).collect(),
            constant_score: tables.constant_score(),
            vote_threshold: tables.vote_threshold,
        }
    }

    /// The sum of weights of a row.
    ///
    /// # Errors
    /// If a lookup has no defined answer; tables from [`Tables::new`] always have one.
    pub fn score(&self, row: &[u32]) -> Result<u32, LookupError> {
        let mut metadata: Vec<Option<&Code>> = Vec::new();
        for feature in &self.features {
            let codes = feature.table.lookup([&Code::of_value(row[feature.column])])?;
            for (&field, code) in feature.writes.iter().zip(codes) {
                metadata.resize(metadata.len().max(field + 1), None);
                metadata[field] = Some(code);
            }
        }
        let mut score = self.constant_score;
        for tree in &self.trees {
            let key = tree.reads.iter().map(|&field| metadata.get(field).copied().flatten());
            let key: Option<Vec<&Code>> = key.collect();
            let weight = tree.table.lookup(key.ok_or(LookupError::Miss)?)?;
            score += weight.iter().flat_map(Code::words).map(|&word| word as u32).sum::<u32>();
        }
        Ok(score)
    }

    /// Whether a drop is predicted for a row.
    ///
    /// # Errors
    /// As [`Emulator::score`].
    pub fn predicts_drop(&self, row: &[u32]) -> Result<bool, LookupError> {
        Ok(self.score(row)? > self.vote_threshold)
    }
}

fn feature_entries<'a>(
    tables: &'a Tables,
    feature: &'a FeatureTable,
) -> impl Iterator<Item = MatchEntry> + 'a {
    feature.prefixes.iter().map(|prefix| MatchEntry {
        patterns: vec![Ternary::of_prefix(prefix.value, prefix.length)],
        priority: u32::from(prefix.length),
        data: tables.codes(feature, prefix.range),
    })
}

fn tree_entries(tree: &TreeTable) -> impl Iterator<Item = MatchEntry> + '_ {
    tree.leaves.iter().map(|leaf| MatchEntry {
        patterns: tree.patterns(leaf),
        // No two leaves match the same row.
        priority: 0,
        data: vec![Code::of_value(u32::from(leaf.weight))],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(value: u32, length: u8, priority: u32, data: u32) -> MatchEntry {
        let patterns = vec![Ternary::of_prefix(value, length)];
        MatchEntry { patterns, priority, data: vec![Code::of_value(data)] }
    }

    #[test]
    fn the_highest_priority_wins_whatever_the_order() {
        let entries = [entry(0, 0, 1, 10), entry(8, 29, 5, 20), entry(8, 32, 3, 30)];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let table = MatchTable::new(order.map(|at| entries[at].clone()));
            let lookup = |value| table.lookup([&Code::of_value(value)]).map(<[Code]>::to_vec);
            assert_eq!(lookup(8), Ok(vec![Code::of_value(20)]));
            assert_eq!(lookup(16), Ok(vec![Code::of_value(10)]));
            assert_eq!(table.len(), 3);
        }
    }

    #[test]
    fn a_lookup_without_a_certain_answer_fails() {
        let table = MatchTable::new([entry(8, 29, 5, 20), entry(8, 32, 5, 30), entry(9, 32, 6, 1)]);
        let lookup = |value| table.lookup([&Code::of_value(value)]).map(<[Code]>::to_vec);
        assert_eq!(lookup(8), Err(LookupError::Ambiguous(5)));
        assert_eq!(lookup(9), Ok(vec![Code::of_value(1)]));
        assert_eq!(lookup(0), Err(LookupError::Miss));
        assert_eq!(MatchTable::default().lookup([]), Err(LookupError::Miss));
    }
}
