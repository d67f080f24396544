//! The `dropcast` command as a library: arguments, progress and exit codes; `dropcast-pipeline` does
//! the work. The Python package runs the same command, and takes names and defaults from it.

mod args;
mod commands;
mod failure;
mod output;
mod progress;

use args::{Cli, Command};
use failure::Failure;

use clap::{CommandFactory, Parser};
pub use failure::{argument_message, message};
use progress::Terminal;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the command with these arguments, the first of which is its name. Returns its exit code.
pub fn run_command<A>(args: impl IntoIterator<Item = A>) -> u8
where
    A: Into<OsString> + Clone,
{
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return failure::of_arguments(&error),
    };
    // Nothing reads the arguments after a panic.
    failure::exit_code(catch_unwind(AssertUnwindSafe(|| run(&cli.command))))
}

/// Every command, argument and default.
pub fn command() -> clap::Command {
    Cli::command()
}

fn run(command: &Command) -> Result<(), Failure> {
    let progress = Terminal::default();
    match command {
        Command::Run(args) => commands::run::run(args, &progress),
        Command::Simulate(args) => commands::simulate::run(args, &progress),
        Command::Collect(args) => commands::collect::run(args, &progress),
        Command::Train(args) => commands::train::run(args, &progress),
        Command::Refine(args) => commands::refine::run(args, &progress),
        Command::Import(args) => commands::import::run(args),
        Command::Sweep(args) => commands::sweep::run(args, &progress),
        Command::Map(args) => commands::map::run(args, &progress),
        Command::Rescale(args) => commands::rescale::run(args),
        Command::Switch(args) => commands::switch::run(args, &progress),
        Command::Counters(args) => commands::counters::run(args, &progress),
        Command::Export(args) => commands::export::run(args),
        Command::Verify(args) => commands::verify::run(args, &progress),
        Command::Resources(args) => commands::resources::run(args, &progress),
        Command::Report(args) => commands::report::run(args, &progress),
        Command::Inspect(args) => commands::inspect::run(args, &progress),
        Command::Reproduce(args) => commands::reproduce::run(args, &progress),
        Command::Completions(args) => commands::shell_files::completions(args),
        Command::Man(args) => commands::shell_files::man(args),
    }
}
