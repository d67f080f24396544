//! Commands are all in the help.

use super::*;
use clap::CommandFactory;

#[test]
fn each_command_is_in_one_group() {
    let command = Cli::command();
    let mut names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    names.push("help");
    names.sort_unstable();
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    grouped.sort_unstable();
    assert_eq!(names, grouped);
}
