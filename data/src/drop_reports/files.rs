//! Reports of several files, in order of time.

use super::report::{DropReport, OneFile};
use super::sflow_capture::read_capture;
use super::table::{read_table, read_text};
use crate::capture::CaptureStart;
use crate::io::{recorded_name, shown};
use crate::tables::{CsvRows, Expect, Input};
use crate::{DataError, InputNote, InputProvenance, OnBadRow};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reports that are kept, at most.
const MOST_REPORTS: usize = 1 << 22;

/// Reports of packets that the real switch dropped (`docs/drops.md`), to be joined with captures. A clone shares them.
#[derive(Clone)]
pub struct DropReports {
    pub(crate) read: Arc<ReadReports>,
    /// How far apart the times of a packet and of its report may be.
    pub(crate) window_ns: u64,
}

/// Reports of all files.
#[derive(Default)]
pub(crate) struct ReadReports {
    /// In order of time, with the place of the file.
    pub(crate) reports: Vec<(usize, DropReport)>,
    /// Flows of which there are reports.
    pub(crate) flows: BTreeSet<u64>,
    /// The files; what became of their reports is not known yet.
    pub(crate) inputs: Vec<InputProvenance>,
}

impl DropReports {
    /// What determines the join: the window and the bytes of the files.
    fn key(&self) -> (u64, Vec<&str>) {
        (self.window_ns, self.read.inputs.iter().map(|input| input.sha256.as_str()).collect())
    }
}

impl fmt::Debug for DropReports {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("DropReports").field(&self.key()).finish()
    }
}

/// As what determines the join.
impl Serialize for DropReports {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.key().serialize(serializer)
    }
}

impl DropReports {
    /// Reads all of `paths`: sFlow datagrams in captures, or tables. The times of a packet and of its report may be
    /// `window_ns` apart.
    ///
    /// # Errors
    /// If a file cannot be read, is neither, or a row of it is bad and `on_bad_row` is to fail; if there are more than
    /// 4,194,304 reports.
    pub fn read(
        paths: &[PathBuf],
        window_ns: u64,
        on_bad_row: OnBadRow,
    ) -> Result<Self, DataError> {
        let mut all = ReadReports::default();
        for (place, path) in paths.iter().enumerate() {
            let reports = &mut all.reports;
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
            let OneFile { sha256, skipped, missing, is_of_reports } =
                read_one(path, on_bad_row, keep)?;
            if !is_of_reports && skipped.is_empty() {
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
                input.notes.insert(InputNote::MissingReports, missing);
            }
            all.inputs.push(input);
        }
        Ok(DropReports::new(all, window_ns))
    }

    /// Puts reports in order.
    pub(crate) fn new(mut read: ReadReports, window_ns: u64) -> Self {
        read.reports.sort_by_key(|(_, report)| report.time_ns);
        let flows = read.reports.iter().map(|(_, report)| report.flow_hash);
        read.flows = flows.filter(|&hash| hash != 0).collect();
        DropReports { read: Arc::new(read), window_ns }
    }

    /// The files, and what was not read of them. What became of their reports is known once they are joined.
    pub fn inputs(&self) -> &[InputProvenance] {
        &self.read.inputs
    }
}

fn read_one(
    path: &Path,
    on_bad_row: OnBadRow,
    keep: impl FnMut(DropReport) -> Result<(), DataError>,
) -> Result<OneFile, DataError> {
    let file = shown(path);
    let mut input = match Input::open(path, Expect::Anything)? {
        Input::Table(table) => return read_table(&file, table, on_bad_row, keep),
        Input::Text(input) => input,
    };
    let head = input.peek().map_err(DataError::io(&file, "be read"))?;
    match CaptureStart::of(head) {
        Some(start) => read_capture(&file, input, start, on_bad_row, keep),
        None => read_text(&file, CsvRows::start(&file, input)?, on_bad_row, keep),
    }
}
