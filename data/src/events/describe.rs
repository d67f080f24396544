//! Recognising our files without reading them through.

use super::columns::EventColumns;
use super::file_kind::{FileKind, TableShape};
use super::format::EventFormat;
use crate::DataError;
use crate::capture::{CaptureStart, CaptureSummary, PacketFile};
use crate::io::{recorded_name, shown};
use crate::switch::switches_in_footer;
use crate::tables::{Expect, Input, Table};
use crate::trace::{meta_in_footer, meta_of};
use std::path::Path;

/// Recognises the file at `path` by its footer or header line. Rows are not read. Events have
/// these columns.
///
/// # Errors
/// If it cannot be read, is empty, is a broken one of our files, or is a table without a column that
/// was named by hand.
pub fn describe(path: &Path, columns: &EventColumns) -> Result<FileKind, DataError> {
    let file = shown(path);
    match Input::open(path, Expect::Footer)? {
        Input::Table(table) => describe_table(&file, &table, columns),
        Input::Text(mut input) => {
            let head = input.peek().map_err(DataError::io(&file, "be read"))?;
            let format = EventFormat::of(head, &recorded_name(path));
            (format.describe)(input, &file, columns)
        }
    }
}

/// Reads the capture at `path` to its end, or to where it is cut off, and says what its packets are.
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
    if columns.are_in(file, table.columns())?.is_ok() {
        let switches = switches_in_footer(file, table)?;
        return Ok(FileKind::EventTable { table: shape, switches: switches.map(Box::new) });
    }
    Ok(FileKind::OtherTable { table: shape })
}
