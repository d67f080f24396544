//! docs/papers.md leaves out no figure, table or numbered claim of the five papers, and names commands that exist.

use crate::room::Room;
use std::collections::BTreeMap;

const PAGE: &str = include_str!("../../../docs/papers.md");

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
                assert!(
                    stands_on.contains("](") || command.contains("`dropcast "),
                    "{paper}, {what}: a number without a command or a page"
                );
            }
        }
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
    let named = PAGE.split("dropcast reproduce ").skip(1);
    let named: Vec<&str> = named.filter_map(|rest| rest.split([' ', '`', '\n']).next()).collect();
    assert!(named.len() > 5, "{named:?}");
    for name in named {
        assert!(known.contains(&name), "{name} is not among {known:?}");
    }
}
