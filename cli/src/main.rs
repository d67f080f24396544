//! The `dropcast` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(dropcast_cli::run_command(std::env::args_os()))
}
