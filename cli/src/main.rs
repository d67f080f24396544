//! The `dropcast` command: arguments, progress and exit codes; `dropcast-pipeline` does the work.

mod args;
mod commands;
mod failure;
mod output;
mod progress;
mod words;

use args::{Cli, Command};
use failure::Failure;
use progress::Terminal;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(error) => return failure::of_arguments(&error),
    };
    failure::exit_code(std::panic::catch_unwind(|| run(&cli.command)))
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
        Command::Export(args) => commands::export::run(args),
        Command::Verify(args) => commands::verify::run(args, &progress),
        Command::Resources(args) => commands::resources::run(args, &progress),
        Command::Report(args) => commands::report::run(args, &progress),
        Command::Inspect(args) => commands::inspect::run(args),
        Command::Reproduce(args) => commands::reproduce::run(args, &progress),
    }
}
