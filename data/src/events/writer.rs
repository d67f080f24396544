//! Packet events into Parquet or Arrow IPC.

use super::arrow::{event_arrays, event_fields};
use crate::io::shown_output;
use crate::switch::SWITCH_KEY;
use crate::tables::ColumnWriter;
use crate::{DataError, EventBatch, EventKind, SwitchSpecs};
use std::path::Path;

/// Writes packet events with every field of [`Event`](crate::Event) and the description of the switches:
/// Parquet, Arrow IPC if the name ends in `.arrow`, `.feather` or `.ipc`, or an Arrow IPC stream to
/// standard output for `-`. A file appears when it is finished; equal events give equal bytes.
pub struct EventWriter {
    file: String,
    writer: ColumnWriter,
}

impl EventWriter {
    /// Starts the file that will be at `path`.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(path: &Path, specs: &SwitchSpecs) -> Result<Self, DataError> {
        let writer =
            ColumnWriter::create(path, event_fields(), Some((SWITCH_KEY, specs.to_toml())))?;
        Ok(EventWriter { file: shown_output(path), writer })
    }

    /// Adds events. They are not checked here.
    ///
    /// # Errors
    /// If they cannot be written, or have real drops.
    pub fn write(&mut self, batch: &EventBatch) -> Result<(), DataError> {
        let events = &batch.events;
        if events.iter().any(|event| matches!(event.kind, EventKind::Drop(_))) {
            let hint = "this is a mistake in the program that writes them";
            return Err(DataError::file(&self.file, "would hold real drops", hint));
        }
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
