//! Exit codes: 0 ok, 1 the user's error or a failed gate, 2 ours.

use dropcast_data::{DataError, printable};
use dropcast_features::with_suggestion;
use dropcast_pipeline::PipelineError;
use dropcast_reports::PageError;
use std::error::Error;
use std::io::{self, Write};
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::thread;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The pipeline failed.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// A gate that the user asked for: the model is not verified.
    #[error("not verified: {0}")]
    NotVerified(String),
    /// A gate that the user asked for: a file has rows that cannot be used.
    #[error("{0}: has rows that cannot be used, they are listed above")]
    BadRows(String),
    /// A gate that the user asked for: a condition holds of a report.
    #[error("a condition holds: {0}")]
    ConditionHolds(String),
    /// Standard output cannot be written. Results are printed once they are in their files.
    #[error("standard output: cannot be written; files that the command writes are complete")]
    Output(#[source] io::Error),
    /// A page or figure cannot be made. A defect of ours.
    #[error(transparent)]
    Page(#[from] PageError),
    /// A result cannot be written as JSON. A defect of ours.
    #[error("the result cannot be written as JSON")]
    Json(#[from] serde_json::Error),
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Failure::Pipeline(error.into())
    }
}

impl Failure {
    fn is_the_users(&self) -> bool {
        match self {
            Failure::Pipeline(error) => error.is_the_users(),
            Failure::NotVerified(_)
            | Failure::BadRows(_)
            | Failure::ConditionHolds(_)
            | Failure::Output(_) => true,
            Failure::Page(_) | Failure::Json(_) => false,
        }
    }
}

/// The exit code of a command, after reporting its error on stderr.
pub(crate) fn exit_code(result: thread::Result<Result<(), Failure>>) -> u8 {
    match result {
        Ok(Ok(())) => 0,
        Ok(Err(error)) if is_broken_pipe(&error) => 0,
        Ok(Err(error)) if error.is_the_users() => {
            print_error(&format!("error: {}", message(&error)));
            1
        }
        Ok(Err(error)) => {
            print_error(&format!("internal error: {}", message(&error)));
            2
        }
        // The panic hook has printed what and where.
        Err(_) => {
            print_error(
                "internal error: this is a bug in dropcast, please report it with the lines above",
            );
            2
        }
    }
}

/// What a number that cannot be read should be, in place of the standard library's words for it.
fn expected(error: &(dyn Error + 'static)) -> Option<&'static str> {
    if error.is::<ParseFloatError>() {
        return Some("expected a number");
    }
    Some(match error.downcast_ref::<ParseIntError>()?.kind() {
        IntErrorKind::PosOverflow => "the number is too large",
        IntErrorKind::Zero => "expected a whole number from 1 on",
        _ => "expected a whole number",
    })
}

/// A message of `clap` about arguments.
pub fn argument_message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    match error.source().and_then(|cause| Some((cause, expected(cause)?))) {
        Some((cause, words)) => text.replacen(&cause.to_string(), words, 1),
        None => text,
    }
}

/// Prints `clap`'s messages: help and version are data, the rest are the user's errors.
pub(crate) fn of_arguments(error: &clap::Error) -> u8 {
    if error.source().is_some_and(|cause| expected(cause).is_some()) {
        // If stderr is closed, nobody can read it.
        let _ = writeln!(io::stderr(), "{}", argument_message(error).trim_end());
        return 1;
    }
    match error.print() {
        Ok(()) if error.use_stderr() => 1,
        Ok(()) => 0,
        Err(error) => exit_code(Ok(Err(Failure::Output(error)))),
    }
}

/// An error and its causes.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> Vec<&'a (dyn Error + 'static)> {
    let mut chain: Vec<&'a (dyn Error + 'static)> = vec![error];
    while let Some(cause) = chain[chain.len() - 1].source() {
        chain.push(cause);
    }
    chain
}

/// An error and its causes in one line, without causes that an error already contains. A misspelt name of a setting has the one
/// that is meant.
pub fn message(error: &(dyn Error + 'static)) -> String {
    let mut message = String::new();
    for cause in chain(error) {
        let cause = cause.to_string();
        let cause = cause.trim_end();
        if message.is_empty() {
            message.push_str(cause);
        } else if !message.ends_with(cause) {
            message.push_str(": ");
            message.push_str(cause);
        }
    }
    with_suggestion(&message)
}

/// Later lines of a message are indented: a name with a newline in it does not look like another message.
fn print_error(message: &str) {
    let message = printable(message).replace('\n', "\n  ");
    // If stderr is closed, nobody can read it.
    let _ = writeln!(io::stderr(), "{message}");
}

fn is_broken_pipe(error: &Failure) -> bool {
    chain(error).into_iter().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
