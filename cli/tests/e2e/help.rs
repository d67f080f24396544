//! The command's help, and that it is true.

use crate::room::{Room, check_shown};
use std::path::Path;

const COMMANDS: [&str; 17] = [
    "",
    "run",
    "simulate",
    "collect",
    "train",
    "import",
    "sweep",
    "switch",
    "counters",
    "rescale",
    "export",
    "verify",
    "resources",
    "report",
    "inspect",
    "completions",
    "man",
];

#[test]
fn help_of_every_command() {
    let room = Room::new();
    for command in COMMANDS {
        let name =
            if command.is_empty() { "dropcast".to_owned() } else { command.replace(' ', "-") };
        insta::assert_snapshot!(name, room.good(&format!("{command} --help")));
    }
}

/// The main help would list a command missing above.
#[test]
fn every_command_is_listed_above() {
    let room = Room::new();
    let check = |parent: &str| {
        let help = room.good(&format!("{parent} --help"));
        let (_, commands) = help.split_once("help:\n").unwrap();
        let (commands, _) = commands.split_once("\n\nOptions:").unwrap();
        for line in commands.lines().filter(|line| line.starts_with("  ")) {
            let command = line.split_whitespace().next().unwrap();
            let name = format!("{parent} {command}");
            assert!(command == "help" || COMMANDS.contains(&name.trim()), "{name}");
        }
    };
    check("");
}

#[test]
fn version() {
    let said = Room::new().good("--version");
    let rest = said.strip_prefix(concat!("dropcast ", env!("CARGO_PKG_VERSION"))).unwrap();
    // The commit is known where git is.
    let commit = rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let is_commit = |text: &str| text.len() >= 7 && text.chars().all(|of| of.is_ascii_hexdigit());
    assert!(rest == "\n" || commit.is_some_and(is_commit), "{said}");
}

#[test]
fn misuse_is_answered_with_the_usage() {
    let room = Room::new();
    let mut transcript = String::new();
    for typed in [
        "",
        "label",
        "run --sed 1",
        "inspect",
        "train -o model.json",
        "simulate",
        "simulate -o events.parquet --runs 3",
        "inspect trace.parquet --statistics --own mine",
        "report --data trace.parquet --rows all",
    ] {
        let said = room.dropcast(typed);
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
        transcript.push_str(&format!("{said}\n"));
    }
    insta::assert_snapshot!(transcript);
}

/// Every command in the help and the documents parses. A file named `runs` stops `run` early.
#[test]
#[ignore = "slow"]
fn commands_that_are_shown_are_understood() {
    let room = Room::new();
    room.write("runs", "");
    let help = COMMANDS.map(|command| room.good(&format!("{command} --help")));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    check_shown("dropcast ", &room, help, &[root.join("README.md"), root.join("docs")]);
}
