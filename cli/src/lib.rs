//! The `dropcast` command as a library: arguments, progress and exit codes; `dropcast-pipeline` does
//! the work. The Python package runs the same command, and takes names and defaults from it.

mod args;
mod commands;

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
        Command::Run(args) => commands::run::run(args, &progress),
        Command::Simulate(args) => commands::simulate::run(args, &progress),
        Command::Collect(args) => commands::collect::run(args, &progress),
        Command::Train(args) => commands::train::run(args, &progress),
        Command::Import(args) => commands::import::run(args),
        Command::Sweep(args) => commands::sweep::run(args, &progress),
        Command::Rescale(args) => commands::rescale::run(args),
        Command::Switch(args) => commands::switch::run(args, &progress),
        Command::Counters(args) => commands::counters::run(args, &progress),
        Command::Export(args) => commands::export::run(args),
        Command::Verify(args) => commands::verify::run(args, &progress),
        Command::Resources(args) => commands::resources::run(args, &progress),
        Command::Report(args) => commands::report::run(args, &progress),
        Command::Inspect(args) => commands::inspect::run(args, &progress),
        Command::Completions(args) => shell_files::completions::<Cli>(args),
        Command::Man(args) => shell_files::man::<Cli>(args),
    }
}
