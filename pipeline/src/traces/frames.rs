//! Labelled traces as data frames of polars, and back.

use super::{LabelledTrace, LabelledTraces};
use crate::PipelineError;
use dropcast_data::TraceMeta;
use dropcast_interop::frame::{batches, to_frame};
use dropcast_train::{BatchSource, RunBatch};

pub use dropcast_interop::frame::DataFrame;

/// A trace of a frame's rows, which are copied. `meta` tells what they are: the frame has a column
/// for each of its features, and `drop`. `name` is what errors call the trace.
///
/// With `time_ns`, `port` and `size_bytes`, the rows can be split by time and replayed. The rows are
/// of one run: a column `run` has one value.
///
/// # Errors
/// If a column is missing, of another type or out of range, or there are several runs.
pub fn trace_from_frame(
    name: &str,
    frame: &DataFrame,
    meta: TraceMeta,
) -> Result<LabelledTrace, PipelineError> {
    let rows = batches(frame, &meta.features)
        .map_err(|error| PipelineError::unfit(name, error.to_string()))?;
    if rows.windows(2).any(|pair| pair[0].run != pair[1].run) {
        let problem = "has rows of several runs; make a trace of each";
        return Err(PipelineError::unfit(name, problem));
    }
    LabelledTrace::in_memory(name, meta, rows.into_iter().map(|rows| rows.batch).collect())
}

/// The rows of all traces as they are trained on: features in bytes are scaled to one buffer. The
/// column `run` has the place of the trace, from 0.
///
/// # Errors
/// If a trace cannot be read, or only some have times and ports.
pub fn traces_to_frame(traces: &LabelledTraces) -> Result<DataFrame, PipelineError> {
    let mut rows = Vec::new();
    for (run, trace) in (0..).zip(traces.one_by_one()) {
        for batch in trace.batches()? {
            rows.push(RunBatch { run, ..batch? });
        }
    }
    to_frame(&rows, &traces.features().names())
        .map_err(|error| PipelineError::unfit("the traces", error.to_string()))
}
