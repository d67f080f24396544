//! Exit codes: 0 ok, 1 the user's error or a failed gate, 2 ours.

use dropcast_collect::CollectError;
use dropcast_data::DataError;
use dropcast_export::ExportError;
use dropcast_simulate::WorkloadError;
use dropcast_train::{ModelError, TrainError};
use std::io::Write;
use std::process::ExitCode;
use std::thread;

/// Something the user asked for that can't be done.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UserError(pub(crate) String);

/// The exit code of a command, after telling on stderr what went wrong.
pub(crate) fn exit_code(result: thread::Result<anyhow::Result<()>>) -> ExitCode {
    match result {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Ok(Err(error)) if is_the_users(&error) => {
            tell(&format!("error: {error:#}"));
            ExitCode::from(1)
        }
        Ok(Err(error)) => {
            tell(&format!("internal error: {error:#}"));
            ExitCode::from(2)
        }
        // The panic hook has told what and where.
        Err(_) => {
            tell(
                "internal error: this is a bug in dropcast, please report it with the lines above",
            );
            ExitCode::from(2)
        }
    }
}

/// Prints what `clap` has to say: help and version are data, the rest are the user's errors.
pub(crate) fn of_arguments(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    if error.use_stderr() || printed.is_err() { ExitCode::from(1) } else { ExitCode::SUCCESS }
}

fn tell(message: &str) {
    // Nobody is left to be told if stderr is gone.
    let _ = writeln!(std::io::stderr(), "{message}");
}

fn is_the_users(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<UserError>()
            || cause.is::<DataError>()
            || cause.is::<CollectError>()
            || cause.is::<TrainError>()
            || cause.is::<ModelError>()
            || cause.is::<ExportError>()
            || cause.is::<WorkloadError>()
            || cause.is::<dropcast_features::UnknownFeature>()
            || cause.is::<dropcast_train::ParamError>()
            || cause.is::<toml::de::Error>()
    })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
