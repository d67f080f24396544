//! Reports of several files, in order of time.

use super::cause::DropCause;
use super::sflow_capture::read_capture;
use super::table::{read_table, read_text};
use crate::arrow_stream::looks_like_arrow;
use crate::capture::CaptureStart;
use crate::cell::BadCell;
use crate::csv::CsvRows;
use crate::error::shown;
use crate::input::{Expect, Input, recorded_name};
use crate::table::Table;
use crate::{DataError, InputProvenance, OnBadRow, RowPlace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reports that are kept, at most.
const MOST_REPORTS: usize = 1 << 22;

/// A packet that was dropped, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DropReport {
    /// When, since 1970.
    pub(crate) time_ns: u64,
    pub(crate) cause: DropCause,
    /// 0 if it has no IP header.
    pub(crate) flow_hash: u64,
    /// Its size on the wire, without the checksum.
    pub(crate) size_bytes: Option<u32>,
    /// 0 if not known.
    pub(crate) ip_id: u16,
    /// Bytes after its IP header.
    pub(crate) payload_bytes: Option<u16>,
    /// Its first byte's number, of TCP.
    pub(crate) sequence: Option<u32>,
}

/// What is known of a file once it is read.
pub(super) struct OneFile {
    pub(super) sha256: String,
    pub(super) skipped: BTreeMap<String, u64>,
    /// Reports that the switch did not make, or that did not come.
    pub(super) missing: u64,
}

/// Reports of all files.
#[derive(Debug, Default)]
pub(crate) struct DropReports {
    /// In order of time, with the place of the file.
    pub(crate) reports: Vec<(usize, DropReport)>,
    /// The files; what became of their reports is not known yet.
    pub(crate) inputs: Vec<InputProvenance>,
}

/// Reports that are missing are counted under this name.
pub(crate) const MISSING: &str = "missing-reports";

impl DropReports {
    /// Reads all of `paths`.
    pub(crate) fn read(paths: &[PathBuf], on_bad_row: OnBadRow) -> Result<Self, DataError> {
        let mut all = DropReports::default();
        for (place, path) in paths.iter().enumerate() {
            let reports = &mut all.reports;
            let before = reports.len();
            let file = shown(path);
            let keep = |report| {
                if reports.len() >= MOST_REPORTS {
                    let problem =
                        format!("and those before it have more than {MOST_REPORTS} reports");
                    return Err(DataError::file(&file, &problem, "join a shorter time"));
                }
                reports.push((place, report));
                Ok(())
            };
            let OneFile { sha256, skipped, missing } = read_one(path, on_bad_row, keep)?;
            if all.reports.len() == before && skipped.is_empty() {
                let hint =
                    "give sFlow datagrams with discarded packets, or a table (docs/drops.md)";
                return Err(DataError::file(&file, "has no reports of drops", hint));
            }
            let mut input = InputProvenance {
                name: recorded_name(path),
                sha256,
                skipped,
                ..InputProvenance::default()
            };
            if missing > 0 {
                input.notes.insert(MISSING.to_owned(), missing);
            }
            all.inputs.push(input);
        }
        all.reports.sort_by_key(|(_, report)| report.time_ns);
        Ok(all)
    }
}

fn read_one(
    path: &Path,
    on_bad_row: OnBadRow,
    keep: impl FnMut(DropReport) -> Result<(), DataError>,
) -> Result<OneFile, DataError> {
    let file = shown(path);
    let mut input = match Input::open(path, Expect::Anything)? {
        Input::Parquet(opened, hash) => {
            return read_table(&file, Table::parquet(&file, opened, hash)?, on_bad_row, keep);
        }
        Input::Text(input) => input,
    };
    let head = input.peek().map_err(DataError::io(&file, "be read"))?;
    if looks_like_arrow(head) {
        return read_table(&file, Table::arrow(&file, input)?, on_bad_row, keep);
    }
    match CaptureStart::of(head) {
        Some(start) => read_capture(&file, input, start, on_bad_row, keep),
        None => read_text(&file, CsvRows::start(&file, input)?, on_bad_row, keep),
    }
}

/// Stops at rows that are wrong, or counts them.
pub(super) struct Badness<'a> {
    file: &'a str,
    on_bad_row: OnBadRow,
    pub(super) skipped: BTreeMap<String, u64>,
}

impl<'a> Badness<'a> {
    pub(super) fn new(file: &'a str, on_bad_row: OnBadRow) -> Self {
        Badness { file, on_bad_row, skipped: BTreeMap::new() }
    }

    pub(super) fn note(
        &mut self,
        row: u64,
        place: Option<RowPlace>,
        field: &str,
        cell: &BadCell,
    ) -> Result<(), DataError> {
        match self.on_bad_row {
            OnBadRow::Fail => Err(DataError::Row {
                file: self.file.to_owned(),
                row,
                place,
                field: field.to_owned(),
                problem: cell.to_string(),
            }),
            OnBadRow::Skip => {
                *self.skipped.entry(cell.reason().to_owned()).or_insert(0) += 1;
                Ok(())
            }
        }
    }
}
