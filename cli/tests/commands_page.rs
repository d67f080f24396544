//! The page of all commands and options, docs/commands.md: what the command says of itself.

use clap::{Arg, Command};
use std::fmt::Write;
use std::path::Path;

const INTRODUCTION: &str = "\
# Commands and options

Every command with its arguments. `dropcast COMMAND --help` says more, with examples. Fields of files of settings are in \
[settings.md](settings.md).

This page is written by `UPDATE_GOLDEN=1 cargo test --release --test commands_page`.
";

#[test]
fn the_page_says_what_the_command_says() {
    let mut page = INTRODUCTION.to_owned();
    for command in dropcast_cli::command().get_subcommands() {
        section(&mut page, command);
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/commands.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &page).expect("written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == page, "docs/commands.md is out of date: UPDATE_GOLDEN=1 writes it");
}

fn section(page: &mut String, command: &Command) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    write!(page, "\n## dropcast {}\n\n{about}.\n", command.get_name()).expect("text");
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()))
        .collect();
    if arguments.is_empty() {
        return;
    }
    page.push_str("\n| argument | default | what |\n|---|---|---|\n");
    for argument in arguments {
        let defaults: Vec<_> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.replace('|', "\\|").replace('<', "\\<");
        writeln!(page, "| `{}` | {} | {help} |", usage(argument), defaults.join(" "))
            .expect("text");
    }
}

/// `-o, --output PATH`, or the name of a positional argument.
fn usage(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let values: Vec<&str> = match argument.get_action().takes_values() {
        true => names.iter().map(|name| name.as_str()).collect(),
        false => Vec::new(),
    };
    let short = argument.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let long = argument.get_long().map(|long| format!("--{long} ")).unwrap_or_default();
    format!("{short}{long}{}", values.join(" ")).trim_end().to_owned()
}
