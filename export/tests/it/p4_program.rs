//! Reads and runs the oracle's P4, as far as dropcast writes it: an independent reading of the
//! emitted text, not of the tables that it was written from.

use dropcast_export::tables::{Code, MatchEntry, MatchTable, Ternary};
use std::collections::BTreeMap;

/// A control of P4.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Width of each variable.
    variables: BTreeMap<String, usize>,
    actions: BTreeMap<String, Action>,
    pub(crate) tables: BTreeMap<String, Table>,
    /// The statements of `apply`.
    apply: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Action {
    pub(crate) id: u32,
    /// Name and width.
    pub(crate) params: Vec<(String, usize)>,
    /// Variable and parameter.
    assigns: Vec<(String, String)>,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) id: u32,
    pub(crate) action: String,
    /// What is matched, and what the control plane calls it.
    pub(crate) keys: Vec<(String, String)>,
    /// Most entries that it has room for.
    pub(crate) size: usize,
    pub(crate) entries: MatchTable,
}

/// An entry as text, before its widths are known.
#[derive(Clone, Debug)]
pub(crate) struct RawEntry {
    pub(crate) action: String,
    /// Value and mask for each key.
    pub(crate) patterns: Vec<(String, String)>,
    /// Higher wins.
    pub(crate) priority: u32,
    pub(crate) data: Vec<String>,
}

impl Program {
    pub(crate) fn parse(text: &str) -> Self {
        let mut program = Program::default();
        let mut raw: BTreeMap<String, Vec<RawEntry>> = BTreeMap::new();
        let (mut id, mut action, mut table) = (0, String::new(), String::new());
        let (_, control) = text.split_once("control ").expect("a control");
        let (declarations, apply) = control.split_once("    apply {").expect("its apply block");
        for line in declarations.lines().skip(1).map(str::trim) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["action", ..] => {
                    let (name, params) = line["action ".len()..].split_once('(').expect("(");
                    let params = params.split(')').next().expect(")").split(", ");
                    let params = params.map(declaration).collect();
                    action = name.to_owned();
                    table.clear();
                    let new = Action { id, params, assigns: Vec::new() };
                    assert!(program.actions.insert(action.clone(), new).is_none());
                }
                ["table", name, "{"] => {
                    table = (*name).to_owned();
                    let new = Table { id, ..Table::default() };
                    assert!(program.tables.insert(table.clone(), new).is_none());
                }
                [bits, name, "=", "0;"] if bits.starts_with("bit<") => {
                    let (name, width) = declaration(&format!("{bits} {name}"));
                    assert!(program.variables.insert(name, width).is_none());
                }
                [bits, name] if bits.starts_with("bit<") => {
                    let (name, width) = declaration(&format!("{bits} {}", &name[..name.len() - 1]));
                    program.variables.insert(name, width);
                }
                [variable, "=", .., value] if table.is_empty() => {
                    let assign = ((*variable).to_owned(), value[..value.len() - 1].to_owned());
                    program.actions.get_mut(&action).expect("in an action").assigns.push(assign);
                }
                [expression, ":", "ternary", named] => {
                    let name =
                        named.strip_prefix("@name(\"").and_then(|at| at.strip_suffix("\");"));
                    let keys = &mut program.tables.get_mut(&table).expect("in a table").keys;
                    keys.push(((*expression).to_owned(), name.expect("a name").to_owned()));
                }
                ["size", "=", size] => {
                    let size = size[..size.len() - 1].parse().expect("a number");
                    program.tables.get_mut(&table).expect("in a table").size = size;
                }
                [one] if one.starts_with("@id(") => {
                    let hex = one.strip_prefix("@id(0x").and_then(|hex| hex.strip_suffix(')'));
                    id = u32::from_str_radix(hex.expect("hexadecimal"), 16).expect("a number");
                }
                [one] if !table.is_empty() && one.ends_with(';') => {
                    let table = program.tables.get_mut(&table).expect("in a table");
                    assert_eq!(table.action, "", "one action");
                    table.action = one[..one.len() - 1].to_owned();
                }
                _ if line.contains(" : ") => {
                    let entries = raw.entry(table.clone()).or_default();
                    // The first that matches wins.
                    let priority = u32::MAX - entries.len() as u32;
                    entries.push(const_entry(line, priority));
                }
                [] | ["}"] | ["key" | "actions", "=", "{"] | ["const", ..] => {}
                ["@defaultonly", "NoAction;"] | ["#ifndef" | "#endif", ..] => {}
                _ => panic!("what is {line:?}?"),
            }
        }
        program.apply = apply.lines().map(|line| line.trim().to_owned()).collect();
        for (table, entries) in raw {
            program.load(&table, entries);
        }
        program
    }

    /// Gives a table its entries.
    pub(crate) fn load(&mut self, table: &str, entries: Vec<RawEntry>) {
        let keys: Vec<usize> =
            self.tables[table].keys.iter().map(|key| self.width(&key.0)).collect();
        let action = &self.tables[table].action;
        let params = &self.actions[action].params;
        let entries: Vec<MatchEntry> = entries
            .into_iter()
            .map(|entry| {
                assert_eq!(&entry.action, action);
                assert_eq!((entry.patterns.len(), entry.data.len()), (keys.len(), params.len()));
                let pattern = |((value, mask), &width): (&(String, String), &usize)| {
                    let pattern = Ternary { value: code(value, width), mask: code(mask, width) };
                    let stray = |(value, mask): (&u64, &u64)| value & !mask != 0;
                    let words = pattern.value.words().iter().zip(pattern.mask.words());
                    assert!(!words.into_iter().any(stray), "{entry:?}");
                    pattern
                };
                MatchEntry {
                    patterns: entry.patterns.iter().zip(&keys).map(pattern).collect(),
                    priority: entry.priority,
                    data: entry
                        .data
                        .iter()
                        .zip(params)
                        .map(|(data, of)| code(data, of.1))
                        .collect(),
                }
            })
            .collect();
        assert_eq!(entries.len(), self.tables[table].size);
        self.tables.get_mut(table).expect("a table").entries = MatchTable::new(entries);
    }

    pub(crate) fn action(&self, name: &str) -> &Action {
        &self.actions[name]
    }

    fn width(&self, expression: &str) -> usize {
        if expression.starts_with("x.") { 32 } else { self.variables[expression] }
    }

    /// The score and the prediction for features by name.
    pub(crate) fn run(&self, features: &BTreeMap<&str, u32>) -> (u32, bool) {
        let zeros = self.variables.iter().map(|(name, &width)| (name.clone(), Code::zero(width)));
        let mut state: BTreeMap<String, Code> = zeros.collect();
        let (mut score, mut excess, mut drop) = (0, 0, false);
        for line in &self.apply {
            let words: Vec<&str> = line.trim_end_matches(';').split(' ').collect();
            let value = |name: &str, state: &BTreeMap<String, Code>| -> u32 {
                name.parse().unwrap_or_else(|_| number(&state[name]))
            };
            match words.as_slice() {
                [table] if table.ends_with(".apply()") => {
                    self.apply_table(table.trim_end_matches(".apply()"), features, &mut state);
                }
                ["score", "=", one] => score = value(one, &state),
                ["score", "=", one, "+", other] => {
                    score = value(one, &state) + value(other, &state);
                }
                [sum, "=", one, "+", other] => {
                    let width = self.variables[*sum];
                    let added = value(one, &state) + value(other, &state);
                    state.insert((*sum).to_owned(), code(&added.to_string(), width));
                }
                ["excess", "=", "score", "|-|", threshold] => {
                    excess = score.saturating_sub(threshold.parse().expect("a number"));
                }
                ["if", "(excess", "!=", "0)", "{"] => drop = excess != 0,
                ["drop", "=", _] | ["}"] | [""] | ["//" | "#endif", ..] => {}
                _ => panic!("what is {line:?}?"),
            }
        }
        (score, drop)
    }

    fn apply_table(
        &self,
        table: &str,
        features: &BTreeMap<&str, u32>,
        state: &mut BTreeMap<String, Code>,
    ) {
        let Table { action, keys, entries, .. } = &self.tables[table];
        let key: Vec<Code> = keys
            .iter()
            .map(|(key, _)| match key.strip_prefix("x.") {
                Some(feature) => Code::of_value(features[feature]),
                None => state[key].clone(),
            })
            .collect();
        let data = entries.lookup(&key).expect("one entry").to_vec();
        let action = &self.actions[action];
        for (variable, param) in &action.assigns {
            let at = action.params.iter().position(|(name, _)| name == param).expect("a parameter");
            let width = self.variables[variable];
            state.insert(variable.clone(), code(&data[at].to_string(), width));
        }
    }
}

/// `bit<WIDTH> NAME`.
fn declaration(text: &str) -> (String, usize) {
    let (width, name) = text.strip_prefix("bit<").and_then(|at| at.split_once("> ")).expect(text);
    (name.to_owned(), width.parse().expect("a number"))
}

/// `(0x1 &&& 0x3, _) : action(0x1, 2);`
fn const_entry(line: &str, priority: u32) -> RawEntry {
    let (keys, action) = line.trim_end_matches(");").split_once(" : ").expect(" : ");
    let (action, data) = action.split_once('(').expect("(");
    let pattern = |key: &str| match key.split_once(" &&& ") {
        Some((value, mask)) => (value.to_owned(), mask.to_owned()),
        None => {
            assert_eq!(key, "_");
            ("0x0".to_owned(), "0x0".to_owned())
        }
    };
    let keys = keys.trim_matches(['(', ')']).split(", ");
    RawEntry {
        action: action.to_owned(),
        patterns: keys.map(pattern).collect(),
        priority,
        data: data.split(", ").map(str::to_owned).collect(),
    }
}

/// A literal, hexadecimal or (of up to 64 bits) decimal.
fn code(text: &str, width: usize) -> Code {
    let hex = match text.parse::<u64>() {
        Ok(number) => format!("{number:#x}"),
        Err(_) => text.to_owned(),
    };
    Code::from_hex(&hex, width).unwrap_or_else(|| panic!("{text} does not fit {width} bits"))
}

fn number(code: &Code) -> u32 {
    u32::try_from(code.words().first().copied().unwrap_or(0)).expect("a score has 32 bits")
}
