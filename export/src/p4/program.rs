//! A model as the tables of a P4 program.

use super::code_words::{CodeBits, CodeWords};
use super::names::{field, type_name};
use super::p4_table::{Call, Entry, Key, P4Action, P4Table};
use super::shape::{FeatureShape, Shape, TreeShape};
use super::stages::Sums;
use super::vote::vote_patterns;
use crate::ExportError;
use crate::about::{about, about_layout};
use crate::checked::Checked;
use crate::fixed_layout::FixedLayout;
use crate::tables::{Code, FeatureTable, LeafEntry, PrefixEntry, Tables, Ternary, TreeTable};
use std::cmp::Reverse;

/// A model about to be written as P4.
pub(crate) struct P4<'a> {
    pub(crate) model: &'a Checked<'a>,
    /// The layout, if it is not that of the model alone.
    pub(crate) layout: Option<FixedLayout>,
    pub(crate) shape: Shape,
    /// Bits of the words of codes of each of the shape's features.
    pub(crate) words: Vec<Vec<usize>>,
    pub(crate) sums: Sums,
    /// Those of features, of trees, of the vote.
    pub(crate) tables: Vec<P4Table>,
    /// The score, if it is the same for every row.
    pub(crate) constant: Option<u32>,
}

/// What programs of a fixed layout are named after, whatever the model.
const FIXED_NAME: &str = "dropcast";

/// Far more than any target has: 128 trees of depth 8 on 8 features.
const MAX_CODE_BITS: usize = 1 << 18;

/// P4Runtime identifiers have 24 bits; half of the bits number a model's tables.
const MAX_TABLES: usize = (1 << 12) - 2;

impl<'a> P4<'a> {
    /// The tables of a model, or of its fixed layout.
    ///
    /// # Errors
    /// If P4 cannot express them, or the layout has no room for them.
    pub(crate) fn new(model: &'a Checked<'a>) -> Result<Self, ExportError> {
        let tables = Tables::new(model.forest)?;
        check_fields(model)?;
        let layout = model.layout;
        let shape = match layout {
            None => Shape::of_forest(&tables),
            Some(layout) => {
                tables.check_fit(layout)?;
                let columns = model.origin.columns.len();
                let bits = layout.trees() * layout.bits() * columns;
                if bits > MAX_CODE_BITS {
                    let problem = format!(
                        "it takes {bits} bits of codes for {columns} features, at most \
                         {MAX_CODE_BITS}: fewer trees, or fewer bits"
                    );
                    return Err(ExportError::Unsupported { target: "a fixed layout", problem });
                }
                Shape::of_layout(layout, columns)
            }
        };
        let count = shape.features.len() + shape.trees.len();
        if count > MAX_TABLES {
            let problem = format!(
                "it takes {count} tables; P4Runtime identifiers leave room for {MAX_TABLES}"
            );
            return Err(ExportError::Unsupported { target: "P4", problem });
        }
        let codes: Vec<CodeWords> = shape.features.iter().map(CodeWords::new).collect();
        let sums = Sums::new(&shape.trees);
        let program = Builder { model, tables: &tables, shape: &shape, codes: &codes, sums };
        Ok(P4 {
            tables: program.tables(),
            constant: shape.trees.is_empty().then(|| tables.constant_score()),
            words: codes.into_iter().map(|codes| codes.words).collect(),
            model,
            layout,
            sums,
            shape,
        })
    }

    /// The base of the names of the program's files and identifiers.
    pub(crate) fn prefix(&self) -> &str {
        if self.layout.is_some() { FIXED_NAME } else { &self.model.prefix }
    }

    /// Prefix of types: `Example`.
    pub(crate) fn type_name(&self) -> String {
        type_name(self.prefix())
    }

    /// Prefix of constants and macros: `EXAMPLE`.
    pub(crate) fn macro_name(&self) -> String {
        self.prefix().to_ascii_uppercase()
    }

    /// The field that holds the value of a feature.
    pub(crate) fn field(&self, column: usize) -> String {
        field(&self.model.origin.columns[column].name)
    }

    /// The comment at the top of a program.
    pub(crate) fn about_program(&self, what: &str) -> Vec<String> {
        match self.layout {
            None => about(self.model, what),
            Some(layout) => about_layout(self.model, what, &layout.to_string()),
        }
    }

    /// What a program must be compiled with for entries at run time.
    pub(crate) fn compiled_for_entries(&self) -> String {
        match self.layout {
            None => format!(", compiled with -D {}_RUNTIME_ENTRIES", self.macro_name()),
            Some(layout) => format!(" of the layout {layout}"),
        }
    }
}

/// Features with different names elsewhere may have one name where a word of P4 is avoided.
fn check_fields(model: &Checked<'_>) -> Result<(), ExportError> {
    let names: Vec<&String> = model.origin.columns.iter().map(|column| &column.name).collect();
    for (at, name) in names.iter().enumerate() {
        if let Some(other) = names[..at].iter().find(|other| field(other) == field(name)) {
            return Err(ExportError::SameName((*other).clone(), (*name).clone()));
        }
    }
    Ok(())
}

/// What tables are made from.
struct Builder<'a> {
    model: &'a Checked<'a>,
    tables: &'a Tables,
    shape: &'a Shape,
    codes: &'a [CodeWords],
    sums: Sums,
}

impl Builder<'_> {
    fn tables(&self) -> Vec<P4Table> {
        let features = self.shape.features.iter().enumerate();
        let trees = self.shape.trees.iter().enumerate();
        features
            .map(|(at, feature)| self.feature(at, feature))
            .chain(trees.map(|(slot, tree)| self.tree(slot, tree)))
            .chain([self.vote()])
            .collect()
    }

    fn field(&self, column: usize) -> String {
        field(&self.model.origin.columns[column].name)
    }

    /// 24 bits: 12 of the model's hash, so that two models rarely collide, and a 12-bit counter.
    fn id(&self, table: usize) -> u32 {
        let [first, second, ..] = self.model.id.map(u32::from);
        let hash = if self.model.layout.is_some() { 0 } else { first << 4 | second >> 4 };
        hash << 12 | table as u32
    }

    /// The variable that holds a word of a feature's codes.
    fn word(&self, feature: usize, word: usize) -> String {
        let field = self.field(self.shape.features[feature].column);
        word_name(&field, word, self.codes[feature].words.len())
    }

    fn feature(&self, at: usize, feature: &FeatureShape) -> P4Table {
        let field = self.field(feature.column);
        let codes = &self.codes[at];
        let param = |word| {
            if codes.words.len() == 1 { "codes".to_owned() } else { format!("codes_{word}") }
        };
        let numbered = codes.words.iter().enumerate();
        let action = P4Action {
            id: self.id(at),
            name: format!("set_codes_of_{field}"),
            params: numbered.map(|(word, &bits)| (param(word), bits)).collect(),
            body: (0..codes.words.len())
                .map(|word| format!("{} = {};", self.word(at, word), param(word)))
                .collect(),
        };
        let zero = || codes.words.iter().map(|&bits| Code::zero(bits)).collect();
        // A feature that no tree needs has no thresholds.
        let table = self.tables.features.iter().find(|table| table.column == feature.column);
        let mut entries = table.map_or_else(Vec::new, |table| self.prefixes(at, feature, table));
        let default = entries.pop().map_or_else(zero, |default| {
            assert_eq!(default.priority, 0, "every value has a prefix");
            default.data
        });
        P4Table {
            id: self.id(at),
            name: format!("code_{field}"),
            keys: vec![Key { expression: format!("x.{field}"), name: field }],
            actions: vec![action],
            empty: self.model.layout.map(|_| Call { action: 0, data: zero() }),
            default: Call { action: 0, data: default },
            entries,
            size: feature.entries,
        }
    }

    /// Longer prefixes first; the empty one, which every value has, is the last.
    fn prefixes(&self, at: usize, feature: &FeatureShape, table: &FeatureTable) -> Vec<Entry> {
        let trees = self.tables.trees_with_tables();
        let mut prefixes = table.prefixes.clone();
        prefixes.sort_by_key(|prefix| (Reverse(prefix.length), prefix.value));
        let entry = |prefix: &PrefixEntry| {
            let value = *table.bounds(prefix.range).start();
            let code = |&(slot, _): &(usize, usize)| {
                let key = trees.get(slot).and_then(|&tree| self.tables.key(tree, table.column));
                key.map_or_else(|| Code::zero(0), |key| key.code(value))
            };
            let codes: Vec<Code> = feature.codes.iter().map(code).collect();
            Entry {
                patterns: vec![Ternary::of_prefix(prefix.value, prefix.length)],
                priority: u32::from(prefix.length),
                data: self.codes[at].holding(&codes),
            }
        };
        prefixes.iter().map(entry).collect()
    }

    fn tree(&self, slot: usize, tree: &TreeShape) -> P4Table {
        let number = tree.number;
        let parts = self.parts_of_tree(slot);
        let sum = format!("sum_{}", slot % self.sums.0);
        let (verb, value) = if slot < self.sums.0 {
            ("set", "weight".to_owned())
        } else {
            ("add", format!("{sum} + weight"))
        };
        let id = self.id(self.shape.features.len() + slot);
        let bits = self.shape.score_bits;
        let zero = Code::zero(bits);
        let trees = self.tables.trees_with_tables();
        let of_forest = trees.get(slot).map(|&tree| &self.tables.trees[tree]);
        // The first carries the weights that are the same for every row.
        let constant = if slot == 0 { self.tables.constant_score() } else { 0 };
        let weight = |weight: u32| vec![Code::of_bits(u64::from(weight), bits)];
        let mut entries = of_forest.map_or_else(Vec::new, |tree| {
            let leaf = |leaf: &LeafEntry| {
                let entry = Entry {
                    patterns: self.patterns(tree, leaf, &parts),
                    priority: 0,
                    data: weight(constant + u32::from(leaf.weight)),
                };
                (leaf.weight, entry)
            };
            tree.leaves.iter().map(leaf).collect()
        });
        // The default is the lightest leaf: until entries are loaded, no row's score is lower, so
        // no drop is predicted, unless the forest always predicts one.
        let lightest = (0..entries.len()).min_by_key(|&at| entries[at].0);
        let default = lightest.map_or_else(|| weight(constant), |at| entries.remove(at).1.data);
        P4Table {
            id,
            name: format!("tree_{number}"),
            keys: parts.iter().map(|(feature, part)| self.key(*feature, part)).collect(),
            actions: vec![P4Action {
                id,
                name: format!("{verb}_weight_{number}"),
                params: vec![("weight".to_owned(), bits)],
                body: vec![format!("{sum} = {value};")],
            }],
            empty: self.model.layout.map(|_| Call { action: 0, data: vec![zero] }),
            default: Call { action: 0, data: default },
            entries: entries.into_iter().map(|(_, entry)| entry).collect(),
            size: tree.entries,
        }
    }

    /// The parts of words that a tree matches, with their feature's number among the shape's.
    fn parts_of_tree(&self, slot: usize) -> Vec<(usize, CodeBits)> {
        let features = self.shape.features.iter().zip(self.codes).enumerate();
        let of_feature = |(at, (feature, codes)): (usize, (&FeatureShape, &CodeWords))| {
            let code = feature.codes.iter().position(|&(tree, _)| tree == slot);
            let parts = code.map_or_else(Vec::new, |code| codes.parts[code].clone());
            parts.into_iter().map(move |part| (at, part)).collect::<Vec<_>>()
        };
        features.flat_map(of_feature).collect()
    }

    fn key(&self, feature: usize, part: &CodeBits) -> Key {
        let name = self.word(feature, part.word);
        let whole = part.width == self.codes[feature].words[part.word];
        let expression = if whole {
            name.clone()
        } else {
            format!("{name}[{}:{}]", part.low + part.width - 1, part.low)
        };
        Key { expression, name }
    }

    fn patterns(
        &self,
        tree: &TreeTable,
        leaf: &LeafEntry,
        parts: &[(usize, CodeBits)],
    ) -> Vec<Ternary> {
        let patterns = tree.patterns(leaf);
        let pattern = |(feature, part): &(usize, CodeBits)| {
            let column = self.shape.features[*feature].column;
            let key = tree.keys.iter().position(|key| key.column == column);
            match key.map(|key| &patterns[key]) {
                Some(Ternary { value, mask }) => {
                    Ternary { value: part.of(value), mask: part.of(mask) }
                }
                None => Ternary { value: Code::zero(part.width), mask: Code::zero(part.width) },
            }
        };
        parts.iter().map(pattern).collect()
    }

    /// The vote, as a lookup: Tofino compilers refuse an `if` that compares 16 bits. Both fields of
    /// the answer are written by one action.
    fn vote(&self) -> P4Table {
        let bits = self.shape.score_bits;
        let id = self.id(self.shape.features.len() + self.shape.trees.len());
        let action = |id, name: &str, drop| P4Action {
            id,
            name: name.to_owned(),
            params: Vec::new(),
            body: vec!["score = sum_0;".to_owned(), format!("drop = {drop};")],
        };
        let patterns = vote_patterns(self.tables.vote_threshold, self.tables.max_score(), bits);
        let entry = |pattern| Entry { patterns: vec![pattern], priority: 0, data: Vec::new() };
        let accept = Call { action: 1, data: Vec::new() };
        P4Table {
            id,
            name: "vote".to_owned(),
            keys: vec![Key { expression: "sum_0".to_owned(), name: "score".to_owned() }],
            actions: vec![action(id, "predict_drop", 1), action(id + 1, "predict_accept", 0)],
            empty: self.model.layout.map(|_| accept.clone()),
            default: accept,
            entries: patterns.into_iter().map(entry).collect(),
            size: self.shape.vote_entries,
        }
    }
}

/// The variable that holds one of the words of a feature's codes.
pub(crate) fn word_name(field: &str, word: usize, words: usize) -> String {
    if words == 1 { format!("codes_of_{field}") } else { format!("codes_{word}_of_{field}") }
}
