//! Data on stdout, as text or JSON.

use crate::failure::Failure;
use clap::ValueEnum;
use dropcast_data::{printable, printable_line};
use dropcast_pipeline::PipelineError;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// How a command prints its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// Prints a result: `text` for people, `value` for programs.
pub fn print<T: Serialize>(
    format: Format,
    value: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<(), Failure> {
    let mut printed = match format {
        Format::Text => text(value),
        Format::Json => serde_json::to_string_pretty(value)?,
    };
    if !printed.ends_with('\n') {
        printed.push('\n');
    }
    print_text(&printed)
}

/// Prints text, [for a terminal, too](printable).
pub fn print_text(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let text = printable(text);
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Failure::Output)
}

/// A path as part of a line.
pub fn shown(path: &Path) -> String {
    printable_line(&path.to_string_lossy()).into()
}

/// Refuses to send data to a terminal.
pub fn check_data(output: &Path) -> Result<(), PipelineError> {
    if output.as_os_str() == "-" && std::io::stdout().is_terminal() {
        let problem = "standard output is a terminal; send it to a program or a file";
        return Err(PipelineError::setting("output", problem));
    }
    Ok(())
}

/// As [`print()`]; says nothing if the data themselves went to standard output.
pub fn print_beside<T: Serialize>(
    data: &Path,
    format: Format,
    value: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<(), Failure> {
    if data.as_os_str() == "-" { Ok(()) } else { print(format, value, text) }
}
