//! The command's help, and that it is true.

use crate::room::{Room, check_shown};
use std::path::Path;

const COMMANDS: [&str; 7] = ["", "simulate", "map", "refine", "reproduce", "completions", "man"];

/// The commands that a command's help lists.
fn listed(help: &str) -> Vec<&str> {
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.split("\n\n").next().unwrap().lines();
    let names = commands.filter(|line| !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap()).collect()
}

#[test]
fn help_of_every_command() {
    let room = Room::new();
    for command in COMMANDS {
        let help = room.good(&format!("{command} --help"));
        let name = if command.is_empty() { "dropcast-lab" } else { command };
        insta::assert_snapshot!(name, help);
        if command.is_empty() {
            let missing = listed(&help).into_iter().find(|name| !COMMANDS.contains(name));
            assert_eq!(missing, Some("help"));
        }
    }
    // Each figure has its help, too.
    let figures = room.good("reproduce --help");
    for figure in listed(&figures).into_iter().filter(|name| *name != "help") {
        room.good(&format!("reproduce {figure} --help"));
    }
}

/// The script that lets commands fail knows each that writes files.
#[test]
fn every_command_that_writes_is_in_the_fault_trials() {
    let faults = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dev/benches/faults.py");
    let dropcast = crate::program("run");
    let output = std::process::Command::new("python3")
        .args([faults.as_path(), Path::new("--list"), Path::new("--dropcast"), &dropcast])
        .output()
        .expect("Python is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Every command in the help and the documents parses.
#[test]
#[ignore = "slow"]
fn commands_that_are_shown_are_understood() {
    let room = Room::new();
    let help = COMMANDS.map(|command| room.good(&format!("{command} --help")));
    let lab = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = ["README.md", "notes", "../docs", "../README.md"].map(|page| lab.join(page));
    check_shown("dropcast-lab ", &room, help, &pages);
}
