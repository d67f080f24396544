//! Labelled traces into Parquet.

use super::columns::{BASE_COLUMNS, REAL_DROP};
use super::footer::TRACE_KEY;
use crate::error::shown;
use crate::parquet_table::ParquetTable;
use crate::parquet_writer::{ParquetWriter, integer};
use crate::{ArrivalColumns, DataError, InputProvenance, LabelledBatch, TraceMeta};
use arrow_array::{ArrayRef, BooleanArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};
use dropcast_features::Feature;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes a labelled trace. The file appears when it is finished. Equal batches and metadata give
/// equal bytes.
///
/// It has the column of real drops from the first batch that tells of them on. The rows before, which
/// were not dropped, are then written once more.
pub struct TraceWriter {
    path: PathBuf,
    file: String,
    writer: ParquetWriter,
    meta: TraceMeta,
    /// `order[c]` is the place in a batch of the `c`th feature column.
    order: Vec<usize>,
    last_time_ns: u64,
    rows: u64,
    has_real_drops: bool,
}

impl TraceWriter {
    /// Starts the trace at `path`. Batches have the features of `meta` in its order; the file and its
    /// footer have them in the order of `docs/trace.md`.
    ///
    /// # Errors
    /// If the file cannot be created, or a feature is named twice or like another column.
    pub fn create(path: &Path, meta: &TraceMeta) -> Result<Self, DataError> {
        let file = shown(path);
        for (place, name) in meta.features.iter().enumerate() {
            if BASE_COLUMNS.contains(&name.as_str()) || meta.features[..place].contains(name) {
                let problem = format!("would have two columns {name:?}");
                return Err(DataError::file(&file, problem, "name each feature once"));
            }
        }
        let mut order: Vec<usize> = (0..meta.features.len()).collect();
        // Features of other tools come after ours, in their order.
        let known = |&place: &usize| meta.features[place].parse::<Feature>().ok();
        order.sort_by_key(|place| (known(place).is_none(), known(place)));
        let features = order.iter().map(|&place| meta.features[place].clone()).collect();
        let meta = TraceMeta { features, ..meta.clone() };
        let writer = ParquetWriter::create(path, columns(&meta, false))?;
        Ok(TraceWriter {
            path: path.to_owned(),
            file,
            writer,
            meta,
            order,
            last_time_ns: 0,
            rows: 0,
            has_real_drops: false,
        })
    }

    /// Records the inputs of the trace, which are often known only at its end.
    pub fn set_inputs(&mut self, inputs: Vec<InputProvenance>) {
        self.meta.inputs = inputs;
    }

    /// Adds rows.
    ///
    /// # Errors
    /// If they cannot be written, go back in time, lack arrivals or outcomes, have columns of
    /// unequal length, or labels that contradict the outcomes.
    pub fn write(&mut self, batch: &LabelledBatch) -> Result<(), DataError> {
        let (Some(arrivals), Some(outcome)) = (&batch.arrivals, &batch.outcome) else {
            return Err(self.refuse("rows without arrivals or outcomes cannot be written"));
        };
        self.check(batch, arrivals)?;
        if batch.real_drop.is_some() && !self.has_real_drops {
            self.begin_real_drops()?;
        }
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(arrivals.time_ns.clone())),
            Arc::new(UInt16Array::from(arrivals.switch_id.clone())),
            Arc::new(UInt16Array::from(arrivals.port.clone())),
            Arc::new(UInt8Array::from(arrivals.queue.clone())),
            Arc::new(UInt32Array::from(arrivals.size_bytes.clone())),
        ];
        for &place in &self.order {
            columns.push(Arc::new(UInt32Array::from(batch.features[place].clone())));
        }
        columns.push(Arc::new(BooleanArray::from(batch.drop.clone())));
        columns.push(Arc::new(UInt8Array::from_iter_values(outcome.iter().map(|&o| o as u8))));
        if self.has_real_drops {
            let codes: Vec<u8> = match &batch.real_drop {
                Some(reasons) => {
                    reasons.iter().map(|reason| reason.map_or(0, |r| r as u8)).collect()
                }
                None => vec![0; batch.len()],
            };
            columns.push(Arc::new(UInt8Array::from(codes)));
        }
        self.rows += batch.len() as u64;
        self.writer.write(columns)
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// If it cannot be written; nothing is left behind then.
    pub fn finish(mut self) -> Result<(), DataError> {
        let json = serde_json::to_string(&self.meta)
            .map_err(|error| self.refuse(format!("its footer cannot be written: {error}")))?;
        self.writer.footer(TRACE_KEY, json);
        self.writer.finish()
    }

    /// Starts the file again, with the rows so far and the column of real drops.
    fn begin_real_drops(&mut self) -> Result<(), DataError> {
        self.has_real_drops = true;
        let writer = ParquetWriter::create(&self.path, columns(&self.meta, true))?;
        let earlier = std::mem::replace(&mut self.writer, writer).into_file()?;
        let table = ParquetTable::open(&self.file, earlier)?;
        let all = (0..table.columns().len()).collect();
        let mut batches = table.read(all)?;
        while let Some(batch) = batches.next_batch()? {
            let mut columns = batch.columns().to_vec();
            columns.push(Arc::new(UInt8Array::from(vec![0; batch.num_rows()])));
            self.writer.write(columns)?;
        }
        Ok(())
    }

    fn check(&mut self, batch: &LabelledBatch, arrivals: &ArrivalColumns) -> Result<(), DataError> {
        let outcome = batch.outcome.as_deref().unwrap_or_default();
        let mut lengths = vec![
            arrivals.time_ns.len(),
            arrivals.switch_id.len(),
            arrivals.port.len(),
            arrivals.queue.len(),
            arrivals.size_bytes.len(),
            outcome.len(),
        ];
        lengths.extend(batch.features.iter().map(Vec::len));
        lengths.extend(batch.real_drop.as_ref().map(Vec::len));
        if batch.features.len() != self.order.len() || lengths.iter().any(|&n| n != batch.len()) {
            return Err(self.refuse("a batch has missing or unequal columns"));
        }
        for (row, (&time_ns, (&drop, outcome))) in
            arrivals.time_ns.iter().zip(batch.drop.iter().zip(outcome)).enumerate()
        {
            let row = self.rows + row as u64;
            if time_ns < self.last_time_ns {
                return Err(self.refuse(format!("row {row} would go back in time")));
            }
            if drop != outcome.is_drop() {
                return Err(self.refuse(format!("row {row} has a label unlike its outcome")));
            }
            self.last_time_ns = time_ns;
        }
        Ok(())
    }

    fn refuse(&self, problem: impl Into<String>) -> DataError {
        DataError::file(&self.file, problem, "this is a mistake in the program that writes it")
    }
}

/// The columns of a trace (`docs/trace.md`).
fn columns(meta: &TraceMeta, has_real_drops: bool) -> Vec<Field> {
    let mut columns = vec![
        integer("time_ns", DataType::UInt64),
        integer("switch_id", DataType::UInt16),
        integer("port", DataType::UInt16),
        integer("queue", DataType::UInt8),
        integer("size_bytes", DataType::UInt32),
    ];
    columns.extend(meta.features.iter().map(|name| integer(name, DataType::UInt32)));
    columns.push(integer("drop", DataType::Boolean));
    columns.push(integer("outcome", DataType::UInt8));
    columns.extend(has_real_drops.then(|| integer(REAL_DROP, DataType::UInt8)));
    columns
}
