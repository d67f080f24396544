//! Packet events from a file, in batches.

use super::columns::EventColumns;
use super::footer::switches_in_footer;
use super::gate::{Gate, OnBadRow};
use super::rows::EventRows;
use super::table::EventTable;
use crate::csv::CsvRows;
use crate::error::shown;
use crate::input::{Expect, FileHash, Input, recorded_name};
use crate::parquet_table::ParquetTable;
use crate::{DataError, EventBatch, InputProvenance, SwitchSpecs};
use std::path::Path;

/// How events are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventFormat {
    /// Delimited text with a header line, perhaps compressed with gzip.
    Csv,
    /// Parquet.
    Parquet,
}

/// How to read events.
#[derive(Clone, Debug, Default)]
pub struct EventOptions {
    /// Which column is which field.
    pub columns: EventColumns,
    /// The switches; by default those that the file describes.
    pub specs: Option<SwitchSpecs>,
    /// What to do with bad rows.
    pub on_bad_row: OnBadRow,
    /// The format; told from the first bytes by default.
    pub format: Option<EventFormat>,
}

/// Reads and checks packet events. Yields batches of 1 to 65,536 events in input order; after an
/// error, nothing more. Memory does not grow with the input.
pub struct EventReader {
    file: String,
    name: String,
    specs: SwitchSpecs,
    gate: Gate,
    source: Source,
    sha256: String,
    done: bool,
}

enum Source {
    Csv(EventRows),
    Parquet(EventTable, Option<FileHash>),
}

impl EventReader {
    /// Opens the events at `path`, or on standard input if it is `-`.
    ///
    /// # Errors
    /// If the file cannot be read, is empty, is in neither format, lacks a column, has one of a
    /// wrong type, or nothing describes its switches.
    pub fn open(path: &Path, options: EventOptions) -> Result<Self, DataError> {
        let file = shown(path);
        let expect = match options.format {
            None => Expect::Anything,
            Some(EventFormat::Csv) => Expect::Text,
            Some(EventFormat::Parquet) => Expect::Parquet,
        };
        let (source, specs) = match Input::open(path, expect)? {
            Input::Text(input) => {
                let rows = CsvRows::start(&file, input)?;
                let rows = EventRows::start(&file, rows, &options.columns)?;
                (Source::Csv(rows), None)
            }
            Input::Parquet(opened, hash) => {
                let table = ParquetTable::open(&file, opened)?;
                let specs = match options.specs {
                    None => switches_in_footer(&file, &table)?,
                    Some(_) => None,
                };
                let table = EventTable::start(&file, table, &options.columns)?;
                (Source::Parquet(table, Some(hash)), specs)
            }
        };
        let no_switches = || DataError::NoSwitches { file: file.clone() };
        let specs = options.specs.or(specs).ok_or_else(no_switches)?;
        Ok(EventReader {
            gate: Gate::new(&file, options.on_bad_row, &specs),
            name: recorded_name(path),
            file,
            specs,
            source,
            sha256: String::new(),
            done: false,
        })
    }

    /// The switches: those given, or those in the file.
    pub fn specs(&self) -> &SwitchSpecs {
        &self.specs
    }

    /// What was read. Complete once the iterator has ended without an error.
    pub fn provenance(&self) -> InputProvenance {
        InputProvenance {
            name: self.name.clone(),
            sha256: self.sha256.clone(),
            events: self.gate.events(),
            skipped: self.gate.skipped(),
            ..InputProvenance::default()
        }
    }

    fn next_batch(&mut self) -> Result<Option<EventBatch>, DataError> {
        loop {
            let batch = match &mut self.source {
                Source::Csv(rows) => rows.next_batch(&mut self.gate)?,
                Source::Parquet(table, _) => table.next_batch(&mut self.gate)?,
            };
            match batch {
                // Every row of it was left out.
                Some(batch) if batch.events.is_empty() => {}
                Some(batch) => return Ok(Some(batch)),
                None => {
                    self.finish()?;
                    return Ok(None);
                }
            }
        }
    }

    fn finish(&mut self) -> Result<(), DataError> {
        self.sha256 = match &mut self.source {
            Source::Csv(rows) => rows.hash().unwrap_or_default().to_owned(),
            Source::Parquet(_, hash) => match hash.take() {
                Some(hash) => hash.wait().map_err(DataError::io(&self.file, "be hashed"))?,
                None => return Ok(()),
            },
        };
        Ok(())
    }
}

impl Iterator for EventReader {
    type Item = Result<EventBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let batch = self.next_batch().transpose();
        self.done = !matches!(batch, Some(Ok(_)));
        batch
    }
}
