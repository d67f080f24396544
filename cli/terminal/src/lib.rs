//! What `dropcast` and `dropcast-lab` share with whoever types them: arguments and exit codes, messages, progress,
//! results as text or JSON, signals, completions and man pages.

mod failure;
mod output;
mod progress;
pub mod shell_files;
#[cfg(unix)]
mod signals;

use clap::Parser;
pub use failure::{Failure, argument_message, message};
pub use output::{
    OutputFormat, argument, arguments, check_data, next, print, print_answer, print_beside,
    print_text, shown,
};
pub use progress::Terminal;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Prepares a process: a signal leaves no working folder behind.
pub fn start() {
    #[cfg(unix)]
    {
        signals::survive_large_writes();
        signals::leave_nothing_at_signals();
    }
}

/// Runs a command with these arguments, the first of which is its name. Returns its exit code.
pub fn run_command<C, A>(
    args: impl IntoIterator<Item = A>,
    run: impl FnOnce(&C) -> Result<(), Failure>,
) -> u8
where
    C: Parser,
    A: Into<OsString> + Clone,
{
    let parsed = match C::try_parse_from(args) {
        Ok(parsed) => parsed,
        Err(error) => return failure::of_arguments(&error),
    };
    // Nothing reads the arguments after a panic.
    failure::exit_code(catch_unwind(AssertUnwindSafe(|| run(&parsed))))
}
