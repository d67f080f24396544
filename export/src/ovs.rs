//! Open vSwitch: flows that predict from registers, with the same ternary entries as other targets.
//! `docs/ovs.md` says how to use them.

mod adder;
mod flow;
mod registers;

use crate::ExportError;
use crate::about::{about, commented};
use crate::checked::Checked;
use crate::ident::plain;
use crate::tables::{FeatureTable, LeafEntry, Tables, Ternary, TreeTable, minimal_prefixes};
use crate::target::{EmittedFile, Emitter};
use flow::{Flow, delete_all, resubmit};
use registers::{RESULT, Registers, SCORE, Word};

/// Flows of Open vSwitch.
pub(crate) const TARGET: Emitter = Emitter {
    name: "ovs",
    about: "Open vSwitch flows on registers, see docs/ovs.md",
    decides: false,
    has_layouts: false,
    emit,
};

/// The first table; the others follow.
const FIRST_TABLE: usize = 100;

/// Open vSwitch reserves the tables above this one.
const LAST_TABLE: usize = 253;

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let oracle = Oracle::new(model)?;
    let name = format!("{}_flows.txt", model.prefix);
    Ok(vec![EmittedFile { name, bytes: oracle.text().into_bytes() }])
}

/// The tables, and where everything is stored.
struct Oracle<'a> {
    model: &'a Checked<'a>,
    tables: Tables,
    registers: Registers,
    /// Bits of the largest score.
    score_bits: u32,
}

impl<'a> Oracle<'a> {
    fn new(model: &'a Checked<'a>) -> Result<Self, ExportError> {
        let tables = Tables::new(model.forest)?;
        let registers = Registers::new(&tables, model.origin.columns.len())?;
        let score_bits = u32::BITS - tables.max_score().leading_zeros();
        let oracle = Oracle { model, tables, registers, score_bits };
        let last = oracle.vote_table();
        let trees = oracle.tables.trees.len();
        if last > LAST_TABLE || score_bits > 16 {
            let problem = format!(
                "{trees} trees take tables {FIRST_TABLE} to {last}, and {LAST_TABLE} is the last; \
                train fewer trees"
            );
            return Err(ExportError::Unsupported { target: "Open vSwitch", problem });
        }
        Ok(oracle)
    }

    fn feature_table(&self, at: usize) -> usize {
        FIRST_TABLE + 1 + at
    }

    /// The table of the `nth` tree that has one.
    fn tree_table(&self, nth: usize) -> usize {
        self.feature_table(self.tables.features.len()) + nth
    }

    /// The trees that have a table, with their numbers.
    fn trees(&self) -> Vec<(usize, &TreeTable)> {
        let trees = self.tables.trees.iter().enumerate();
        trees.filter(|(_, tree)| tree.constant().is_none()).collect()
    }

    fn adder_table(&self, bit: u32) -> usize {
        self.tree_table(self.trees().len()) + bit as usize
    }

    fn vote_table(&self) -> usize {
        self.adder_table(self.score_bits)
    }

    fn text(&self) -> String {
        let mut text = commented(&self.about(), "#");
        text += "\n# the flows of the model before, if there is one\n";
        text += &delete_all();
        text += &self.entry();
        for (at, feature) in self.tables.features.iter().enumerate() {
            let name = plain(&feature.name);
            text += &format!("\n# {name}: codes, longer prefixes first\n");
            text += &self.feature_flows(self.feature_table(at), feature);
        }
        for (nth, (at, tree)) in self.trees().into_iter().enumerate() {
            text += &format!("\n# tree {at}: weights, no two match the same packet\n");
            text += &self.tree_flows(self.tree_table(nth), at, tree);
        }
        if !self.trees().is_empty() {
            text += "\n# score += weight, bit by bit; without a match there is no carry\n";
            text += &adder::flows(self.adder_table(0), self.score_bits);
        }
        text += "\n# the vote; a tie accepts\n";
        text + &self.vote_flows()
    }

    fn about(&self) -> Vec<String> {
        let what = format!(
            "{}_flows.txt: would push-out Longest Queue Drop drop this packet?",
            self.model.prefix
        );
        let mut lines = about(self.model, &what);
        let columns = self.model.origin.columns.iter().enumerate();
        let inputs = columns.map(|(at, column)| format!("reg{at} {}", plain(&column.name)));
        lines.extend([
            format!("Put features into registers: {},", inputs.collect::<Vec<_>>().join(", ")),
            format!("then resubmit(,{FIRST_TABLE}): reg{SCORE} is the score, reg{RESULT} is 1 if"),
            format!(
                "a drop is predicted, else 0. Uses tables {FIRST_TABLE} to {} and the registers",
                self.vote_table()
            ),
            "between. Load with: ovs-ofctl --bundle add-flows BRIDGE, with the name of this file: it".to_owned(),
            "replaces the flows of the model before, all at once. Flows without the cookie stay.".to_owned(),
        ]);
        lines
    }

    /// Runs one table after the other.
    fn entry(&self) -> String {
        let mut actions =
            vec![format!("set_field:{:#x}->reg{SCORE}", self.tables.constant_score())];
        actions.extend((0..self.tables.features.len()).map(|at| resubmit(self.feature_table(at))));
        for nth in 0..self.trees().len() {
            actions.extend([resubmit(self.tree_table(nth)), resubmit(self.adder_table(0))]);
        }
        actions.push(format!("set_field:0x0/{:#x}->reg{SCORE}", adder::SCRATCH));
        actions.push(resubmit(self.vote_table()));
        format!("\n{}", Flow { table: FIRST_TABLE, priority: 1, matches: vec![], actions })
    }

    fn feature_flows(&self, table: usize, feature: &FeatureTable) -> String {
        let mut prefixes = feature.prefixes.clone();
        prefixes.sort_by_key(|prefix| (std::cmp::Reverse(prefix.length), prefix.value));
        let flow = |prefix: crate::tables::PrefixEntry| {
            let codes = self.tables.codes(feature, prefix.range);
            let codes = feature.trees.iter().zip(&codes);
            let word = Word { register: feature.column, value: prefix.value, mask: prefix.mask() };
            Flow {
                table,
                priority: 1 + u32::from(prefix.length),
                matches: vec![word],
                actions: self
                    .registers
                    .codes(codes.map(|(&tree, code)| (tree, feature.column, code)))
                    .iter()
                    .map(Word::set)
                    .collect(),
            }
            .to_string()
        };
        prefixes.into_iter().map(flow).collect()
    }

    fn tree_flows(&self, table: usize, at: usize, tree: &TreeTable) -> String {
        let flow = |leaf: &LeafEntry| {
            let patterns = tree.patterns(leaf);
            let columns = tree.keys.iter().map(|key| key.column);
            let keys: Vec<(usize, &Ternary)> = columns.zip(&patterns).collect();
            let matches = self.registers.patterns(at, &keys);
            let actions = vec![adder::weight(leaf.weight).set()];
            Flow { table, priority: 1, matches, actions }.to_string()
        };
        tree.leaves.iter().map(flow).collect()
    }

    fn vote_flows(&self) -> String {
        let prefixes = minimal_prefixes(&[self.tables.vote_threshold]);
        let flow = |prefix: &crate::tables::PrefixEntry| {
            let word = Word { register: SCORE, value: prefix.value, mask: prefix.mask() };
            let actions = vec![format!("set_field:{:#x}->reg{RESULT}", prefix.range)];
            let priority = 1 + u32::from(prefix.length);
            Flow { table: self.vote_table(), priority, matches: vec![word], actions }.to_string()
        };
        prefixes.iter().map(flow).collect()
    }
}
