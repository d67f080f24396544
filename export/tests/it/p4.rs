//! What is emitted for P4, read back and run.

use crate::forests::{Shape, example, origin_of, random_forest, shapes};
use crate::p4_program::{Program, RawEntry};
use crate::tools::{run, tool};
use dropcast_export::{ExportError, Origin, Vectors, export};
use dropcast_forest::{Forest, Node, Tree};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;

fn files(forest: &Forest, origin: &Origin, target: &str) -> BTreeMap<String, String> {
    let files = export(forest, origin, target.parse().expect("a target")).expect("exportable");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    files.into_iter().map(|file| (file.name, text(file.bytes))).collect()
}

fn assert_same(program: &Program, forest: &Forest, most_rows: usize) {
    let vectors = Vectors::new(forest, 3, 300).expect("sound");
    let step = vectors.rows().len().div_ceil(most_rows);
    let names = || forest.features.iter().map(String::as_str);
    for row in vectors.rows().iter().step_by(step) {
        let features = names().zip(row.iter().copied()).collect();
        let expected = (forest.score(row), forest.predicts_drop(row));
        assert_eq!(program.run(&features), expected, "{row:?}");
    }
}

/// The program with its constant entries, then with the commands', then with P4Runtime's.
fn check(forest: &Forest, most_rows: usize) {
    let files = files(forest, &origin_of(forest, "m"), "p4");
    let mut program = Program::parse(&files["m_oracle.p4"]);
    assert_same(&program, forest, most_rows);
    load(&mut program, cli_entries(&files["m_cli.txt"]));
    assert_same(&program, forest, most_rows);
    let entries = p4runtime_entries(&files["m_p4runtime.txtpb"], &program);
    load(&mut program, entries);
    assert_same(&program, forest, most_rows);
}

/// Gives every table its entries, and no other.
fn load(program: &mut Program, mut entries: BTreeMap<String, Vec<RawEntry>>) {
    let tables: Vec<String> = program.tables.keys().cloned().collect();
    for table in tables {
        program.load(&table, entries.remove(&table).unwrap_or_default());
    }
    assert!(entries.is_empty(), "{entries:?}");
}

/// `table_add TABLE ACTION VALUE&&&MASK ... => DATA ... PRIORITY`; the lowest priority wins.
fn cli_entries(text: &str) -> BTreeMap<String, Vec<RawEntry>> {
    let mut entries: BTreeMap<String, Vec<RawEntry>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (key, data) = line.split_once(" => ").expect("=>");
        let mut key = key.split(' ');
        assert_eq!(key.next(), Some("table_add"));
        let mut name = || {
            let name = key.next().and_then(|name| name.strip_prefix("Ingress.oracle."));
            name.expect("a name in the control").to_owned()
        };
        let (table, action) = (name(), name());
        let pattern = |text: &str| {
            let (value, mask) = text.split_once("&&&").expect("&&&");
            (value.to_owned(), mask.to_owned())
        };
        let mut data: Vec<String> = data.split(' ').map(str::to_owned).collect();
        let priority: u32 = data.pop().expect("a priority").parse().expect("a number");
        let patterns = key.map(pattern).collect();
        let entry = RawEntry { action, patterns, priority: u32::MAX - priority, data };
        entries.entry(table).or_default().push(entry);
    }
    entries
}

/// Updates of a WriteRequest; the highest priority wins.
fn p4runtime_entries(text: &str, program: &Program) -> BTreeMap<String, Vec<RawEntry>> {
    let mut entries: BTreeMap<String, Vec<RawEntry>> = BTreeMap::new();
    for update in text.split("updates {").skip(1) {
        let number = |field: &str| -> u32 {
            let (_, rest) = update.split_once(field).expect(field);
            rest.split_whitespace().next().expect(field).parse().expect("a number")
        };
        let (table_id, action_id) = (number("table_id: "), number("action_id: "));
        let (name, table) =
            program.tables.iter().find(|(_, table)| table.id == table_id).expect("a table");
        assert_eq!(program.action(&table.action).id, action_id);
        let mut patterns = vec![("0x0".to_owned(), "0x0".to_owned()); table.keys.len()];
        for field in update.split("match { field_id: ").skip(1) {
            let at: usize = field.split(' ').next().expect("a field").parse().expect("a number");
            patterns[at - 1] = (bytes(field, "value: "), bytes(field, "mask: "));
            assert_ne!(patterns[at - 1].1, "0x00", "what may be anything is left out");
        }
        let params = update.split("params { ").skip(1);
        let data = params.map(|param| bytes(param, "value: ")).collect();
        let priority = number("priority: ");
        assert!(priority > 0);
        let action = table.action.clone();
        entries.entry(name.clone()).or_default().push(RawEntry {
            action,
            patterns,
            priority,
            data,
        });
    }
    entries
}

/// A string of octal escapes as hexadecimal.
fn bytes(text: &str, field: &str) -> String {
    let (_, rest) = text.split_once(&format!("{field}\"")).expect(field);
    let octal = rest.split('"').next().expect("a string").split('\\').skip(1);
    let bytes: Vec<u8> =
        octal.map(|digits| u8::from_str_radix(digits, 8).expect("octal")).collect();
    assert!(bytes.len() == 1 || bytes[0] != 0, "the shortest form");
    bytes.iter().fold("0x".to_owned(), |hex, byte| hex + &format!("{byte:02x}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn programs_and_entries_score_what_their_forest_does(
        shape in shapes(1..=8), seed in any::<u64>(),
    ) {
        check(&random_forest(Shape { depth: shape.depth.min(5), ..shape }, seed), 400);
    }
}

#[test]
fn large_forests_are_the_same_in_p4() {
    for (trees, depth, features) in [(32, 8, 4), (32, 8, 12)] {
        let shape = Shape { trees, depth, features, largest: 2_000_000, stops: 5 };
        check(&random_forest(shape, 2), 60);
    }
}

#[test]
fn a_forest_without_lookups_is_a_number() {
    let tree = |weight| Tree { nodes: vec![Node::Leaf { weight }] };
    let features = vec!["x".to_owned()];
    let forest = Forest { features, vote_threshold: 30, trees: vec![tree(20), tree(11)] };
    check(&forest, 10);
}

/// Runs the emitted script, with a driver that writes entries down.
#[test]
fn the_tofino_script_loads_the_same_entries() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (trees, depth, features) in [(1, 0, 1), (2, 2, 3), (4, 4, 4), (32, 5, 12)] {
        let shape = Shape { trees, depth, features, largest: 2_000_000, stops: 20 };
        let forest = random_forest(shape, 4);
        let files = files(&forest, &origin_of(&forest, "m"), "tna");
        let mut program = Program::parse(&files["m_oracle.p4"]);
        fs::write(folder.path().join("m_bfrt.py"), &files["m_bfrt.py"]).expect("written");
        fs::write(folder.path().join("driver.py"), DRIVER).expect("written");
        let Some(mut python) = tool("python3", folder.path()) else { return };
        let mut names = BTreeMap::new();
        for (table, of) in &program.tables {
            let keys: Vec<&str> = of.keys.iter().map(|key| key.1.as_str()).collect();
            let params = &program.action(&of.action).params;
            let params: Vec<&str> = params.iter().map(|param| param.0.as_str()).collect();
            names.insert(table, (keys, params));
        }
        let names = serde_json::to_string(&names).expect("JSON");
        let printed = run(python.args(["driver.py", "m_bfrt.py", &names]));
        load(&mut program, cli_entries(&printed));
        assert_same(&program, &forest, 400);
    }
}

/// bfrt_python as far as the script uses it; prints the entries as commands of BMv2, whose
/// priorities have the same direction.
const DRIVER: &str = r#"
import json, sys
names = json.loads(sys.argv[2])
class Node:
    def __init__(self, path): self.path = path
    def __getattr__(self, name): return Node(self.path + [name])
    def __call__(self, **given):
        if self.path == ["bfrt", "complete_operations"]: return
        assert self.path[:5] == ["bfrt", "m_tna", "pipe", "Ingress", "oracle"], self.path
        table, method = self.path[5:]
        action = method.removeprefix("add_with_")
        keys, params = names[table]
        match = " ".join(f"{given.pop(k):#x}&&&{given.pop(k + '_mask'):#x}" for k in keys)
        priority = given.pop("MATCH_PRIORITY")
        data = " ".join(hex(given.pop(p)) for p in params)
        assert not given, given
        print(f"table_add Ingress.oracle.{table} Ingress.oracle.{action} {match} => {data} {priority}")
exec(open(sys.argv[1]).read(), {"bfrt": Node(["bfrt"])})
"#;

#[test]
fn both_targets_write_the_same_oracle() {
    let (forest, origin) = example();
    let name = "example_oracle.p4";
    assert_eq!(files(&forest, &origin, "p4")[name], files(&forest, &origin, "tna")[name]);
}

#[test]
fn what_does_not_fit_a_device_is_refused() {
    let refusal = |trees, depth, target: &str| {
        let forest = full_forest(trees, depth);
        let target = target.parse().expect("a target");
        match export(&forest, &origin_of(&forest, "m"), target) {
            Err(ExportError::Unsupported { problem, .. }) => problem,
            other => format!("{:?}", other.map(|files| files.len())),
        }
    };
    assert_eq!(refusal(8, 8, "tna"), "Ok(3)");
    assert!(refusal(16, 8, "tna").starts_with("features, codes and weights take 4368 bits"));
    assert!(refusal(1, 10, "tna").starts_with("tree 0 matches 1023 bits"));
    assert!(refusal(1, 12, "p4").contains("p4c takes fields of up to 2048 bits"));
    assert_eq!(refusal(16, 8, "p4"), "Ok(4)");
}

/// Complete trees that halve the values of one feature again and again.
fn full_forest(trees: usize, depth: u32) -> Forest {
    let mut nodes = Vec::new();
    for level in 0..depth {
        let size = 1_u32 << (31 - level);
        nodes.extend((0..1 << level).map(|at| {
            let left = (1 << (level + 1)) - 1 + 2 * at;
            let threshold = (2 * at + 1) * size - 1;
            Node::Split { feature: 0, threshold, left, right: left + 1 }
        }));
    }
    nodes.extend((0..1_u32 << depth).map(|at| Node::Leaf { weight: at as u8 }));
    let features = vec!["x".to_owned()];
    Forest { features, vote_threshold: 9, trees: vec![Tree { nodes }; trees] }
}
