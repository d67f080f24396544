//! Emitted P4, read back and run.

use crate::forests::{Shape, origin_of, random_forest, shapes};
use crate::p4_program::{Call, Program, RawEntry, RawTable};
use dropcast_export::{ExportError, Origin, TableResources, Vectors, export};
use dropcast_forest::{Forest, Node, Tree};
use proptest::prelude::*;
use std::collections::BTreeMap;

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
    let oracle = &files["m_oracle.p4"];
    assert_same(&Program::parse(oracle, &["M_CONST_ENTRIES"]), forest, most_rows);
    let mut program = Program::parse(oracle, &["M_RUNTIME_ENTRIES"]);
    // Loaded twice, like a retrained model.
    let twice = files["m_cli.txt"].repeat(2);
    let entries = cli_entries(&twice);
    for (name, of) in &entries {
        assert_eq!(program.tables[name].size, Some(of.entries.len().max(1)), "{name}");
    }
    program.load(entries);
    assert_same(&program, forest, most_rows);
    let entries = p4runtime_entries(&files["m_p4runtime.txtpb"], &program);
    program.load(entries);
    assert_same(&program, forest, most_rows);
}

/// Runs the commands as simple_switch_CLI does.
fn cli_entries(text: &str) -> BTreeMap<String, RawTable> {
    let mut tables: BTreeMap<String, RawTable> = BTreeMap::new();
    let name = |name: &str| {
        let name = name.strip_prefix("QueryIngress.oracle.");
        name.expect("a name in the control").to_owned()
    };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (key, data) = line.split_once(" => ").unwrap_or((line, ""));
        let words: Vec<&str> = key.split(' ').collect();
        let call = |action: &str, data: &[&str]| Call {
            action: name(action),
            data: data.iter().map(|data| (*data).to_owned()).collect(),
        };
        match words.as_slice() {
            ["table_clear", table] => tables.entry(name(table)).or_default().entries.clear(),
            ["table_set_default", table, action, data @ ..] => {
                let table = tables.get_mut(&name(table)).expect("it was cleared");
                table.default = Some(call(action, data));
            }
            ["table_add", table, action, patterns @ ..] => {
                let table = tables.get_mut(&name(table)).expect("it was cleared");
                let pattern = |text: &&str| {
                    let (value, mask) = text.split_once("&&&").expect("&&&");
                    (value.to_owned(), mask.to_owned())
                };
                let data: Vec<&str> = data.split(' ').collect();
                let (priority, data) = data.split_last().expect("a priority");
                let priority: u32 = priority.parse().expect("a number");
                table.entries.push(RawEntry {
                    call: call(action, data),
                    patterns: patterns.iter().map(pattern).collect(),
                    // The lowest wins.
                    priority: u32::MAX - priority,
                });
            }
            // A blank line would run the command before once more.
            _ => panic!("what is {line:?}?"),
        }
    }
    tables
}

/// Updates of a WriteRequest; the highest priority wins.
fn p4runtime_entries(text: &str, program: &Program) -> BTreeMap<String, RawTable> {
    let mut tables: BTreeMap<String, RawTable> = BTreeMap::new();
    for update in text.split("updates {").skip(1) {
        let number = |field: &str| -> u32 {
            let (_, rest) = update.split_once(field).expect(field);
            rest.split_whitespace().next().expect(field).parse().expect("a number")
        };
        let (table_id, action_id) = (number("table_id: "), number("action_id: "));
        let (name, table) =
            program.tables.iter().find(|(_, table)| table.id == table_id).expect("a table");
        let action = table.actions.iter().find(|action| program.action(action).id == action_id);
        let params = update.split("params { ").skip(1);
        let data = params.map(|param| bytes(param, "value: ")).collect();
        let call = Call { action: action.expect("an action of the table").clone(), data };
        let given = tables.entry(name.clone()).or_default();
        if update.contains("is_default_action: true") {
            assert!(update.contains("type: MODIFY") && !update.contains("match {"));
            assert!(!update.contains("priority"));
            given.default = Some(call);
            continue;
        }
        assert!(update.contains("type: INSERT"));
        let mut patterns = vec![("0x0".to_owned(), "0x0".to_owned()); table.keys.len()];
        for field in update.split("match { field_id: ").skip(1) {
            let at: usize = field.split(' ').next().expect("a field").parse().expect("a number");
            patterns[at - 1] = (bytes(field, "value: "), bytes(field, "mask: "));
            assert_ne!(patterns[at - 1].1, "0x00", "what may be anything is left out");
        }
        let priority = number("priority: ");
        assert!(priority > 0);
        given.entries.push(RawEntry { call, patterns, priority });
    }
    tables
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

/// Harmless until entries are loaded: the default actions' score is no larger than any row's.
#[test]
fn no_drop_is_predicted_before_entries_are_loaded() {
    for seed in 0..20 {
        let shape = Shape { trees: 4, depth: 4, features: 4, largest: 2_000_000, stops: 20 };
        let forest = random_forest(shape, seed);
        let files = files(&forest, &origin_of(&forest, "m"), "p4");
        let program = Program::parse(&files["m_oracle.p4"], &["M_RUNTIME_ENTRIES"]);
        let vectors = Vectors::new(&forest, 3, 300).expect("sound");
        let features: BTreeMap<&str, u32> =
            forest.features.iter().map(|name| (name.as_str(), 0)).collect();
        let (score, drop) = program.run(&features);
        for row in vectors.rows() {
            assert!(score <= forest.score(row), "{seed}: {row:?}");
            assert!(!drop || forest.predicts_drop(row), "{seed}: {row:?}");
        }
    }
}

/// Many constants slow p4c down, so large forests have none by default.
#[test]
fn entries_of_large_forests_are_loaded_at_run_time() {
    for (depth, constant) in [(4, true), (6, false)] {
        let shape = Shape { trees: 4, depth, features: 4, largest: 2_000_000, stops: 0 };
        let forest = random_forest(shape, 1);
        let oracle = &files(&forest, &origin_of(&forest, "m"), "p4")["m_oracle.p4"];
        for (macros, expected) in [
            (&[][..], constant),
            (&["M_CONST_ENTRIES"][..], true),
            (&["M_RUNTIME_ENTRIES"][..], false),
        ] {
            let program = Program::parse(oracle, macros);
            assert_eq!(program.tables["tree_0"].is_const, expected, "{depth} {macros:?}");
            assert_eq!(program.tables["vote"].is_const, expected);
        }
    }
}

/// The stages of the emitted text are those that `resources` counts, and few.
#[test]
fn stages_are_those_of_the_text() {
    for (trees, depth, most) in [(1, 1, 3), (4, 4, 8), (16, 6, 12), (5, 3, 9), (1, 0, 0)] {
        let shape = Shape { trees, depth, features: 4, largest: 2_000_000, stops: 10 };
        let forest = random_forest(shape, 5);
        let origin = origin_of(&forest, "m");
        let oracle = &files(&forest, &origin, "p4")["m_oracle.p4"];
        let stages = Program::parse(oracle, &[]).stages();
        let last = stages.iter().map(|(_, stage)| *stage).max().expect("there is the vote");
        let totals = TableResources::new(&forest, &origin).expect("sound").totals;
        // A vote on a constant needs no table.
        assert_eq!(totals.stages, if depth == 0 { 0 } else { last }, "{stages:?}");
        assert!(totals.stages <= most);
        for (table, stage) in &stages {
            assert!(!table.starts_with("code_") || *stage == 1, "tables of features share a stage");
            assert_eq!(table == "vote", *stage == last, "the answer is written at once");
        }
        let text = files(&forest, &origin, "p4");
        let entries = text["m_cli.txt"].matches("table_add").count();
        assert_eq!(totals.loaded_entries, entries as u64);
    }
}

const LAYOUT: &str = "trees=4,depth=4";

/// Retrained models are entries only: the program's text is the same, byte by byte.
#[test]
fn programs_of_a_layout_are_the_same_for_every_model() {
    for (target, layout) in [
        ("p4", LAYOUT),
        ("p4", "trees=7,depth=6,bits=40,prefixes=2000"),
        ("p4", "trees=300,depth=4,bits=8"),
    ] {
        let target = &format!("{target}:{layout}");
        let mut program: Option<BTreeMap<String, String>> = None;
        let mut before = String::new();
        for (seed, trees, depth) in [(1, 4, 4), (2, 4, 4), (3, 2, 3), (4, 4, 2), (5, 1, 0)] {
            let shape = Shape { trees, depth, features: 4, largest: 2_000_000, stops: 10 };
            let forest = random_forest(shape, seed);
            let name = format!("model_{seed}");
            let (p4, entries): (BTreeMap<_, _>, BTreeMap<_, _>) =
                files(&forest, &origin_of(&forest, &name), target)
                    .into_iter()
                    .partition(|(name, _)| name.ends_with(".p4"));
            assert!(entries.keys().all(|file| file.starts_with(&name)));
            assert_eq!(program.get_or_insert_with(|| p4.clone()), &p4, "{seed}");
            let oracle = &p4["dropcast_oracle.p4"];
            assert!(!oracle.contains("#ifdef") && !oracle.contains("const entries"));
            let mut program = Program::parse(oracle, &[]);
            assert!(!program.run(&row(&forest, &[0; 4])).1, "no drop before entries are loaded");
            let Some(cli) = entries.get(&format!("{name}_cli.txt")) else { continue };
            if !before.is_empty() {
                predicts_no_drop_before_the_vote(&mut program, &before, cli, &forest);
            }
            before.clone_from(cli);
            program.load(cli_entries(cli));
            assert_same(&program, &forest, 400);
            let runtime = &entries[&format!("{name}_p4runtime.txtpb")];
            let removed = &entries[&format!("{name}_p4runtime_remove.txtpb")];
            assert_eq!(updates(removed, "DELETE"), updates(runtime, "INSERT"));
            let runtime = p4runtime_entries(runtime, &program);
            program.load(runtime);
            assert_same(&program, &forest, 400);
        }
    }
}

/// What a request does of a kind, in the order of its text without that.
fn updates(text: &str, kind: &str) -> Vec<String> {
    let of = text.split("updates {").skip(1).filter(|update| update.contains(kind));
    let mut of: Vec<String> = of
        .map(|update| update.lines().filter(|line| !line.starts_with('#')).skip(2).collect())
        .collect();
    of.sort();
    of
}

/// While a model's commands replace those of the one before, no drop is predicted until the vote is loaded.
fn predicts_no_drop_before_the_vote(
    program: &mut Program,
    before: &str,
    commands: &str,
    forest: &Forest,
) {
    let lines: Vec<&str> = commands.lines().filter(|line| !line.starts_with('#')).collect();
    let votes =
        lines.iter().position(|line| line.starts_with("table_add") && line.contains("vote"));
    let vectors = Vectors::new(forest, 3, 20).expect("sound");
    let votes = votes.unwrap_or(lines.len());
    for loaded in (2..=votes).step_by(votes.div_ceil(7).max(1)) {
        program.load(cli_entries(&format!("{before}{}", lines[..loaded].join("\n"))));
        for values in vectors.rows().iter().step_by(vectors.rows().len().div_ceil(20)) {
            assert!(!program.run(&row(forest, values)).1, "after {loaded} commands");
        }
    }
}

fn row<'a>(forest: &'a Forest, values: &[u32]) -> BTreeMap<&'a str, u32> {
    forest.features.iter().map(String::as_str).zip(values.iter().copied()).collect()
}

/// Forests of exactly the layout's size fit; one more of anything does not.
#[test]
fn a_model_that_does_not_fit_a_layout_is_refused() {
    let refusal = |forest: &Forest, layout: &str| {
        let target = format!("p4:{layout}").parse().expect("a target");
        match export(forest, &origin_of(forest, "m"), target) {
            Err(error) => error.to_string(),
            Ok(_) => "fits".to_owned(),
        }
    };
    let full = full_forest(2, 3);
    assert_eq!(refusal(&full, "trees=2,depth=3"), "fits");
    let refused = "the forest cannot be exported to a fixed layout: ";
    for (layout, problem) in [
        (
            "trees=1,depth=3",
            "2 trees, the layout has room for 1 (trees); the layout is \
             trees=1,depth=3,bits=7,prefixes=513",
        ),
        (
            "trees=2,depth=2",
            "tree 0 has 8 leaves, the layout has room for 4 (depth); the layout is \
             trees=2,depth=2,bits=3,prefixes=513",
        ),
        (
            "trees=2,depth=3,bits=6",
            "tree 0 has 7 thresholds of x, the layout has room for 6 (bits); the layout is \
             trees=2,depth=3,bits=6,prefixes=513",
        ),
        (
            "trees=2048,depth=12",
            "it takes 8386560 bits of codes for 1 features, at most 262144: fewer trees, or fewer \
             bits",
        ),
        (
            "trees=2,depth=3,prefixes=7",
            "x takes 8 prefixes, the layout has room for 7 (prefixes); the layout is \
             trees=2,depth=3,bits=7,prefixes=7",
        ),
    ] {
        assert_eq!(refusal(&full, layout), format!("{refused}{problem}"));
    }
    // Trees that are the same for every row need no tables, but room in the score.
    let always = |weight| Tree { nodes: vec![Node::Leaf { weight }] };
    let trees = [full.trees.clone(), vec![always(255); 2]].concat();
    let high = Forest { trees, ..full.clone() };
    assert!(refusal(&high, "trees=2,depth=3").starts_with(&format!("{refused}scores reach 524,")));
    assert_eq!(refusal(&Forest { trees: vec![always(9); 40], ..full }, "trees=2,depth=3"), "fits");
}

#[test]
fn features_may_have_any_name() {
    let shape = Shape { trees: 2, depth: 3, features: 4, largest: 2_000_000, stops: 0 };
    let mut forest = random_forest(shape, 3);
    forest.features = ["score", "in", "lambda", "codes"].map(str::to_owned).to_vec();
    let origin = origin_of(&forest, "m");
    let oracle = &files(&forest, &origin, "p4")["m_oracle.p4"];
    let fields = ["feature_score", "feature_in", "feature_lambda", "codes"];
    for field in fields {
        assert!(oracle.contains(&format!("    bit<32> {field};")), "{oracle}");
    }
    forest.features[3] = "feature-in".to_owned();
    let origin = origin_of(&forest, "m");
    let error = export(&forest, &origin, "p4".parse().expect("a target")).expect_err("same name");
    assert_eq!(error, ExportError::SameName("in".to_owned(), "feature-in".to_owned()));
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
