//! Reports in a table of ours (`docs/drops.md`): CSV, Parquet or Arrow IPC.

use super::cause::DropCause;
use super::report::{Badness, DropReport, OneFile};
use crate::tables::{
    BadCell, BadCells, Cell, CsvRows, Table, excerpt, is_integer, read_column, text_column,
};
use crate::types::FlowKey;
use crate::{DataError, OnBadRow, RowPlace, nearly};
use arrow_array::Array;
use std::net::IpAddr;

/// The columns; the first five must be there.
const FIELDS: [&str; 11] = [
    "time_ns",
    "source_ip",
    "destination_ip",
    "protocol",
    "reason",
    "source_port",
    "destination_port",
    "size_bytes",
    "ip_id",
    "port",
    "queue",
];
const REQUIRED: usize = 5;
/// Protocols that have names.
const PROTOCOLS: [(&str, u8); 6] =
    [("tcp", 6), ("udp", 17), ("icmp", 1), ("icmpv6", 58), ("sctp", 132), ("dccp", 33)];

/// Gives all reports of a text to `keep`.
pub(super) fn read_text(
    file: &str,
    mut rows: CsvRows,
    on_bad_row: OnBadRow,
    mut keep: impl FnMut(DropReport) -> Result<(), DataError>,
) -> Result<OneFile, DataError> {
    let places = locate(file, rows.header())?;
    let expected = rows.header().len();
    let mut bad = Badness::new(file, on_bad_row);
    let mut number = 0;
    loop {
        let read = {
            let Some(row) = rows.next_row()? else { break };
            if row.len() == expected {
                report(|field| Some(row.field(places[field]?)).filter(|text| !text.is_empty()))
            } else {
                Err(("fields", BadCell::FieldCount { got: row.len(), expected }))
            }
        };
        let line = Some(RowPlace::Line(rows.line_number()));
        match read {
            Ok(report) => keep(report)?,
            Err((field, cell)) => bad.note(number, line, field, &cell)?,
        }
        number += 1;
    }
    let sha256 = rows.hash().unwrap_or_default().to_owned();
    Ok(OneFile { sha256, skipped: bad.skipped, missing: 0, is_of_reports: true })
}

/// Gives all reports of a table to `keep`.
pub(super) fn read_table(
    file: &str,
    table: Table,
    on_bad_row: OnBadRow,
    mut keep: impl FnMut(DropReport) -> Result<(), DataError>,
) -> Result<OneFile, DataError> {
    let places = locate(file, table.columns())?;
    let mut batches = table.read(places.into_iter().flatten().collect())?;
    let mut bad = Badness::new(file, on_bad_row);
    let mut number = 0;
    while let Some(batch) = batches.next_batch()? {
        let columns = places.map(|place| Some(texts(batches.column(&batch, place?))));
        for row in 0..batch.num_rows() {
            match report(|field| columns[field].as_ref()?[row].as_deref().map(str::as_bytes)) {
                Ok(report) => keep(report)?,
                Err((field, cell)) => bad.note(number, None, field, &cell)?,
            }
            number += 1;
        }
    }
    let sha256 = batches.hash()?;
    Ok(OneFile { sha256, skipped: bad.skipped, missing: 0, is_of_reports: true })
}

/// Where the columns are.
fn locate(file: &str, has: &[String]) -> Result<[Option<usize>; FIELDS.len()], DataError> {
    let places = FIELDS.map(|field| has.iter().position(|name| name == field));
    let absent = FIELDS.iter().zip(places).take(REQUIRED).find(|(_, place)| place.is_none());
    if let Some((field, _)) = absent {
        let has = has.to_vec();
        let hint = "a table of drops has it (docs/drops.md)";
        let (file, column) = (file.to_owned(), (*field).to_owned());
        return Err(DataError::MissingColumn { file, column, has, hint });
    }
    let others = has.iter().filter(|name| !FIELDS.contains(&name.as_str()));
    match others.into_iter().find_map(|name| Some((name, nearly(name, &FIELDS)?))) {
        None => Ok(places),
        Some((name, field)) => {
            let problem = format!("has a column {name:?}, which is not read as {field}");
            Err(DataError::file(file, &problem, "rename it"))
        }
    }
}

/// The values of a column as text, none where there is nothing. What cannot be read is a text that no field may be.
fn texts(array: &dyn Array) -> Vec<Option<String>> {
    if is_integer(array.data_type()) {
        let mut bad = BadCells::default();
        let numbers: Vec<u64> = read_column(array, "", &mut bad);
        let mut texts: Vec<_> = numbers.iter().map(|number| Some(number.to_string())).collect();
        bad.into_rows().for_each(|(row, (_, cell))| {
            texts[row] = match cell {
                BadCell::OutOfRange { value, .. } => Some(value),
                _ => None,
            };
        });
        return texts;
    }
    match text_column(array) {
        Some(words) => words.into_iter().map(|word| word.map(str::to_owned)).collect(),
        None => {
            let other = format!("of type {}", array.data_type());
            (0..array.len()).map(|row| array.is_valid(row).then(|| other.clone())).collect()
        }
    }
}

/// A report; `text` has what a field holds.
fn report<'a>(
    text: impl Fn(usize) -> Option<&'a [u8]>,
) -> Result<DropReport, (&'static str, BadCell)> {
    let [time, source, destination, protocol, reason, from, to, size, id, out, queue] =
        std::array::from_fn(|field| field);
    let time_ns =
        number::<u64>(time, text(time))?.ok_or_else(|| empty(time, "nanoseconds since 1970"))?;
    let address = |field: usize| {
        let expected = "an IP address";
        let word = text(field).ok_or_else(|| empty(field, expected))?;
        let parsed = std::str::from_utf8(word).ok().and_then(|word| word.parse::<IpAddr>().ok());
        parsed.ok_or_else(|| (FIELDS[field], BadCell::Unknown { text: excerpt(word), expected }))
    };
    let (source, destination) = (address(source)?, address(destination)?);
    let named = text(protocol).ok_or_else(|| empty(protocol, "a number or tcp, udp, icmp"))?;
    let known = PROTOCOLS.iter().find(|(name, _)| named.eq_ignore_ascii_case(name.as_bytes()));
    let protocol = match known {
        Some((_, code)) => *code,
        None => u8::from_text(named).map_err(|cell| (FIELDS[protocol], cell))?,
    };
    let word = text(reason).ok_or_else(|| empty(reason, DropCause::EXPECTED))?;
    let cause = std::str::from_utf8(word).ok().and_then(DropCause::of_word);
    let cause = cause.ok_or_else(|| {
        let expected = DropCause::EXPECTED;
        (FIELDS[reason], BadCell::Unknown { text: excerpt(word), expected })
    })?;
    let port = |field| Ok(number::<u16>(field, text(field))?.unwrap_or(0));
    let ports = (port(from)?, port(to)?);
    Ok(DropReport {
        time_ns,
        cause,
        flow_hash: FlowKey { source, destination, protocol, ports }.hash(),
        size_bytes: number::<u32>(size, text(size))?,
        ip_id: number::<u16>(id, text(id))?.unwrap_or(0),
        payload_bytes: None,
        sequence: None,
        port: number::<u16>(out, text(out))?,
        queue: number::<u8>(queue, text(queue))?,
    })
}

fn number<T: Cell>(
    field: usize,
    text: Option<&[u8]>,
) -> Result<Option<T>, (&'static str, BadCell)> {
    text.map(|text| T::from_text(text).map_err(|cell| (FIELDS[field], cell))).transpose()
}

fn empty(field: usize, expected: &'static str) -> (&'static str, BadCell) {
    (FIELDS[field], BadCell::Empty(expected))
}
