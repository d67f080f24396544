//! lab/notes/papers.md leaves out no figure, table or numbered claim of the five papers, and names commands that exist.

use crate::room::Room;
use std::collections::BTreeMap;

const PAGE: &str = include_str!("../../notes/papers.md");

/// What each paper numbers, from its text; equations are those that the page answers.
const NUMBERED: [(&str, &[(&str, u32)]); 5] = [
    (
        "Credence",
        &[
            ("Figure", 15),
            ("Table", 1),
            ("Algorithm", 2),
            ("Definition", 4),
            ("Lemma", 2),
            ("Theorem", 2),
            ("Observation", 1),
        ],
    ),
    ("PRED", &[("Figure", 27), ("Table", 1), ("Algorithm", 1), ("Observation", 2)]),
    ("ABM", &[("Figure", 12), ("Definition", 1), ("Lemma", 2), ("Theorem", 5)]),
    ("Smartbuf", &[("Figure", 8), ("Algorithm", 1)]),
    ("NDT", &[("Figure", 12)]),
];

const VERDICTS: [&str; 5] = ["reproduces", "differs", "fails", "not covered", "no result"];

/// The rows of each paper's table, cell by cell, by paper.
fn rows() -> BTreeMap<&'static str, Vec<Vec<&'static str>>> {
    let sections = PAGE.split("\n## ").skip(1).filter_map(|section| section.split_once('\n'));
    let cells = |line: &'static str| -> Vec<&'static str> {
        line.trim().trim_matches('|').split('|').map(str::trim).collect()
    };
    let rows = |text: &'static str| {
        let lines = text.lines().filter(|line| line.starts_with("| ")).skip(1);
        lines.map(cells).collect()
    };
    sections.map(|(paper, text)| (paper, rows(text))).collect()
}

#[test]
fn every_figure_and_numbered_claim_of_the_papers_has_one_row() {
    let rows = rows();
    assert_eq!(rows.len(), NUMBERED.len(), "{:?}", rows.keys());
    for (paper, kinds) in NUMBERED {
        let names: Vec<&str> = rows[paper].iter().map(|cells| cells[0]).collect();
        for &(kind, last) in kinds {
            for number in 1..=last {
                let name = format!("{kind} {number}");
                let found = names.iter().filter(|other| **other == name).count();
                assert_eq!(found, 1, "{paper}, {name}");
            }
            let beyond = format!("{kind} {}", last + 1);
            assert!(!names.contains(&beyond.as_str()), "{paper} has no {beyond}");
        }
    }
    assert!(rows["NDT"].iter().any(|cells| cells[0] == "Table I"));
}

#[test]
fn every_row_has_a_verdict_and_what_it_stands_on() {
    for (paper, rows) in rows() {
        for cells in rows {
            let [what, theirs, command, ours, verdict] = cells[..] else {
                panic!("{paper}: {cells:?} has {} cells, expected 5", cells.len());
            };
            let bold: Vec<&str> = verdict.split("**").skip(1).step_by(2).collect();
            assert_eq!(bold.len(), 1, "{paper}, {what}: one verdict, {verdict}");
            assert!(VERDICTS.contains(&bold[0]), "{paper}, {what}: {}", bold[0]);
            assert!(!theirs.is_empty(), "{paper}, {what}");
            if ["reproduces", "differs", "fails"].contains(&bold[0]) {
                let stands_on = format!("{command}{ours}{verdict}");
                let is_command = ["`dropcast-lab ", "`dropcast ", "`cargo test "]
                    .iter()
                    .any(|c| command.contains(c));
                assert!(
                    stands_on.contains("](") || is_command,
                    "{paper}, {what}: a number without a command or a page"
                );
            }
        }
    }
}

/// What reproduces does so with other seeds, too, or the row says with how many.
#[test]
fn what_reproduces_was_run_with_three_sets_of_seeds() {
    for (paper, rows) in rows() {
        for cells in rows {
            let is_by_chance = cells[2].contains("`dropcast-lab reproduce");
            if cells[4].contains("**reproduces**") && is_by_chance {
                let says = cells[3..].concat();
                let is_said = ["three sets", "nothing is random"].iter().any(|n| says.contains(n));
                assert!(is_said, "{paper}, {}: in how many sets of seeds?", cells[0]);
            }
        }
    }
}

/// The names of functions in the files of a folder, and of those in it.
fn tests_below(folder: &std::path::Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of tests") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            tests_below(&path, names);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = std::fs::read_to_string(&path).expect("text");
            let found = text.split("\n").filter_map(|line| line.trim().strip_prefix("fn "));
            names.extend(found.filter_map(|rest| rest.split('(').next()).map(str::to_owned));
        }
    }
}

#[test]
fn tests_on_the_page_are_there() {
    let named: Vec<&str> = PAGE.split("`cargo test -p dropcast-").skip(1).collect();
    assert!(named.len() > 10, "{}", named.len());
    for rest in named {
        let command = rest.split('`').next().expect("a command");
        let [package, "--test", target, test] = command.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{command}: not `PACKAGE --test TARGET TEST`");
        };
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let mut names = Vec::new();
        let crates = ["", "lab/"].map(|room| format!("{root}/{room}{package}"));
        let of_crate = crates.iter().find(|path| std::path::Path::new(path).is_dir());
        let folder = format!("{}/tests/{target}", of_crate.expect("a crate"));
        tests_below(std::path::Path::new(&folder), &mut names);
        assert!(names.iter().any(|name| name.contains(test)), "{command}: no such test");
    }
}

#[test]
fn commands_on_the_page_are_known() {
    let room = Room::new();
    let help = room.good_with_notes("reproduce --help");
    let listed = help.split_once("Commands:").expect("a list of commands").1;
    let known: Vec<&str> = listed
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(known.contains(&"fig6"), "{known:?}");
    let named = PAGE.split("dropcast-lab reproduce ").skip(1);
    let named: Vec<&str> = named.filter_map(|rest| rest.split([' ', '`', '\n']).next()).collect();
    assert!(named.len() > 5, "{named:?}");
    for name in named {
        assert!(known.contains(&name), "{name} is not among {known:?}");
    }
}
