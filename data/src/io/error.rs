//! The one error type of everything that reads or writes a file.

use crate::{TRACE_SCHEMA_VERSION, printable_line};
use parquet::errors::ParquetError;
use std::io;
use std::path::Path;

/// Why a file could not be read or written. Each message names the file; a lower-level cause is
/// the error's source, not part of its text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system reported an error.
    #[error("{}: cannot {doing}{}", printable_line(file), remedy(source))]
    Io {
        /// The file.
        file: String,
        /// The operation that failed.
        doing: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// The Parquet library failed.
    #[error("{}: {problem}", printable_line(file))]
    Parquet {
        /// The file.
        file: String,
        /// What went wrong and what to do.
        problem: &'static str,
        /// The error of the library.
        source: ParquetError,
    },
    /// The file as a whole is wrong.
    #[error("{}: {problem}; {hint}", printable_line(file))]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// A row is wrong.
    #[error(
        "{}: row {row}{}: {} {problem}",
        printable_line(file),
        at(*place),
        printable_line(field)
    )]
    Row {
        /// The file.
        file: String,
        /// Number of the row, from 0, not counting a header line.
        row: u64,
        /// Where it is in a file that has no table.
        place: Option<RowPlace>,
        /// The field at fault.
        field: String,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// A required column is missing.
    #[error("{}: has no column {column:?}, it has {}; {hint}", printable_line(file), listed(has))]
    MissingColumn {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The columns that are there.
        has: Vec<String>,
        /// What to do.
        hint: &'static str,
    },
    /// A requested feature is not in the trace.
    #[error(
        "{}: has no feature {feature:?}, it has {}; collect the trace with that feature, or leave the feature out",
        printable_line(file),
        listed(has)
    )]
    MissingFeature {
        /// The file.
        file: String,
        /// The feature.
        feature: String,
        /// The features of the trace.
        has: Vec<String>,
    },
    /// Rows in arrival order are needed and these are not.
    #[error(
        "{}: its rows are not known to be in order of arrival, so it cannot be replayed or split by \
         time or switch; use a trace that the tracer wrote, or a random split",
        printable_line(file)
    )]
    NotInArrivalOrder {
        /// The file.
        file: String,
    },
    /// Nothing describes the switches.
    #[error(
        "{}: does not describe its switches; give a switch description (docs/switch.md)",
        printable_line(file)
    )]
    NoSwitches {
        /// The file.
        file: String,
    },
    /// A switch description is wrong.
    #[error("{}: its switch description is wrong (see docs/switch.md)", printable_line(file))]
    Switches {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: toml::de::Error,
    },
    /// The footer of a labelled trace holds metadata that cannot be read.
    #[error("{}: its footer metadata is unreadable; collect the trace again", printable_line(file))]
    Footer {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file is of another version of the format.
    #[error(
        "{}: is a labelled trace of schema version {version}, this program reads {}; collect it again, or use the \
         dropcast that wrote it",
        printable_line(file),
        TRACE_SCHEMA_VERSION
    )]
    OtherVersion {
        /// The file.
        file: String,
        /// Its version.
        version: u64,
    },
    /// A column mapping is not of the form `field=column`.
    #[error("column mapping {pair:?}: {problem}")]
    ColumnPair {
        /// The pair as given.
        pair: String,
        /// What is wrong and what is expected.
        problem: String,
    },
}

/// Where a row is in a file, as other programs number it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPlace {
    /// Number of the line, from 1.
    Line(u64),
    /// Number of the packet, from 1.
    Packet(u64),
}

impl DataError {
    pub(crate) fn io(file: &str, doing: &'static str) -> impl FnOnce(io::Error) -> DataError {
        move |source| DataError::Io { file: file.to_owned(), doing, source }
    }

    pub(crate) fn file(file: &str, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        DataError::File { file: file.to_owned(), problem: problem.into(), hint: hint.into() }
    }

    pub(crate) fn writing(file: &str) -> impl FnOnce(ParquetError) -> DataError {
        let problem = "cannot be written";
        move |source| DataError::Parquet { file: file.to_owned(), problem, source }
    }
}

/// How a path that is written to is named in messages.
pub(crate) fn shown_output(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard output".to_owned() } else { shown(path) }
}

/// How a path is named in messages.
pub(crate) fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

/// The name under which an input is recorded.
pub(crate) fn recorded_name(path: &Path) -> String {
    path.file_name().map_or_else(|| shown(path), |name| name.to_string_lossy().into_owned())
}

/// Whether an error of a library is that there is no memory: it says nothing of the file.
pub(crate) fn is_out_of_memory(error: &impl std::fmt::Display) -> bool {
    let text = error.to_string();
    ["not enough memory", "memory allocation failed", "out of memory"]
        .iter()
        .any(|no| text.contains(no))
}

/// What to do about an error of the system that says nothing of the file.
fn remedy(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::OutOfMemory {
        return "; allow more memory (ulimit -v), or give fewer files at a time";
    }
    limit_remedy(error)
}

#[cfg(unix)]
fn limit_remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
        Some(rustix::io::Errno::MFILE) => {
            "; allow more open files (ulimit -n), or give fewer files at a time"
        }
        Some(rustix::io::Errno::NFILE) => {
            "; end programs that hold files open: the system allows no more"
        }
        Some(rustix::io::Errno::AGAIN) => "; allow more threads (ulimit -u), or end other programs",
        _ => "",
    }
}

#[cfg(not(unix))]
fn limit_remedy(_: &io::Error) -> &'static str {
    ""
}

/// An error of the system without the name of the file, which may be a temporary one.
pub(crate) fn without_name(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

fn at(place: Option<RowPlace>) -> String {
    match place {
        None => String::new(),
        Some(RowPlace::Line(line)) => format!(" (line {line})"),
        Some(RowPlace::Packet(packet)) => format!(" (packet {packet})"),
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { printable_line(&names.join(", ")).into() }
}
