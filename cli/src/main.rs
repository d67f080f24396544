//! The `dropcast` command: arguments, progress and exit codes; the work is done in the libraries.

mod args;
mod commands;
mod config;
mod failure;
mod measured;
mod output;
mod output_file;
mod progress;
mod replays;
mod statistics;
mod sweep_config;
mod sweep_files;
mod sweep_parts;
mod table_cost;
mod traces;
mod training;

use args::{Cli, Command};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(error) => return failure::of_arguments(&error),
    };
    failure::exit_code(std::panic::catch_unwind(|| run(cli)))
}

fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Run(args) => commands::run::run(&args),
        Command::Simulate(args) => commands::simulate::run(&args),
        Command::Collect(args) => commands::collect::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Sweep(args) => commands::sweep::run(&args),
        Command::Rescale(args) => commands::rescale::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Resources(args) => commands::resources::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Inspect(args) => commands::inspect::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
    }
}
