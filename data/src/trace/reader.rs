//! Labelled traces from files, in batches.

use super::artifact::{ArtifactRows, is_artifact};
use super::table::{TraceTable, meta_of};
use crate::column_table::ColumnTable;
use crate::csv::CsvRows;
use crate::error::shown;
use crate::input::{Expect, FileHash, Input, recorded_name};
use crate::parquet_table::ParquetTable;
use crate::{DataError, Frame, InputProvenance, LabelledBatch, RowOrder, SwitchSpecs, TraceMeta};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Reads labelled rows: a trace of `dropcast collect`, Parquet made elsewhere with the same columns,
/// or the Credence artifact's CSV. Yields batches of 1 to 65,536 rows; after an error, nothing more.
/// Memory does not grow with the trace.
pub struct TraceReader {
    file: String,
    name: String,
    meta: TraceMeta,
    source: Source,
    sha256: String,
    done: bool,
}

enum Source {
    Artifact(ArtifactRows),
    Parquet(TraceTable, Option<FileHash>),
    Frame(TraceTable, Frame),
}

/// The provenance counts rows of an artifact CSV that are all zeros under this name.
const ALL_ZERO: &str = "all-zero";
/// The provenance counts rows in order of departure under this name.
const DEPARTURE_ORDER: &str = "departure-order";

impl TraceReader {
    /// Opens the trace at `path`, or on standard input if it is `-`. Batches have these features, in
    /// this order; other feature columns are not decoded.
    ///
    /// # Errors
    /// If the file cannot be read, is empty, is not a labelled trace, is of a later version, or
    /// lacks a feature.
    pub fn open(path: &Path, features: &[String]) -> Result<Self, DataError> {
        let file = shown(path);
        let (meta, source) = match Input::open(path, Expect::Anything)? {
            Input::Text(input) => {
                let rows = CsvRows::start(&file, input)?;
                if !is_artifact(rows.header()) {
                    let problem = format!("has the columns {}", rows.header().join(", "));
                    let hint = "expected a labelled trace: Parquet of `dropcast collect`, or the Credence artifact's CSV";
                    return Err(DataError::file(&file, problem, hint));
                }
                let meta = TraceMeta::unknown(RowOrder::Departure, ArtifactRows::features());
                (meta, Source::Artifact(ArtifactRows::start(&file, rows, features)?))
            }
            Input::Parquet(opened, hash) => {
                let table = ParquetTable::open(&file, opened)?.into();
                let meta = meta_of(&file, &table)?;
                let table = TraceTable::start(&file, table, &meta, features)?;
                (meta, Source::Parquet(table, Some(hash)))
            }
        };
        let name = recorded_name(path);
        Ok(TraceReader { file, name, meta, source, sha256: String::new(), done: false })
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
        let opened = std::fs::File::open(path).map_err(DataError::io(&file, "be opened"))?;
        let mut table = ParquetTable::open(&file, opened)?;
        let has = table.rows();
        if rows.end > has || rows.start > rows.end {
            let problem = format!("has {has} rows, not rows {} to {}", rows.start, rows.end);
            return Err(DataError::file(&file, problem, "it changed, begin again"));
        }
        let first = rows.start;
        table.keep(rows);
        let table = ColumnTable::from(table);
        let meta = meta_of(&file, &table)?;
        let mut table = TraceTable::start(&file, table, &meta, features)?;
        table.begin_at(first);
        let (name, source) = (recorded_name(path), Source::Parquet(table, None));
        Ok(TraceReader { file, name, meta, source, sha256: String::new(), done: false })
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
        let (file, name) = (frame.name().to_owned(), frame.name().to_owned());
        let table = ColumnTable::from(frame.clone());
        let mut meta = meta_of(&file, &table)?;
        meta.switches = switches.cloned().or(meta.switches);
        let table = TraceTable::start(&file, table, &meta, features)?;
        let source = Source::Frame(table, frame.clone());
        Ok(TraceReader { file, name, meta, source, sha256: String::new(), done: false })
    }

    /// As [`open`](Self::open), for rows that will be replayed or split by time.
    ///
    /// # Errors
    /// Also [`DataError::NotInArrivalOrder`].
    pub fn open_in_arrival_order(path: &Path, features: &[String]) -> Result<Self, DataError> {
        let reader = Self::open(path, features)?;
        reader.require_arrival_order()?;
        Ok(reader)
    }

    /// Refuses rows unless they are known to be in order of arrival.
    ///
    /// # Errors
    /// [`DataError::NotInArrivalOrder`].
    pub fn require_arrival_order(&self) -> Result<(), DataError> {
        match self.meta.order {
            RowOrder::Arrival => Ok(()),
            RowOrder::Departure => Err(DataError::NotInArrivalOrder { file: self.file.clone() }),
        }
    }

    /// The metadata of the trace, or what its columns tell if it has none.
    pub fn meta(&self) -> &TraceMeta {
        &self.meta
    }

    /// What was read. Complete once the iterator has ended without an error.
    pub fn provenance(&self) -> InputProvenance {
        let (events, all_zero) = match &self.source {
            Source::Artifact(rows) => (rows.rows(), Some(rows.all_zero())),
            Source::Parquet(table, _) | Source::Frame(table, _) => (table.rows(), None),
        };
        let mut notes: BTreeMap<String, u64> = BTreeMap::new();
        notes.extend(all_zero.map(|count| (ALL_ZERO.to_owned(), count)));
        if self.meta.order == RowOrder::Departure {
            notes.insert(DEPARTURE_ORDER.to_owned(), events);
        }
        InputProvenance {
            name: self.name.clone(),
            sha256: self.sha256.clone(),
            events,
            skipped: BTreeMap::new(),
            notes,
        }
    }

    fn next_batch(&mut self) -> Result<Option<LabelledBatch>, DataError> {
        let batch = match &mut self.source {
            Source::Artifact(rows) => rows.next_batch()?,
            Source::Parquet(table, _) | Source::Frame(table, _) => table.next_batch()?,
        };
        if batch.is_none() {
            self.sha256 = match &mut self.source {
                Source::Artifact(rows) => rows.hash().unwrap_or_default().to_owned(),
                Source::Frame(_, frame) => frame.sha256().to_owned(),
                Source::Parquet(_, hash) => match hash.take() {
                    Some(hash) => hash.wait().map_err(DataError::io(&self.file, "be hashed"))?,
                    None => std::mem::take(&mut self.sha256),
                },
            };
        }
        Ok(batch)
    }
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
