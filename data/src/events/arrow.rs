//! Packet events as Arrow, with the columns of `docs/events.md`.

use crate::switch::SWITCH_KEY;
use crate::tables::integer;
use crate::{DataError, EventBatch, EventKind, Frame, SwitchSpecs};
use arrow_array::{ArrayRef, RecordBatch, UInt8Array, UInt16Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Events that stay in memory as Arrow, with the description of the switches in the metadata; `name`
/// is what errors call them.
///
/// # Errors
/// If they do not fit into columns. A defect of ours.
pub fn event_frame(
    name: &str,
    specs: &SwitchSpecs,
    batches: impl IntoIterator<Item = EventBatch>,
) -> Result<Frame, DataError> {
    let metadata = BTreeMap::from([(SWITCH_KEY.to_owned(), specs.to_toml())]);
    let metadata = metadata.into_iter().collect();
    let schema = Arc::new(Schema::new_with_metadata(event_fields(), metadata));
    let batches = batches.into_iter().map(|batch| {
        RecordBatch::try_new(Arc::clone(&schema), event_arrays(&batch)).map_err(|error| {
            let problem = format!("has events that do not form a table: {error}");
            DataError::file(name, problem, "this is a mistake in the program that makes it")
        })
    });
    let batches = batches.collect::<Result<_, _>>()?;
    Frame::new(name, schema, batches)
}

pub(super) fn event_fields() -> Vec<Field> {
    vec![
        integer("time_ns", DataType::UInt64),
        integer("switch_id", DataType::UInt16),
        integer("port", DataType::UInt16),
        integer("queue", DataType::UInt8),
        integer("size_bytes", DataType::UInt32),
        integer("kind", DataType::UInt8),
        integer("flow_hash", DataType::UInt64),
        integer("flags", DataType::UInt8),
    ]
}

/// The columns of a batch without real drops, in the order of [`event_fields`].
pub(super) fn event_arrays(batch: &EventBatch) -> Vec<ArrayRef> {
    let events = &batch.events;
    vec![
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
    ]
}
