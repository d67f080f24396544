//! Packet events into Parquet.

use super::arrow::{event_arrays, event_fields};
use super::footer::SWITCH_KEY;
use crate::parquet_writer::ParquetWriter;
use crate::{DataError, EventBatch, SwitchSpecs};
use std::path::Path;

/// Writes packet events to Parquet with every field of [`Event`](crate::Event) and the description
/// of the switches in the footer. The file appears when it is finished; equal events give equal
/// bytes.
pub struct EventWriter {
    writer: ParquetWriter,
}

impl EventWriter {
    /// Starts the file that will be at `path`.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(path: &Path, specs: &SwitchSpecs) -> Result<Self, DataError> {
        let mut writer = ParquetWriter::create(path, event_fields())?;
        writer.footer(SWITCH_KEY, specs.to_toml());
        Ok(EventWriter { writer })
    }

    /// Adds events. They are not checked here.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&mut self, batch: &EventBatch) -> Result<(), DataError> {
        self.writer.write(event_arrays(batch))
    }

    /// Ends the file and puts it in its place.
    ///
    /// # Errors
    /// If it cannot be written; nothing is left behind then.
    pub fn finish(self) -> Result<(), DataError> {
        self.writer.finish()
    }
}
