//! The `dropcast-lab` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    dropcast_terminal::start();
    ExitCode::from(dropcast_lab::command::run_command(std::env::args_os()))
}
