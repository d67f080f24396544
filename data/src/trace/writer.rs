//! Labelled traces into Parquet or Arrow IPC.

use super::arrow::{TraceColumns, real_drop_codes, trace_arrays, trace_fields};
use super::columns::REAL_DROP;
use super::footer::TRACE_KEY;
use crate::io::{FileHash, shown_output};
use crate::tables::{ColumnWriter, Table, is_arrow};
use crate::{ArrivalColumns, DataError, InputProvenance, LabelledBatch, Pause, TraceMeta};
use arrow_array::UInt8Array;
use arrow_schema::{DataType, Field};
use dropcast_features::Feature;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes a labelled trace: Parquet, Arrow IPC if the name ends in `.arrow`, `.feather` or `.ipc`, or
/// an Arrow IPC stream to standard output for `-`. A file appears when it is finished. Equal batches
/// and metadata give equal bytes.
///
/// Parquet has the column of real drops from the first batch that has them on; the rows before,
/// which were not dropped, are then written once more. Arrow IPC is written in one pass: it always has
/// that column, empty where nothing records real drops, and its metadata does not name the inputs.
pub struct TraceWriter {
    path: PathBuf,
    file: String,
    writer: ColumnWriter,
    meta: TraceMeta,
    /// `order[c]` is the place in a batch of the `c`th feature column.
    order: Vec<usize>,
    last_time_ns: u64,
    rows: u64,
    beside: TraceColumns,
    real_drops: RealDrops,
}

/// How a file has the column of real drops.
#[derive(Clone, Copy, PartialEq)]
enum RealDrops {
    None,
    Each,
    Nullable,
}

impl TraceWriter {
    /// Starts the trace at `path`. Batches have the features of `meta` in its order; the file and its
    /// footer have them in the order of `docs/trace.md`.
    ///
    /// # Errors
    /// If the file cannot be created, or a feature is named twice or like another column.
    pub fn create(path: &Path, meta: &TraceMeta) -> Result<Self, DataError> {
        Self::create_with(path, meta, TraceColumns::default())
    }

    /// Starts a trace with the columns of ECN marks and flows, if `beside` says so. It always has arrivals and
    /// outcomes, and real drops where batches have them.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_with(
        path: &Path,
        meta: &TraceMeta,
        beside: TraceColumns,
    ) -> Result<Self, DataError> {
        let file = shown_output(path);
        meta.check_columns(&file)?;
        let mut order: Vec<usize> = (0..meta.features.len()).collect();
        // Features of other tools come after ours, in their order.
        let known = |&place: &usize| meta.features[place].parse::<Feature>().ok();
        order.sort_by_key(|place| (known(place).is_none(), known(place)));
        let features = order.iter().map(|&place| meta.features[place].clone()).collect();
        let meta = TraceMeta { features, ..meta.clone() };
        let real_drops = if is_arrow(path) { RealDrops::Nullable } else { RealDrops::None };
        let first = match real_drops {
            RealDrops::Nullable => Some((TRACE_KEY, json(&file, &meta)?)),
            _ => None,
        };
        let writer = ColumnWriter::create(path, columns(&meta, beside, real_drops), first)?;
        Ok(TraceWriter {
            path: path.to_owned(),
            file,
            writer,
            meta,
            order,
            last_time_ns: 0,
            rows: 0,
            beside,
            real_drops,
        })
    }

    /// Records the inputs of the trace, which are often known only at its end.
    pub fn set_inputs(&mut self, inputs: Vec<InputProvenance>) {
        self.meta.inputs = inputs;
    }

    /// Records when queues were paused, which is known only at the end.
    ///
    /// # Errors
    /// If the metadata has been written already: that of Arrow IPC comes first.
    pub fn set_pauses(&mut self, pauses: Vec<Pause>) -> Result<(), DataError> {
        if !pauses.is_empty() && is_arrow(&self.path) {
            let problem =
                "cannot hold pauses of queues, which are known only at the end of the input";
            return Err(DataError::file(&self.file, problem, "write Parquet"));
        }
        self.meta.pauses = pauses;
        Ok(())
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
        if batch.real_drop.is_some() && self.real_drops == RealDrops::None {
            self.begin_real_drops()?;
        }
        let features = self.order.iter().map(|&place| batch.features[place].clone()).collect();
        let flows = arrivals.flows.clone().filter(|_| self.beside.flows);
        let mut columns = trace_arrays(LabelledBatch {
            arrivals: Some(ArrivalColumns { flows, ..arrivals.clone() }),
            features,
            drop: batch.drop.clone(),
            outcome: batch.outcome.clone(),
            real_drop: None,
            ecn_mark: batch.ecn_mark.clone().filter(|_| self.beside.ecn_mark),
        });
        let codes = batch.real_drop.as_deref().map(real_drop_codes);
        match (self.real_drops, codes) {
            (RealDrops::None, _) => {}
            (_, Some(codes)) => columns.push(Arc::new(UInt8Array::from(codes))),
            (RealDrops::Each, None) => {
                columns.push(Arc::new(UInt8Array::from(vec![0; batch.len()])))
            }
            (RealDrops::Nullable, None) => {
                columns.push(Arc::new(UInt8Array::new_null(batch.len())));
            }
        }
        self.rows += batch.len() as u64;
        self.writer.write(columns)
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// If it cannot be written; nothing is left behind then.
    pub fn finish(mut self) -> Result<(), DataError> {
        let json = json(&self.file, &self.meta)?;
        self.writer.footer(TRACE_KEY, json);
        self.writer.finish()
    }

    /// Starts the file again, with the rows so far and the column of real drops.
    fn begin_real_drops(&mut self) -> Result<(), DataError> {
        self.real_drops = RealDrops::Each;
        let columns = columns(&self.meta, self.beside, self.real_drops);
        let writer = ColumnWriter::create(&self.path, columns, None)?;
        let earlier = std::mem::replace(&mut self.writer, writer).into_file()?;
        let Some(earlier) = earlier else { return Ok(()) };
        let table = Table::parquet(&self.file, earlier, FileHash::known(String::new()))?;
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
        let mut lengths = arrivals.lengths();
        lengths.push(outcome.len());
        lengths.extend(batch.features.iter().map(Vec::len));
        lengths.extend(batch.real_drop.as_ref().map(Vec::len));
        lengths.extend(batch.ecn_mark.as_ref().map(Vec::len));
        if self.beside.ecn_mark && batch.ecn_mark.is_none() {
            return Err(self.refuse("rows without ECN marks cannot follow rows with them"));
        }
        if self.beside.flows && arrivals.flows.is_none() {
            return Err(self.refuse("rows without flows cannot follow rows with them"));
        }
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
        DataError::file(&self.file, problem, MISTAKE)
    }
}

fn json(file: &str, meta: &TraceMeta) -> Result<String, DataError> {
    serde_json::to_string(meta).map_err(|error| {
        let problem = format!("its metadata cannot be written: {error}");
        DataError::file(file, problem, MISTAKE)
    })
}

const MISTAKE: &str = "this is a mistake in the program that writes it";

/// The columns of a trace (`docs/trace.md`).
fn columns(meta: &TraceMeta, beside: TraceColumns, real_drops: RealDrops) -> Vec<Field> {
    let has = TraceColumns { arrivals: true, outcome: true, ..beside };
    let mut columns = trace_fields(&meta.features, has);
    let nullable = real_drops == RealDrops::Nullable;
    let column = || Field::new(REAL_DROP, DataType::UInt8, nullable);
    columns.extend((real_drops != RealDrops::None).then(column));
    columns
}
