//! The `dropcast-lab` command: arguments in, tables on standard output.

mod args;
mod kept_runs;
mod map;
mod refine;
mod reproduce;
mod simulate;

use args::{Cli, Command};
use clap::CommandFactory;
use dropcast_terminal::{Failure, Terminal, shell_files};
use std::ffi::OsString;

/// Runs the command with these arguments, the first of which is its name. Returns its exit code.
pub fn run_command<A>(args: impl IntoIterator<Item = A>) -> u8
where
    A: Into<OsString> + Clone,
{
    dropcast_terminal::run_command(args, run)
}

/// Every command, argument and default.
pub fn command() -> clap::Command {
    Cli::command()
}

fn run(cli: &Cli) -> Result<(), Failure> {
    let progress = Terminal::default();
    match &cli.command {
        Command::Simulate(args) => simulate::run(args, &progress),
        Command::Map(args) => map::run(args, &progress),
        Command::Refine(args) => refine::run(args, &progress),
        Command::Reproduce(args) => reproduce::run(args, &progress),
        Command::Completions(args) => shell_files::completions::<Cli>(args),
        Command::Man(args) => shell_files::man::<Cli>(args),
    }
}
