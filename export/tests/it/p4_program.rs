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
    /// A variable, and one or two parameters, variables or numbers whose sum it becomes.
    assigns: Vec<(String, Vec<String>)>,
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
            assert!(Some(entries.len()) <= table.size, "{name}");
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
        match slice(expression) {
            (_, Some((high, low))) => high - low + 1,
            (name, None) if name.starts_with("x.") => 32,
            (name, None) => self.variables[name],
        }
    }

    /// The score and the prediction for features by name.
    pub(crate) fn run(&self, features: &BTreeMap<&str, u32>) -> (u32, bool) {
        // Reading an unwritten variable panics.
        let mut state = BTreeMap::new();
        for step in self.steps() {
            match step {
                Step::Table(name) => self.apply_table(name, features, &mut state),
                Step::Action(name) => {
                    let call = Call { action: name.to_owned(), data: Vec::new() };
                    self.run_action(&call, &mut state);
                }
                Step::Set(variable, number) => {
                    let width = self.variables[variable];
                    state.insert(variable.to_owned(), code(number, width));
                }
            }
        }
        match number(&state["drop"]) {
            0 => (number(&state["score"]), false),
            1 => (number(&state["score"]), true),
            other => panic!("drop is {other}"),
        }
    }

    /// The statements of `apply`.
    fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        let statement = |line: &'_ String| !matches!(line.as_str(), "" | "}");
        self.apply.iter().filter(move |line| statement(line)).map(|line| {
            let line = line.strip_suffix(';').expect("a statement");
            if let Some(table) = line.strip_suffix(".apply()") {
                Step::Table(table)
            } else if let Some(action) = line.strip_suffix("()") {
                Step::Action(action)
            } else {
                let (variable, number) = line.split_once(" = ").expect("an assignment");
                Step::Set(variable, number)
            }
        })
    }

    fn apply_table(
        &self,
        name: &str,
        features: &BTreeMap<&str, u32>,
        state: &mut BTreeMap<String, Code>,
    ) {
        let table = &self.tables[name];
        let value = |key: &(String, String)| match (key.0.strip_prefix("x."), slice(&key.0)) {
            (Some(feature), _) => Code::of_value(features[feature]),
            (None, (name, None)) => state[name].clone(),
            (None, (name, Some((high, low)))) => {
                assert!(high < self.variables[name] && low <= high, "{key:?}");
                let bits = (number(&state[name]) >> low) & (u32::MAX >> (31 - (high - low)));
                code(&bits.to_string(), high - low + 1)
            }
        };
        let key: Vec<Code> = table.keys.iter().map(value).collect();
        let call = match table.entries.lookup(&key) {
            Ok(at) => &table.calls[number(&at[0]) as usize],
            Err(LookupError::Miss) => &table.default.as_ref().expect("a default action").0,
            Err(error) => panic!("{name}: {error}"),
        };
        self.run_action(call, state);
    }

    fn run_action(&self, call: &Call, state: &mut BTreeMap<String, Code>) {
        let action = &self.actions[&call.action];
        assert_eq!(call.data.len(), action.params.len());
        for (variable, terms) in &action.assigns {
            let width = self.variables[variable];
            let term = |term: &String| {
                if let Some(at) = action.params.iter().position(|(name, _)| name == term) {
                    assert_eq!(action.params[at].1, width, "no casts");
                    return code(&call.data[at], width);
                }
                if term.parse::<u64>().is_ok() {
                    return code(term, width);
                }
                assert_eq!(self.variables[term], width, "no casts");
                state[term].clone()
            };
            let value = match terms.as_slice() {
                [one] => term(one),
                several => {
                    let sum: u64 = several.iter().map(|of| u64::from(number(&term(of)))).sum();
                    code(&sum.to_string(), width)
                }
            };
            state.insert(variable.clone(), value);
        }
    }

    /// The stage of each step, if a stage can hold any number of tables: what is read or written
    /// was last written in a stage before; what is written was last read in none after.
    pub(crate) fn stages(&self) -> Vec<(String, usize)> {
        let (mut written, mut read) = (BTreeMap::new(), BTreeMap::new());
        let mut stages = Vec::new();
        for step in self.steps() {
            let (name, actions, keys) = match step {
                Step::Table(name) => {
                    let table = &self.tables[name];
                    (name, table.actions.clone(), table.keys.as_slice())
                }
                Step::Action(name) => (name, vec![name.to_owned()], &[][..]),
                // The parser could do it.
                Step::Set(..) => continue,
            };
            let assigns = || actions.iter().flat_map(|name| &self.actions[name].assigns);
            let is_variable = |name: &&str| self.variables.contains_key(*name);
            let keys = keys.iter().map(|key| slice(&key.0).0);
            let terms = assigns().flat_map(|(_, terms)| terms).map(String::as_str);
            let reads: Vec<&str> = keys.chain(terms).filter(is_variable).collect();
            let writes: Vec<&str> = assigns().map(|(to, _)| to.as_str()).collect();
            let touched = reads.iter().chain(&writes);
            let stage = 1 + touched.filter_map(|name| written.get(name)).max().unwrap_or(&0);
            let stage =
                writes.iter().filter_map(|name| read.get(name)).fold(stage, |a, &b| a.max(b));
            for name in reads {
                let last = read.entry(name).or_insert(0);
                *last = stage.max(*last);
            }
            written.extend(writes.into_iter().map(|name| (name, stage)));
            stages.push((name.to_owned(), stage));
        }
        stages
    }

    /// Rules of Tofino's compiler: an action reads nothing that it wrote and adds one thing to
    /// another at most; codes are in whole containers, each written by one table.
    pub(crate) fn assert_one_source_per_container(&self) {
        let mut writers: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, table) in &self.tables {
            for (to, _) in table.actions.iter().flat_map(|action| &self.actions[action].assigns) {
                let is_code = to.starts_with("codes_");
                let first = *writers.entry(to).or_insert(name);
                assert!(!is_code || first == name, "{to} is written by {first} and {name}");
                assert!(!is_code || [8, 16, 32].contains(&self.variables[to]), "{to}");
            }
        }
        for (name, action) in &self.actions {
            let mut written: Vec<&str> = Vec::new();
            for (to, terms) in &action.assigns {
                assert!(terms.len() <= 2, "{name}: {terms:?}");
                assert!(terms.len() < 2 || terms[0] == *to, "{name}: {to} and {terms:?}");
                assert!(terms.iter().all(|term| !written.contains(&term.as_str())), "{name}");
                assert!(!written.contains(&to.as_str()), "{name} writes {to} twice");
                written.push(to);
            }
        }
    }
}

/// A statement of `apply`.
enum Step<'a> {
    Table(&'a str),
    Action(&'a str),
    Set(&'a str, &'a str),
}

/// `name` or `name[high:low]`.
fn slice(expression: &str) -> (&str, Option<(usize, usize)>) {
    let Some((name, bits)) = expression.split_once('[') else { return (expression, None) };
    let (high, low) = bits.trim_end_matches(']').split_once(':').expect("a slice");
    (name, Some((high.parse().expect("a bit"), low.parse().expect("a bit"))))
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
            [] | ["}"] | ["//", ..] | ["key" | "actions", "=", "{"] => {}
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
            [variable, "=", terms @ ..] => {
                let terms = terms.join(" ");
                let terms = terms.trim_end_matches(';').split(" + ").map(str::to_owned);
                let assign = ((*variable).to_owned(), terms.collect());
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
            [expression, ":", "ternary", named] => {
                let name = named.strip_prefix("@name(\"").and_then(|at| at.strip_suffix("\");"));
                table.keys.push(((*expression).to_owned(), name.expect("a name").to_owned()));
            }
            ["size", "=", size] => {
                table.size = Some(size[..size.len() - 1].parse().expect("a number"));
            }
            ["const", "entries", "=", "{"] => assert!(table.is_const),
            ["const", "default_action", "=", ..] | ["default_action", "=", ..] => {
                let (_, default) = line.split_once(" = ").expect(" = ");
                table.default = Some((call(default), words[0] == "const"));
                // Without entries if it never predicts another thing.
                table.is_const = words[0] == "const";
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
