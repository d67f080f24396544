//! Rules of P4 compilers, checked on the emitted text, because no registry has such a compiler.

use crate::forests::{Shape, example_of, origin_of, random_forest};
use crate::p4_program::Program;
use dropcast_export::{Origin, export};
use dropcast_features::FeatureSet;
use dropcast_forest::Forest;
use std::collections::BTreeSet;

/// Every P4 text, for forests that differ in everything that affects the text.
fn programs() -> Vec<(String, String)> {
    let features: Vec<String> = FeatureSet::all().names();
    let mut forests: Vec<(Forest, Origin)> = vec![example_of(&features.join(","))];
    for (trees, depth, features) in [(1, 0, 1), (2, 2, 1), (4, 4, 4), (16, 6, 4), (5, 3, 12)] {
        let shape = Shape { trees, depth, features, largest: 2_000_000, stops: 10 };
        let forest = random_forest(shape, 7);
        let origin = origin_of(&forest, "Leaf load-80%");
        forests.push((forest, origin));
    }
    let of_target = |(forest, origin): &(Forest, Origin), target: &str| {
        let files = export(forest, origin, target.parse().expect("a target")).expect("exportable");
        let p4 = files.into_iter().filter(|file| file.name.ends_with(".p4"));
        p4.map(|file| (file.name, String::from_utf8(file.bytes).expect("text"))).collect::<Vec<_>>()
    };
    let layout = "trees=16,depth=6,bits=64";
    let targets = ["p4".to_owned(), format!("p4:{layout}")];
    let of_both = |forest| -> Vec<_> {
        targets.iter().flat_map(|target| of_target(forest, target)).collect()
    };
    forests.iter().flat_map(of_both).collect()
}

/// The lines without comments.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap_or("").trim_end())
}

/// Names that a text declares outside all braces, and its macros.
fn declared(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in code_lines(text).filter(|line| !line.starts_with([' ', '}', '@'])) {
        let separator = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let words: Vec<&str> = line.split(separator).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            ["control" | "parser" | "struct" | "header" | "define", name, ..]
            | ["const", "bit", _, name, ..]
            | ["V1Switch", .., name] => {
                names.insert((*name).to_owned());
            }
            [] | ["include" | "ifdef" | "ifndef" | "else" | "endif", ..] => {}
            _ => panic!("what is {line:?}?"),
        }
    }
    names
}

#[test]
fn no_name_is_one_that_the_architectures_declare() {
    let list = include_str!("../data/p4_names.txt");
    let taken: BTreeSet<&str> = list
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| line.split_once(": ").expect("a header and its names").1.split(' '))
        .collect();
    for known in ["Ingress", "Egress", "Deparser", "NoAction", "Switch", "IngressParserT", "Hash"] {
        assert!(taken.contains(known), "{known}");
    }
    let mut seen = BTreeSet::new();
    for (name, text) in programs() {
        let declared = declared(&text);
        let clash = declared.iter().find(|name| taken.contains(name.as_str()));
        assert_eq!(clash, None, "{name}");
        seen.extend(declared);
    }
    for expected in ["QueryIngress", "QueryEgress", "ExampleOracle", "headers_t", "main"] {
        assert!(seen.contains(expected), "{expected} in {seen:?}");
    }
}

/// The Tofino compiler takes a program apart into actions of one step and fields into containers:
/// it refuses comparisons of wide fields in conditions, casts between widths where the containers
/// have other parts, and statements that need more than one step.
#[test]
fn statements_are_such_that_tofino_takes_them() {
    for (name, text) in programs() {
        for line in code_lines(&text).map(str::trim) {
            assert!(!line.contains(">) "), "{name}: a cast in {line:?}");
            if line.starts_with("if") {
                assert_eq!(line, "if (hdr.query.isValid()) {", "{name}: a wide condition");
            }
            if line.starts_with("bit<") && line.contains(" = ") {
                let copies = line.ends_with(" asked_by = hdr.ethernet.source;");
                assert!(copies, "{name}: an initial value in {line:?}");
            }
            let statement = line.ends_with(';') && line.contains(" = ") && !line.contains(" : ");
            let operators = line.matches([' ', ';']).count();
            // `a = b;` or `a = b + c;`
            let simple = operators <= 5 || line.starts_with("const ") || line.contains("action = ");
            assert!(!statement || simple, "{name}: more than one step in {line:?}");
        }
    }
}

/// An action writes each container once, from one other; tables of features write containers of
/// their own.
#[test]
fn containers_have_one_source() {
    for (_, text) in programs().iter().filter(|(name, _)| name.ends_with("_oracle.p4")) {
        for macros in [&["EXAMPLE_RUNTIME_ENTRIES", "LEAF_LOAD_80_RUNTIME_ENTRIES"][..], &[]] {
            Program::parse(text, macros).assert_one_source_per_container();
        }
    }
}

/// Sums and the score share a group of 16 containers: 31 trees once added to 16 sums, which no compiler placed.
#[test]
fn no_program_has_more_sums_than_a_group_holds_beside_the_score() {
    for trees in [1, 16, 29, 30, 31, 32, 64] {
        let shape = Shape { trees, depth: 1, features: 4, largest: 2_000_000, stops: 0 };
        let forest = random_forest(shape, 1);
        let target = "p4".parse().expect("a target");
        let files = export(&forest, &origin_of(&forest, "m"), target).expect("exportable");
        let text = String::from_utf8(files[0].bytes.clone()).expect("text");
        let sums = code_lines(&text).filter(|line| line.trim().starts_with("bit<16> sum_")).count();
        assert!((1..=15).contains(&sums), "{trees} trees: {sums}");
    }
}
