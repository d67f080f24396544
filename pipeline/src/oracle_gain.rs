//! What the oracle gains on the rows that were kept for testing.

use crate::PipelineError;
use crate::report::{GainSection, ModelReplay, TraceSource};
use crate::traces::{LabelledTrace, LabelledTraces};
use dropcast_train::{Model, Part, Split, rows_to_replay};

/// What Credence with `model` transmits more than policies without predictions, on the test rows of
/// `split` with this seed; or why that is not known. The traces are on the scale of the model's
/// buffer.
///
/// # Errors
/// If a trace cannot be read, or lacks a feature of the model.
pub fn oracle_gain(
    model: &Model,
    traces: &LabelledTraces,
    split: &Split,
    seed: u64,
) -> Result<Result<GainSection, String>, PipelineError> {
    if !split.keeps(Part::Test) {
        return Ok(Err("no rows are kept for testing".to_owned()));
    }
    if split.is_random() {
        let reason = "rows that are split at random are not consecutive arrivals";
        return Ok(Err(reason.to_owned()));
    }
    let mut replay = ModelReplay::new(model);
    for one in traces.one_by_one() {
        let LabelledTrace { origin, meta, .. } = &one.traces()[0];
        if split.part_of_run(origin.run).is_some_and(|part| part != Part::Test) {
            continue;
        }
        let (name, meta, columns) = (origin.name.clone(), meta.clone(), one.features().names());
        let width = columns.len();
        replay.begin_trace(TraceSource { name, meta, columns, held_out: true })?;
        for rows in rows_to_replay(&one, width, split, seed, Part::Test)? {
            let (rows, counted) = rows?;
            replay.add(&rows.batch, &counted)?;
        }
    }
    let missing = || "a policy was not replayed".to_owned();
    Ok(replay.finish().and_then(|replay| GainSection::new(&replay.total).ok_or_else(missing)))
}
