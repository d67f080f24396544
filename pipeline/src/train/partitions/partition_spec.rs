//! Which rows a worker has.

use super::trace_summary::TraceSummary;
use crate::PipelineError;
use crate::resources::{MemoryLimit, Resources};
use crate::traces::LabelledTraces;
use dropcast_data::scratch_file;
use dropcast_features::FeatureSet;
use dropcast_train::{Partition, SpillFile};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;

/// Which rows a worker has, and how it reads them. As JSON, it goes to the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartitionSpec {
    /// Rows of a trace in the partition with the lower place come first.
    place: u64,
    features: FeatureSet,
    /// The buffer that rows are scaled to.
    buffer_bytes: Option<u32>,
    pieces: Vec<Piece>,
}

/// Rows of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Piece {
    trace: TraceSummary,
    /// All, if none are given.
    rows: Option<Range<u64>>,
}

/// A worker's rows.
#[derive(Debug)]
pub struct TracePartition {
    traces: LabelledTraces,
    partition: Partition<LabelledTraces>,
}

impl PartitionSpec {
    /// Cuts all rows into at most `count` partitions of equal size. Files whose number of rows is
    /// not known stay whole.
    pub(super) fn cut(traces: &LabelledTraces, files: &[TraceSummary], count: u64) -> Vec<Self> {
        let buffer_bytes = traces.switch_context().buffer_bytes;
        let features = traces.features();
        let spec = |place| PartitionSpec {
            place,
            features: features.clone(),
            buffer_bytes,
            pieces: Vec::new(),
        };
        let mut specs: Vec<Self> = (0..count.max(1)).map(spec).collect();
        let all: u64 = files.iter().filter_map(|file| file.rows).sum();
        let ends: Vec<u64> = (1..=count.max(1))
            .map(|end| (u128::from(all) * u128::from(end) / u128::from(count.max(1))) as u64)
            .collect();
        let (mut before, mut whole) = (0, 0);
        for trace in files {
            let Some(rows) = trace.rows else {
                specs[whole].pieces.push(Piece { trace: trace.clone(), rows: None });
                whole = (whole + 1) % ends.len();
                continue;
            };
            let mut from = 0;
            for (spec, &end) in specs.iter_mut().zip(&ends) {
                let to = end.saturating_sub(before).min(rows);
                if to > from {
                    let piece = Piece { trace: trace.clone(), rows: Some(from..to) };
                    spec.pieces.push(piece);
                    from = to;
                }
            }
            before += rows;
        }
        specs.retain(|spec| spec.place == 0 || !spec.pieces.is_empty());
        specs
    }

    /// Number of rows, as far as known.
    pub fn rows(&self) -> u64 {
        let rows = |piece: &Piece| piece.rows.as_ref().map_or(0, |rows| rows.end - rows.start);
        self.pieces.iter().map(rows).sum()
    }
}

impl TracePartition {
    /// Begins with the rows of `spec`, which are read when a question needs them. Beyond the memory
    /// limit of `resources`, binned rows go to an unnamed temporary file.
    ///
    /// # Errors
    /// If rows cannot be what the specification says.
    pub fn new(spec: &PartitionSpec, resources: &Resources) -> Result<Self, PipelineError> {
        let traces = spec.pieces.iter().map(|piece| piece.trace.open(piece.rows.clone()));
        let traces = LabelledTraces::new(traces.collect(), &spec.features)?;
        let traces = traces.scaled_to(spec.buffer_bytes);
        let mut partition = Partition::new(traces.clone(), spec.place, resources.threads());
        if let Some(MemoryLimit { mib, beside }) = resources.memory.clone() {
            let open = move || match scratch_file(&beside) {
                Ok(file) => Ok(Box::new(file) as Box<dyn SpillFile>),
                Err(error) => Err(io::Error::other(error)),
            };
            partition = partition.spilling(mib.saturating_mul(1 << 20), open);
        }
        Ok(TracePartition { traces, partition })
    }

    /// The answer to a question, for [`merge_answers`](dropcast_train::merge_answers).
    ///
    /// # Errors
    /// If the rows cannot be read, or these are not the bytes of a question.
    pub fn answer(&mut self, question: &[u8]) -> Result<Vec<u8>, PipelineError> {
        self.partition.answer(question).map_err(|error| self.traces.explain(error))
    }

    /// Bytes of binned rows in memory.
    pub fn bytes_in_memory(&self) -> u64 {
        self.partition.bytes_in_memory()
    }

    /// Bytes of binned rows in a file.
    pub fn spilled_bytes(&self) -> u64 {
        self.partition.spilled_bytes()
    }
}
