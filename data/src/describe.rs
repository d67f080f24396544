//! Telling our files apart without reading them through.

use crate::arrow_stream::looks_like_arrow;
use crate::capture::{CaptureStart, CaptureSummary, PacketFile};
use crate::csv::CsvRows;
use crate::error::shown;
use crate::events::switches_in_footer;
use crate::input::{Expect, Input, TextInput};
use crate::ns3::looks_like_ns3;
use crate::table::Table;
use crate::trace::{is_artifact, meta_in_footer, meta_of};
use crate::{DataError, EventColumns, SwitchSpecs, TraceMeta};
use std::path::Path;

/// What a file is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FileKind {
    /// Packet events in Parquet or Arrow IPC.
    EventTable {
        /// Its columns and size.
        table: TableShape,
        /// The switches, where the footer describes them.
        switches: Option<Box<SwitchSpecs>>,
    },
    /// Packet events in text.
    EventCsv {
        /// Names of the columns.
        columns: Vec<String>,
    },
    /// Packet events as ns-3 prints them.
    Ns3Trace,
    /// Packets of a capture.
    Capture {
        /// Its format and how exact its times are, in words.
        format: &'static str,
    },
    /// A labelled trace in Parquet or Arrow IPC.
    Trace {
        /// Its columns and size.
        table: TableShape,
        /// Whether it has metadata; if not, `meta` is what its columns tell.
        own: bool,
        /// Its metadata.
        meta: Box<TraceMeta>,
    },
    /// A labelled trace in the Credence artifact's CSV.
    ArtifactCsv {
        /// Names of the columns.
        columns: Vec<String>,
    },
    /// A table with columns that are neither events nor labels.
    OtherTable {
        /// Its columns and size.
        table: TableShape,
    },
    /// Something else.
    Unknown {
        /// Why it is no table of events, in words.
        problem: String,
    },
}

/// Columns and size of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableShape {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Number of rows; unknown of Arrow IPC, which is read from its beginning.
    pub rows: Option<u64>,
}

/// Tells what the file at `path` is by its footer or header line. Rows are not read. Events have
/// these columns.
///
/// # Errors
/// If it cannot be read, is empty, is a broken one of our files, or is a table without a column that
/// was named by hand.
pub fn describe(path: &Path, columns: &EventColumns) -> Result<FileKind, DataError> {
    let file = shown(path);
    match Input::open(path, Expect::Footer)? {
        Input::Parquet(opened, hash) => {
            describe_table(&file, &Table::parquet(&file, opened, hash)?, columns)
        }
        Input::Text(input) => describe_stream(&file, input, columns),
    }
}

/// Reads the capture at `path` to its end, or to where it is cut off, and tells what its packets are.
///
/// # Errors
/// If it cannot be read, is no capture, is damaged, or is cut off before its first packet ends.
pub fn summarize_capture(path: &Path) -> Result<CaptureSummary, DataError> {
    let file = shown(path);
    let no_capture = || DataError::file(&file, "is no capture", "expected pcap or pcapng");
    let Input::Text(mut input) = Input::open(path, Expect::Text)? else {
        return Err(no_capture());
    };
    let head = input.peek().map_err(DataError::io(&file, "be read"))?;
    let start = CaptureStart::of(head).ok_or_else(no_capture)?;
    CaptureSummary::of(PacketFile::start(&file, start, input)?)
}

fn describe_stream(
    file: &str,
    mut input: TextInput,
    columns: &EventColumns,
) -> Result<FileKind, DataError> {
    let head = input.peek().map_err(DataError::io(file, "be read"))?;
    if looks_like_arrow(head) {
        return describe_table(file, &Table::arrow(file, input)?, columns);
    }
    if let Some(start) = CaptureStart::of(head) {
        let format = PacketFile::start(file, start, input)?.format();
        return Ok(FileKind::Capture { format });
    }
    if looks_like_ns3(head) {
        return Ok(FileKind::Ns3Trace);
    }
    match CsvRows::start(file, input) {
        Ok(rows) => describe_header(file, rows.header(), columns),
        // Text without a table, or no text.
        Err(DataError::File { problem, hint, .. }) => {
            Ok(FileKind::Unknown { problem: format!("{problem}; {hint}") })
        }
        Err(error) => Err(error),
    }
}

fn describe_table(
    file: &str,
    table: &Table,
    columns: &EventColumns,
) -> Result<FileKind, DataError> {
    let shape = TableShape { columns: table.columns().to_vec(), rows: table.rows() };
    let own = meta_in_footer(file, table)?.is_some();
    if own || table.find("drop").or(table.find("outcome")).is_some() {
        let meta = Box::new(meta_of(file, table)?);
        return Ok(FileKind::Trace { table: shape, own, meta });
    }
    if events_are_in(file, columns, table.columns())?.is_ok() {
        let switches = switches_in_footer(file, table)?;
        return Ok(FileKind::EventTable { table: shape, switches: switches.map(Box::new) });
    }
    Ok(FileKind::OtherTable { table: shape })
}

fn describe_header(
    file: &str,
    header: &[String],
    columns: &EventColumns,
) -> Result<FileKind, DataError> {
    if is_artifact(header) {
        return Ok(FileKind::ArtifactCsv { columns: header.to_vec() });
    }
    Ok(match events_are_in(file, columns, header)? {
        Ok(()) => FileKind::EventCsv { columns: header.to_vec() },
        Err(problem) => FileKind::Unknown { problem },
    })
}

/// Whether a table has the columns of events, or why not. If they were named by hand, it must.
fn events_are_in(
    file: &str,
    columns: &EventColumns,
    has: &[String],
) -> Result<Result<(), String>, DataError> {
    match columns.locate(file, has) {
        Ok(_) => Ok(Ok(())),
        Err(DataError::MissingColumn { column, hint, .. })
            if *columns == EventColumns::default() =>
        {
            Ok(Err(format!("has no column {column:?}, it has {}; {hint}", has.join(", "))))
        }
        Err(error) => Err(error),
    }
}
