//! Data on stdout, as text or JSON.

use crate::failure::Failure;
use clap::ValueEnum;
use dropcast_data::{printable, printable_line};
use dropcast_pipeline::PipelineError;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// How a command prints its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// Prints a result: `text` for people, `value` for programs.
pub fn print<T: Serialize>(
    format: OutputFormat,
    value: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<(), Failure> {
    let mut printed = match format {
        OutputFormat::Text => text(value),
        OutputFormat::Json => serde_json::to_string_pretty(value)?,
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

/// The command that goes on from a result.
pub fn next(command: &str) -> String {
    format!("Next     {command}\n")
}

/// Prints an answer and what goes on from it; on a terminal its advice has a colour.
pub fn print_answer(answer: &str) -> Result<(), Failure> {
    let text = printable(answer).into_owned();
    let has_colour = std::io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut stdout = std::io::stdout().lock();
    let text = if has_colour { coloured(&text) } else { text };
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Failure::Output)
}

/// The answer with the words of its advice, and the line of the present policy, set apart.
fn coloured(text: &str) -> String {
    const WORDS: [(&str, &str); 4] =
        [("KEEP", "1;32"), ("SET", "1;33"), ("DO NOT TRUST", "1;31"), ("NO ADVICE", "1;31")];
    let line = |line: &str| {
        let word = WORDS.iter().find(|(word, _)| line.starts_with(word));
        match word {
            Some((word, code)) => format!("\x1b[{code}m{word}\x1b[0m{}\n", &line[word.len()..]),
            None if line.starts_with("> ") => format!("\x1b[1m{line}\x1b[0m\n"),
            None => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

/// A path as an argument of a command that can be copied.
pub fn argument(path: &Path) -> String {
    let text = shown(path);
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:+=,@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Paths as arguments of a command.
pub fn arguments(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| argument(path)).collect::<Vec<_>>().join(" ")
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
    format: OutputFormat,
    value: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<(), Failure> {
    if data.as_os_str() == "-" { Ok(()) } else { print(format, value, text) }
}
