//! Labelled traces from files, in batches.

use super::arrow::TraceColumns;
use super::artifact::{ArtifactRows, is_artifact};
use super::table::{TraceTable, meta_of};
use crate::io::{FileHash, recorded_name, shown};
use crate::tables::{CsvRows, Expect, Input, Table, fetch_rows};
use crate::{
    DataError, Frame, InputNote, InputProvenance, LabelledBatch, RowOrder, SwitchSpecs, TraceMeta,
    is_object,
};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Reads labelled rows: a trace of `dropcast collect`, Parquet or Arrow IPC made elsewhere with the same columns,
/// or the Credence artifact's CSV. Yields batches of 1 to 65,536 rows; after an error, nothing more.
/// Memory does not grow with the trace.
pub struct TraceReader {
    name: String,
    meta: TraceMeta,
    source: Source,
    sha256: String,
    done: bool,
}

enum Source {
    Artifact(Box<ArtifactRows>),
    Table(Box<TraceTable>),
}

impl TraceReader {
    /// Opens the trace at `path`, or on standard input if it is `-`. Batches have these features, in
    /// this order; other feature columns are not decoded.
    ///
    /// # Errors
    /// If the file cannot be read, is empty, is not a labelled trace, is of a later version, or
    /// lacks a feature.
    pub fn open(path: &Path, features: &[String]) -> Result<Self, DataError> {
        Self::start(path, features, Expect::Anything)
    }

    /// What a trace with these features says of itself. Rows of an object are not fetched.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn read_meta(path: &Path, features: &[String]) -> Result<TraceMeta, DataError> {
        Ok(Self::start(path, features, Expect::Footer)?.meta)
    }

    fn start(path: &Path, features: &[String], expect: Expect) -> Result<Self, DataError> {
        let file = shown(path);
        let (meta, source) = match Input::open(path, expect)? {
            Input::Text(input) => {
                let rows = CsvRows::start(&file, input)?;
                if !is_artifact(rows.header()) {
                    let problem = format!("has the columns {}", rows.header().join(", "));
                    let hint = "expected a labelled trace: Parquet of `dropcast collect`, or the Credence artifact's CSV";
                    return Err(DataError::file(&file, problem, hint));
                }
                let meta = TraceMeta::unknown(RowOrder::Departure, ArtifactRows::features());
                let rows = ArtifactRows::start(&file, rows, features)?;
                (meta, Source::Artifact(Box::new(rows)))
            }
            Input::Table(mut table) => {
                if expect == Expect::Footer && is_object(path) {
                    table.keep(0..0);
                }
                start_table(&file, table, None, features)?
            }
        };
        Ok(Self::new(path, meta, source))
    }

    /// As [`open`](Self::open), for some of the rows of a Parquet file: those with these numbers,
    /// from 0. The file is not hashed.
    ///
    /// # Errors
    /// Also if it is not Parquet, or has fewer rows.
    pub fn open_rows(
        path: &Path,
        features: &[String],
        rows: Range<u64>,
    ) -> Result<Self, DataError> {
        let file = shown(path);
        let opened = match is_object(path) {
            true => fetch_rows(path, &rows)?,
            false => std::fs::File::open(path).map_err(DataError::io(&file, "be opened"))?,
        };
        let mut table = Table::parquet(&file, opened, FileHash::known(String::new()))?;
        let has = table.rows().unwrap_or(0);
        if rows.end > has || rows.start > rows.end {
            let problem = format!("has {has} rows, not rows {} to {}", rows.start, rows.end);
            return Err(DataError::file(&file, problem, "it changed, begin again"));
        }
        let first = rows.start;
        table.keep(rows);
        let (meta, mut source) = start_table(&file, table, None, features)?;
        if let Source::Table(table) = &mut source {
            table.begin_at(first);
        }
        Ok(Self::new(path, meta, source))
    }

    /// Rows of a trace that is in memory. `switches` describes its switches, if it does not.
    ///
    /// # Errors
    /// If it is not a labelled trace, is of a later version, or lacks a feature.
    pub fn of_frame(
        frame: &Frame,
        switches: Option<&SwitchSpecs>,
        features: &[String],
    ) -> Result<Self, DataError> {
        let name = frame.name().to_owned();
        let (meta, source) = start_table(frame.name(), Table::frame(frame)?, switches, features)?;
        Ok(TraceReader { name, meta, source, sha256: String::new(), done: false })
    }

    /// Which columns its batches may have besides features and labels.
    pub fn columns(&self) -> TraceColumns {
        match &self.source {
            Source::Artifact(_) => TraceColumns::default(),
            Source::Table(table) => table.columns(),
        }
    }

    fn new(path: &Path, meta: TraceMeta, source: Source) -> Self {
        let name = recorded_name(path);
        TraceReader { name, meta, source, sha256: String::new(), done: false }
    }

    /// The metadata of the trace, or what its columns show if it has none.
    pub fn meta(&self) -> &TraceMeta {
        &self.meta
    }

    /// What was read. Complete once the iterator has ended without an error.
    pub fn provenance(&self) -> InputProvenance {
        let (events, all_zero) = match &self.source {
            Source::Artifact(rows) => (rows.rows(), Some(rows.all_zero())),
            Source::Table(table) => (table.rows(), None),
        };
        let mut notes: BTreeMap<InputNote, u64> = BTreeMap::new();
        notes.extend(all_zero.map(|count| (InputNote::AllZero, count)));
        if self.meta.order == RowOrder::Departure {
            notes.insert(InputNote::DepartureOrder, events);
        }
        InputProvenance {
            name: self.name.clone(),
            sha256: self.sha256.clone(),
            events,
            skipped: BTreeMap::new(),
            notes,
            capture: None,
        }
    }

    fn next_batch(&mut self) -> Result<Option<LabelledBatch>, DataError> {
        let batch = match &mut self.source {
            Source::Artifact(rows) => rows.next_batch()?,
            Source::Table(table) => table.next_batch()?,
        };
        if batch.is_none() {
            self.sha256 = match &mut self.source {
                Source::Artifact(rows) => rows.hash().unwrap_or_default().to_owned(),
                Source::Table(table) => table.hash()?,
            };
        }
        Ok(batch)
    }
}

fn start_table(
    file: &str,
    table: Table,
    switches: Option<&SwitchSpecs>,
    features: &[String],
) -> Result<(TraceMeta, Source), DataError> {
    let mut meta = meta_of(file, &table)?;
    meta.switches = switches.cloned().or(meta.switches);
    let table = TraceTable::start(file, table, &meta, features)?;
    Ok((meta, Source::Table(Box::new(table))))
}

impl Iterator for TraceReader {
    type Item = Result<LabelledBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let batch = self.next_batch().transpose();
        self.done = !matches!(batch, Some(Ok(_)));
        batch
    }
}
