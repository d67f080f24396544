//! Reads and runs the subset of P4 that dropcast emits: an independent interpreter of the emitted
//! text, not of the tables behind it.

use dropcast_export::tables::{Code, LookupError, MatchEntry, MatchTable, Ternary};
use std::collections::BTreeMap;

/// A control of P4.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Width of each variable and `out` parameter.
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
    /// A variable, and a parameter or a number.
    assigns: Vec<(String, String)>,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) id: u32,
    pub(crate) actions: Vec<String>,
    /// The matched expression, and its name in the control plane.
    pub(crate) keys: Vec<(String, String)>,
    /// Maximum entries, if declared.
    pub(crate) size: Option<usize>,
    /// The default action, and whether it is constant.
    default: Option<(Call, bool)>,
    /// Whether the program has its entries.
    pub(crate) is_const: bool,
    /// An entry's data is the index of its call.
    entries: MatchTable,
    calls: Vec<Call>,
}

/// An action with its data.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) action: String,
    pub(crate) data: Vec<String>,
}

/// An entry as text; its widths are still unknown.
#[derive(Clone, Debug)]
pub(crate) struct RawEntry {
    pub(crate) call: Call,
    /// Value and mask for each key.
    pub(crate) patterns: Vec<(String, String)>,
    /// Higher wins.
    pub(crate) priority: u32,
}

/// A control plane's input to a table.
#[derive(Debug, Default)]
pub(crate) struct RawTable {
    pub(crate) default: Option<Call>,
    pub(crate) entries: Vec<RawEntry>,
}

impl Program {
    /// Reads a program with these macros defined.
    pub(crate) fn parse(text: &str, macros: &[&str]) -> Self {
        let text = preprocessed(text, macros);
        let (_, control) = text.split_once("control ").expect("a control");
        let (declarations, apply) = control.split_once("    apply {").expect("its apply block");
        let (head, declarations) = declarations.split_once(" {\n").expect("its head");
        let (_, outs) = head.split_once("x, ").expect("the features come first");
        let mut reader = Reader::default();
        for out in outs.trim_end_matches(')').split(", ") {
            let (name, width) = declaration(out.strip_prefix("out ").expect("out"));
            reader.program.variables.insert(name, width);
        }
        declarations.lines().for_each(|line| reader.line(line.trim()));
        let Reader { mut program, entries, .. } = reader;
        program.apply = apply.lines().map(|line| line.trim().to_owned()).collect();
        for (table, entries) in entries {
            program.fill(&table, &entries);
        }
        program
    }

    /// The control plane's entries, for all tables without constant entries.
    pub(crate) fn load(&mut self, mut given: BTreeMap<String, RawTable>) {
        let tables = self.tables.iter().filter(|(_, table)| !table.is_const);
        let names: Vec<String> = tables.map(|(name, _)| name.clone()).collect();
        for name in names {
            let RawTable { default, entries } = given.remove(&name).expect("a table that is given");
            let default = default.expect("a default action that is given");
            self.fill(&name, &entries);
            let table = self.tables.get_mut(&name).expect("a table");
            assert_eq!(table.size, Some(entries.len()));
            assert!(!table.default.as_ref().expect("a default action").1, "it is not constant");
            table.default = Some((default, false));
        }
        assert!(given.is_empty(), "{given:?}");
    }

    fn fill(&mut self, name: &str, entries: &[RawEntry]) {
        let table = &self.tables[name];
        let keys: Vec<usize> = table.keys.iter().map(|key| self.width(&key.0)).collect();
        let entry = |(at, entry): (usize, &RawEntry)| {
            assert!(table.actions.contains(&entry.call.action));
            assert_eq!(entry.patterns.len(), keys.len());
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
                data: vec![Code::of_value(at as u32)],
            }
        };
        let filled = MatchTable::new(entries.iter().enumerate().map(entry));
        let calls = entries.iter().map(|entry| entry.call.clone()).collect();
        let table = self.tables.get_mut(name).expect("a table");
        (table.entries, table.calls) = (filled, calls);
    }

    pub(crate) fn action(&self, name: &str) -> &Action {
        &self.actions[name]
    }

    fn width(&self, expression: &str) -> usize {
        if expression.starts_with("x.") { 32 } else { self.variables[expression] }
    }

    /// The score and the prediction for features by name.
    pub(crate) fn run(&self, features: &BTreeMap<&str, u32>) -> (u32, bool) {
        // Reading an unwritten variable panics.
        let mut state = BTreeMap::new();
        for line in &self.apply {
            let words: Vec<&str> = line.trim_end_matches(';').split(' ').collect();
            let value = |name: &str, state: &BTreeMap<String, Code>| -> u32 {
                name.parse().unwrap_or_else(|_| number(&state[name]))
            };
            let (to, result) = match words.as_slice() {
                [table] if table.ends_with(".apply()") => {
                    self.apply_table(table.trim_end_matches(".apply()"), features, &mut state);
                    continue;
                }
                [to, "=", one] => (to, value(one, &state)),
                [to, "=", one, "+", other] => (to, value(one, &state) + value(other, &state)),
                [to, "=", one, "|-|", other] => {
                    (to, value(one, &state).saturating_sub(value(other, &state)))
                }
                ["}"] | [""] | ["//", ..] => continue,
                _ => panic!("what is {line:?}?"),
            };
            let width = self.variables[*to];
            state.insert((*to).to_owned(), code(&result.to_string(), width));
        }
        match number(&state["drop"]) {
            0 => (number(&state["score"]), false),
            1 => (number(&state["score"]), true),
            other => panic!("drop is {other}"),
        }
    }

    fn apply_table(
        &self,
        name: &str,
        features: &BTreeMap<&str, u32>,
        state: &mut BTreeMap<String, Code>,
    ) {
        let table = &self.tables[name];
        let key: Vec<Code> = table
            .keys
            .iter()
            .map(|(key, _)| match key.strip_prefix("x.") {
                Some(feature) => Code::of_value(features[feature]),
                None => state[key].clone(),
            })
            .collect();
        let call = match table.entries.lookup(&key) {
            Ok(at) => &table.calls[number(&at[0]) as usize],
            Err(LookupError::Miss) => &table.default.as_ref().expect("a default action").0,
            Err(error) => panic!("{name}: {error}"),
        };
        let action = &self.actions[&call.action];
        assert_eq!(call.data.len(), action.params.len());
        for (variable, value) in &action.assigns {
            let data = match action.params.iter().position(|(name, _)| name == value) {
                Some(at) => {
                    let width = action.params[at].1;
                    assert_eq!(width, self.variables[variable], "no casts");
                    &call.data[at]
                }
                None => value,
            };
            state.insert(variable.clone(), code(data, self.variables[variable]));
        }
    }
}

/// The program read so far.
#[derive(Default)]
struct Reader {
    program: Program,
    entries: BTreeMap<String, Vec<RawEntry>>,
    id: u32,
    action: String,
    table: String,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] | ["}"] | ["key" | "actions", "=", "{"] => {}
            ["action", ..] => self.begin_action(&line["action ".len()..]),
            ["table", name, "{"] => {
                self.table = (*name).to_owned();
                let new = Table { id: self.id, ..Table::default() };
                assert!(self.program.tables.insert(self.table.clone(), new).is_none());
            }
            [one] if one.starts_with("@id(") => {
                let hex = one.strip_prefix("@id(0x").and_then(|hex| hex.strip_suffix(')'));
                self.id = u32::from_str_radix(hex.expect("hexadecimal"), 16).expect("a number");
            }
            _ if !self.table.is_empty() => self.in_table(line, &words),
            [bits, name] if bits.starts_with("bit<") => {
                let (name, width) = declaration(&format!("{bits} {}", &name[..name.len() - 1]));
                assert!(self.program.variables.insert(name, width).is_none());
            }
            [variable, "=", value] => {
                let assign = ((*variable).to_owned(), value[..value.len() - 1].to_owned());
                let action = self.program.actions.get_mut(&self.action).expect("in an action");
                action.assigns.push(assign);
            }
            _ => panic!("what is {line:?}?"),
        }
    }

    fn begin_action(&mut self, line: &str) {
        let (name, params) = line.split_once('(').expect("(");
        let params = params.split(')').next().expect(")");
        let params = params.split(", ").filter(|param| !param.is_empty());
        let params = params.map(declaration).collect();
        self.action = name.to_owned();
        self.table.clear();
        let new = Action { id: self.id, params, assigns: Vec::new() };
        assert!(self.program.actions.insert(self.action.clone(), new).is_none());
    }

    fn in_table(&mut self, line: &str, words: &[&str]) {
        let table = self.program.tables.get_mut(&self.table).expect("in a table");
        match words {
            [expression, ":", "ternary" | "exact", named] => {
                let name = named.strip_prefix("@name(\"").and_then(|at| at.strip_suffix("\");"));
                table.keys.push(((*expression).to_owned(), name.expect("a name").to_owned()));
            }
            ["size", "=", size] => {
                table.size = Some(size[..size.len() - 1].parse().expect("a number"));
            }
            ["const", "entries", "=", "{"] => table.is_const = true,
            ["const", "default_action", "=", ..] | ["default_action", "=", ..] => {
                let (_, default) = line.split_once(" = ").expect(" = ");
                table.default = Some((call(default), words[0] == "const"));
            }
            [one] if one.ends_with(';') => {
                table.actions.push(one[..one.len() - 1].to_owned());
            }
            _ if line.contains(" : ") => {
                let entries = self.entries.entry(self.table.clone()).or_default();
                // The first that matches wins.
                let priority = u32::MAX - entries.len() as u32;
                entries.push(const_entry(line, priority));
            }
            _ => panic!("what is {line:?} in a table?"),
        }
    }
}

/// The text that the preprocessor keeps with these macros.
fn preprocessed(text: &str, macros: &[&str]) -> String {
    let mut defined: Vec<&str> = macros.to_vec();
    let mut taken: Vec<bool> = Vec::new();
    let mut kept = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["#ifdef", name] => taken.push(defined.contains(name)),
            ["#ifndef", name] => taken.push(!defined.contains(name)),
            ["#else"] => {
                let last = taken.last_mut().expect("within #ifdef");
                *last = !*last;
            }
            ["#endif", ..] => assert!(taken.pop().is_some()),
            _ if taken.contains(&false) => {}
            ["#define", name, ..] => defined.push(name),
            _ => kept += &format!("{line}\n"),
        }
    }
    assert!(taken.is_empty());
    kept
}

/// `bit<WIDTH> NAME`.
fn declaration(text: &str) -> (String, usize) {
    let (width, name) = text.strip_prefix("bit<").and_then(|at| at.split_once("> ")).expect(text);
    (name.to_owned(), width.parse().expect("a number"))
}

/// `action(0x1, 2);`
fn call(text: &str) -> Call {
    let (action, data) = text.trim_end_matches(");").split_once('(').expect("(");
    let data = data.split(", ").filter(|data| !data.is_empty());
    Call { action: action.to_owned(), data: data.map(str::to_owned).collect() }
}

/// `(0x1 &&& 0x3, _) : action(0x1, 2);`, or `0 : action();` of an exact match.
fn const_entry(line: &str, priority: u32) -> RawEntry {
    let (keys, action) = line.split_once(" : ").expect(" : ");
    let pattern = |key: &str| match key.split_once(" &&& ") {
        Some((value, mask)) => (value.to_owned(), mask.to_owned()),
        None if key == "_" => ("0x0".to_owned(), "0x0".to_owned()),
        None => (key.to_owned(), "all".to_owned()),
    };
    let keys = keys.trim_matches(['(', ')']).split(", ");
    RawEntry { call: call(action), patterns: keys.map(pattern).collect(), priority }
}

/// A literal, hexadecimal or (of up to 64 bits) decimal; `all` bits.
fn code(text: &str, width: usize) -> Code {
    let hex = match text.parse::<u64>() {
        Ok(number) => format!("{number:#x}"),
        Err(_) if text == "all" => return Code::of_rank(width, width),
        Err(_) => text.to_owned(),
    };
    Code::from_hex(&hex, width).unwrap_or_else(|| panic!("{text} does not fit {width} bits"))
}

fn number(code: &Code) -> u32 {
    u32::try_from(code.words().first().copied().unwrap_or(0)).expect("a score has 32 bits")
}
