//! Where labelled rows go.

use crate::PipelineError;
use crate::traces::LabelledTrace;
use dropcast_data::{
    Frame, InputProvenance, LabelledBatch, Pause, TraceColumns, TraceMeta, TraceReader,
    TraceWriter, trace_frame,
};
use std::path::PathBuf;

/// Where the labelled rows of a trace go.
pub trait Sink: Sized {
    /// What names it: a path, or what errors call it.
    type Place;
    /// What is there at the end.
    type Trace;

    /// A trace without rows, which will have these columns.
    ///
    /// # Errors
    /// If nothing can be written there.
    fn open(
        place: Self::Place,
        meta: TraceMeta,
        columns: TraceColumns,
    ) -> Result<Self, PipelineError>;

    /// Adds rows.
    ///
    /// # Errors
    /// If they cannot be written.
    fn write(&mut self, rows: LabelledBatch) -> Result<(), PipelineError>;

    /// Ends it, with what is known at the end: the inputs, and pauses of queues.
    ///
    /// # Errors
    /// If it cannot be written; nothing is left behind then.
    fn finish(
        self,
        inputs: Vec<InputProvenance>,
        pauses: Vec<Pause>,
    ) -> Result<Self::Trace, PipelineError>;
}

/// A file: Parquet, or Arrow IPC.
pub struct TraceFile {
    path: PathBuf,
    writer: TraceWriter,
}

impl Sink for TraceFile {
    type Place = PathBuf;
    type Trace = PathBuf;

    fn open(path: PathBuf, meta: TraceMeta, columns: TraceColumns) -> Result<Self, PipelineError> {
        let writer = TraceWriter::create_with(&path, &meta, columns)?;
        Ok(TraceFile { path, writer })
    }

    fn write(&mut self, rows: LabelledBatch) -> Result<(), PipelineError> {
        Ok(self.writer.write(&rows)?)
    }

    fn finish(
        mut self,
        inputs: Vec<InputProvenance>,
        pauses: Vec<Pause>,
    ) -> Result<PathBuf, PipelineError> {
        self.writer.set_inputs(inputs);
        self.writer.set_pauses(pauses)?;
        self.writer.finish()?;
        Ok(self.path)
    }
}

/// A file that is written in batches of one size: its bytes do not depend on how its rows came.
pub struct EvenTrace {
    file: TraceFile,
    waiting: LabelledBatch,
}

/// Rows of a batch.
const EVEN_ROWS: usize = 1 << 16;

impl Sink for EvenTrace {
    type Place = PathBuf;
    type Trace = PathBuf;

    fn open(path: PathBuf, meta: TraceMeta, columns: TraceColumns) -> Result<Self, PipelineError> {
        let waiting = LabelledBatch::with_arrivals(meta.features.len());
        Ok(EvenTrace { file: TraceFile::open(path, meta, columns)?, waiting })
    }

    fn write(&mut self, mut rows: LabelledBatch) -> Result<(), PipelineError> {
        while self.waiting.len() + rows.len() >= EVEN_ROWS {
            let rest = rows.split_off(EVEN_ROWS - self.waiting.len());
            self.waiting.append(rows);
            let full = self.waiting.split_off(0);
            self.file.write(full)?;
            rows = rest;
        }
        self.waiting.append(rows);
        Ok(())
    }

    fn finish(
        mut self,
        inputs: Vec<InputProvenance>,
        pauses: Vec<Pause>,
    ) -> Result<PathBuf, PipelineError> {
        if !self.waiting.is_empty() {
            self.file.write(self.waiting)?;
        }
        self.file.finish(inputs, pauses)
    }
}

/// Makes one trace of pieces of a switch that follow each other, one at least.
///
/// # Errors
/// If one cannot be read, or the trace cannot be written.
pub fn join_pieces(pieces: &[PathBuf], path: PathBuf) -> Result<(), PipelineError> {
    let Some(first) = pieces.first() else {
        return Err(PipelineError::unfit(path.display(), "has no pieces to be made of"));
    };
    let first = TraceReader::open(first, &[])?;
    let meta = first.meta().clone();
    let mut trace = EvenTrace::open(path, meta.clone(), first.columns())?;
    for piece in pieces {
        for rows in TraceReader::open(piece, &meta.features)? {
            trace.write(rows?)?;
        }
    }
    trace.finish(meta.inputs, meta.pauses).map(drop)
}

/// Rows that stay in memory.
pub struct InMemory {
    name: String,
    meta: TraceMeta,
    batches: Vec<LabelledBatch>,
}

impl Sink for InMemory {
    type Place = String;
    type Trace = InMemory;

    fn open(name: String, meta: TraceMeta, _: TraceColumns) -> Result<Self, PipelineError> {
        meta.check_columns(&name)?;
        Ok(InMemory { name, meta, batches: Vec::new() })
    }

    fn write(&mut self, rows: LabelledBatch) -> Result<(), PipelineError> {
        self.batches.push(rows);
        Ok(())
    }

    fn finish(
        mut self,
        inputs: Vec<InputProvenance>,
        pauses: Vec<Pause>,
    ) -> Result<InMemory, PipelineError> {
        self.meta.inputs = inputs;
        self.meta.pauses = pauses;
        Ok(self)
    }
}

impl InMemory {
    /// The rows as Arrow.
    ///
    /// # Errors
    /// If their columns are not what their metadata says.
    pub fn frame(self) -> Result<Frame, PipelineError> {
        Ok(trace_frame(&self.name, &self.meta, self.batches)?)
    }

    /// The rows as a trace to train on and to replay.
    ///
    /// # Errors
    /// If their columns are not what their metadata says.
    pub fn open(mut self) -> Result<LabelledTrace, PipelineError> {
        if self.batches.iter().any(|batch| batch.real_drop.is_some()) {
            // The rows before the first real drop were not dropped.
            for batch in &mut self.batches {
                batch.real_drop.get_or_insert_with(|| vec![None; batch.drop.len()]);
            }
        }
        LabelledTrace::in_memory(self.name, self.meta, self.batches)
    }
}
