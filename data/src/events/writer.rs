//! Packet events into Parquet or Arrow IPC.

use super::footer::SWITCH_KEY;
use crate::column_writer::{ColumnWriter, integer};
use crate::error::shown;
use crate::{DataError, EventBatch, EventKind, SwitchSpecs};
use arrow_array::{ArrayRef, UInt8Array, UInt16Array, UInt32Array, UInt64Array};
use arrow_schema::DataType;
use std::path::Path;
use std::sync::Arc;

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
        let columns = vec![
            integer("time_ns", DataType::UInt64),
            integer("switch_id", DataType::UInt16),
            integer("port", DataType::UInt16),
            integer("queue", DataType::UInt8),
            integer("size_bytes", DataType::UInt32),
            integer("kind", DataType::UInt8),
            integer("flow_hash", DataType::UInt64),
            integer("flags", DataType::UInt8),
        ];
        let writer = ColumnWriter::create(path, columns, Some((SWITCH_KEY, specs.to_toml())))?;
        Ok(EventWriter { file: shown(path), writer })
    }

    /// Adds events. They are not checked here.
    ///
    /// # Errors
    /// If they cannot be written, or tell of real drops.
    pub fn write(&mut self, batch: &EventBatch) -> Result<(), DataError> {
        let events = &batch.events;
        if events.iter().any(|event| matches!(event.kind, EventKind::Drop(_))) {
            let hint = "this is a mistake in the program that writes them";
            return Err(DataError::file(&self.file, "would hold real drops", hint));
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values(events.iter().map(|e| e.time_ns))),
            Arc::new(UInt16Array::from_iter_values(events.iter().map(|e| e.switch_id))),
            Arc::new(UInt16Array::from_iter_values(events.iter().map(|e| e.port))),
            Arc::new(UInt8Array::from_iter_values(events.iter().map(|e| e.queue))),
            Arc::new(UInt32Array::from_iter_values(events.iter().map(|e| e.size_bytes))),
            Arc::new(UInt8Array::from_iter_values(events.iter().map(|e| match e.kind {
                EventKind::Arrival | EventKind::Drop(_) => 0,
                EventKind::Departure => 1,
                EventKind::Pause => 3,
                EventKind::Resume => 4,
            }))),
            Arc::new(UInt64Array::from_iter_values(events.iter().map(|e| e.flow_hash))),
            Arc::new(UInt8Array::from_iter_values(events.iter().map(|e| e.flags))),
        ];
        self.writer.write(columns)
    }

    /// Ends the file and puts it in its place.
    ///
    /// # Errors
    /// If it cannot be written; nothing is left behind then.
    pub fn finish(self) -> Result<(), DataError> {
        self.writer.finish()
    }
}
