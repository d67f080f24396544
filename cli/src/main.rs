//! The `dropcast` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    dropcast_terminal::start();
    #[cfg(feature = "object-store")]
    dropcast_objects::install();
    ExitCode::from(dropcast_cli::run_command(std::env::args_os()))
}
