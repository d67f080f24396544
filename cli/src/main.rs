//! The `dropcast` command.

#[cfg(unix)]
mod signals;

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    signals::survive_large_writes();
    signals::leave_nothing_at_signals();
    #[cfg(feature = "object-store")]
    dropcast_objects::install();
    ExitCode::from(dropcast_cli::run_command(std::env::args_os()))
}
