//! Labelled rows as Arrow, with the columns of `docs/trace.md`.

use super::columns::{ECN_MARK, FIRST_RTT, FLOW_HASH, REAL_DROP};
use super::footer::TRACE_KEY;
use crate::tables::integer;
use crate::{ArrivalColumns, DataError, DropReason, FlowColumns, Frame, LabelledBatch, TraceMeta};
use arrow_array::{
    ArrayRef, BooleanArray, RecordBatch, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which columns labelled rows have besides their features and labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceColumns {
    /// When and where packets arrived.
    pub arrivals: bool,
    /// What LQD did with them.
    pub outcome: bool,
    /// What the real switch dropped.
    pub real_drop: bool,
    /// What the real switch marked (ECN).
    pub ecn_mark: bool,
    /// Of which flows packets are.
    pub flows: bool,
}

/// The columns of labelled rows. The metadata says what they are, as a file's footer does.
///
/// # Errors
/// If the metadata cannot be written as JSON. A defect of ours.
pub fn trace_schema(meta: &TraceMeta, columns: TraceColumns) -> Result<SchemaRef, DataError> {
    let json = serde_json::to_string(meta).map_err(|error| {
        let problem = format!("its metadata cannot be written: {error}");
        DataError::file("the trace", problem, "this is a mistake in the program that writes it")
    })?;
    let metadata = BTreeMap::from([(TRACE_KEY.to_owned(), json)]);
    let mut fields = trace_fields(&meta.features, columns);
    fields.extend(columns.real_drop.then(|| integer(REAL_DROP, DataType::UInt8)));
    Ok(Arc::new(Schema::new_with_metadata(fields, metadata.into_iter().collect())))
}

/// Labelled rows that stay in memory as Arrow; `name` is what errors call them. The columns are
/// moved, not copied.
///
/// # Errors
/// If batches have other columns than `meta` says, or not all the same.
pub fn trace_frame(
    name: &str,
    meta: &TraceMeta,
    batches: Vec<LabelledBatch>,
) -> Result<Frame, DataError> {
    let first = batches.first();
    let columns = TraceColumns {
        arrivals: first.is_none_or(|batch| batch.arrivals.is_some()),
        outcome: first.is_none_or(|batch| batch.outcome.is_some()),
        real_drop: batches.iter().any(|batch| batch.real_drop.is_some()),
        ecn_mark: batches.iter().any(|batch| batch.ecn_mark.is_some()),
        flows: first
            .and_then(|batch| batch.arrivals.as_ref())
            .is_some_and(|all| all.flows.is_some()),
    };
    let schema = trace_schema(meta, columns)?;
    let batches = batches.into_iter().map(|batch| record_batch(name, &schema, batch));
    let batches = batches.collect::<Result<_, _>>()?;
    Frame::new(name, schema, batches)
}

/// Rows as a batch of a [`trace_schema`]. The columns are moved, not copied.
///
/// # Errors
/// If it has other columns than the schema, or columns of unequal length.
pub fn record_batch(
    name: &str,
    schema: &SchemaRef,
    mut batch: LabelledBatch,
) -> Result<RecordBatch, DataError> {
    let rows = batch.len();
    // Rows without marks were not marked.
    batch.ecn_mark = schema
        .index_of(ECN_MARK)
        .is_ok()
        .then(|| batch.ecn_mark.unwrap_or_else(|| vec![false; rows]));
    let codes = batch.real_drop.as_deref().map(real_drop_codes);
    let mut columns = trace_arrays(batch);
    if schema.index_of(REAL_DROP).is_ok() {
        // Rows without real drops were not dropped.
        columns.push(Arc::new(UInt8Array::from(codes.unwrap_or_else(|| vec![0; rows]))));
    }
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(|error| {
        let hint = "this is a mistake in the program that makes it";
        DataError::file(name, format!("has rows that do not go together: {error}"), hint)
    })
}

/// The columns of rows, but that of real drops, which is the last.
pub(super) fn trace_fields(features: &[String], has: TraceColumns) -> Vec<Field> {
    let mut columns = Vec::new();
    if has.arrivals {
        columns.extend([
            integer("time_ns", DataType::UInt64),
            integer("switch_id", DataType::UInt16),
            integer("port", DataType::UInt16),
            integer("queue", DataType::UInt8),
            integer("size_bytes", DataType::UInt32),
        ]);
    }
    columns.extend(features.iter().map(|name| integer(name, DataType::UInt32)));
    columns.push(integer("drop", DataType::Boolean));
    if has.outcome {
        columns.push(integer("outcome", DataType::UInt8));
    }
    columns.extend(has.ecn_mark.then(|| integer(ECN_MARK, DataType::Boolean)));
    if has.flows {
        columns.push(integer(FLOW_HASH, DataType::UInt64));
        columns.push(integer(FIRST_RTT, DataType::Boolean));
    }
    columns
}

/// Real drops as numbers in a file: 0 for none.
pub(super) fn real_drop_codes(reasons: &[Option<DropReason>]) -> Vec<u8> {
    reasons.iter().map(|reason| reason.map_or(0, |reason| reason as u8)).collect()
}

/// The columns of a batch, in the order of [`trace_fields`].
pub(super) fn trace_arrays(batch: LabelledBatch) -> Vec<ArrayRef> {
    let mut columns: Vec<ArrayRef> = Vec::new();
    let mut of_flows = None;
    if let Some(arrivals) = batch.arrivals {
        let ArrivalColumns { time_ns, switch_id, port, queue, size_bytes, flows } = arrivals;
        of_flows = flows;
        columns.push(Arc::new(UInt64Array::from(time_ns)));
        columns.push(Arc::new(UInt16Array::from(switch_id)));
        columns.push(Arc::new(UInt16Array::from(port)));
        columns.push(Arc::new(UInt8Array::from(queue)));
        columns.push(Arc::new(UInt32Array::from(size_bytes)));
    }
    for feature in batch.features {
        columns.push(Arc::new(UInt32Array::from(feature)));
    }
    columns.push(Arc::new(BooleanArray::from(batch.drop)));
    if let Some(outcome) = batch.outcome {
        columns.push(Arc::new(UInt8Array::from_iter_values(outcome.iter().map(|&o| o as u8))));
    }
    if let Some(ecn_mark) = batch.ecn_mark {
        columns.push(Arc::new(BooleanArray::from(ecn_mark)));
    }
    if let Some(FlowColumns { hash, first_rtt }) = of_flows {
        columns.push(Arc::new(UInt64Array::from(hash)));
        columns.push(Arc::new(BooleanArray::from(first_rtt)));
    }
    columns
}
