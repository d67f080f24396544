//! Reports of several files, in order of time.

use super::report::{DropReport, OneFile};
use super::sflow_capture::read_capture;
use super::table::{read_table, read_text};
use crate::arrow_stream::looks_like_arrow;
use crate::capture::CaptureStart;
use crate::csv::CsvRows;
use crate::error::shown;
use crate::input::{Expect, Input, recorded_name};
use crate::table::Table;
use crate::{DataError, InputProvenance, OnBadRow};
use std::path::{Path, PathBuf};

/// Reports that are kept, at most.
const MOST_REPORTS: usize = 1 << 22;

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
