//! Exit codes: 0 ok, 1 the user's error or a failed gate, 2 ours.

use dropcast_collect::CollectError;
use dropcast_data::DataError;
use dropcast_export::ExportError;
use dropcast_forest::ModelError;
use dropcast_interop::ImportError;
use dropcast_pipeline::report::BuildError;
use dropcast_pipeline::reproduce::fig14::Fig14Error;
use dropcast_replay::ForestReplayError;
use dropcast_simulate::WorkloadError;
use dropcast_train::{TrainError, VoteError};
use std::io::{self, Write};
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
            tell(&format!("error: {}", message(&error)));
            ExitCode::from(1)
        }
        Ok(Err(error)) => {
            tell(&format!("internal error: {}", message(&error)));
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
    match error.print() {
        Ok(()) if error.use_stderr() => ExitCode::from(1),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit_code(Ok(Err(cannot_print(error)))),
    }
}

/// Why nothing more can be printed on stdout.
pub(crate) fn cannot_print(source: io::Error) -> anyhow::Error {
    DataError::Io { file: "standard output".to_owned(), doing: "be written", source }.into()
}

/// An error and its causes in one line; some errors repeat their cause in their own words.
fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        let cause = cause.trim_end();
        if message.is_empty() {
            message.push_str(cause);
        } else if !message.ends_with(cause) {
            message.push_str(": ");
            message.push_str(cause);
        }
    }
    message
}

fn tell(message: &str) {
    // Nobody is left to be told if stderr is gone.
    let _ = writeln!(io::stderr(), "{message}");
}

fn is_the_users(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<UserError>()
            || cause.is::<DataError>()
            || cause.is::<CollectError>()
            || cause.is::<TrainError>()
            || cause.is::<ModelError>()
            || cause.is::<ExportError>()
            || cause.is::<ImportError>()
            || cause.is::<BuildError>()
            || cause.is::<ForestReplayError>()
            || cause.is::<VoteError>()
            || cause.is::<Fig14Error>()
            || cause.is::<WorkloadError>()
            || cause.is::<dropcast_features::UnknownFeature>()
            || cause.is::<dropcast_train::ParamError>()
            || cause.is::<toml::de::Error>()
    })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
