//! Labelled traces into Parquet.

use super::arrow::{trace_arrays, trace_fields};
use super::columns::BASE_COLUMNS;
use super::footer::TRACE_KEY;
use crate::error::shown;
use crate::parquet_writer::ParquetWriter;
use crate::{ArrivalColumns, DataError, InputProvenance, LabelledBatch, TraceMeta};
use dropcast_features::Feature;
use std::path::Path;

/// Writes a labelled trace. The file appears when it is finished. Equal batches and metadata give
/// equal bytes.
pub struct TraceWriter {
    file: String,
    writer: ParquetWriter,
    meta: TraceMeta,
    /// `order[c]` is the place in a batch of the `c`th feature column.
    order: Vec<usize>,
    last_time_ns: u64,
    rows: u64,
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
        let columns = trace_fields(&meta.features, true, true);
        let writer = ParquetWriter::create(path, columns)?;
        Ok(TraceWriter { file, writer, meta, order, last_time_ns: 0, rows: 0 })
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
        let (Some(arrivals), Some(_)) = (&batch.arrivals, &batch.outcome) else {
            return Err(self.refuse("rows without arrivals or outcomes cannot be written"));
        };
        self.check(batch, arrivals)?;
        let features = self.order.iter().map(|&place| batch.features[place].clone()).collect();
        let columns = trace_arrays(LabelledBatch {
            arrivals: batch.arrivals.clone(),
            features,
            drop: batch.drop.clone(),
            outcome: batch.outcome.clone(),
        });
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
