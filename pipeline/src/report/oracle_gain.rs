//! What the oracle gains on the rows that were kept for testing.

use super::{GainSection, TraceSource};
use crate::PipelineError;
use crate::traces::{LabelledTrace, LabelledTraces};
use dropcast_replay::{ForestReplay, LanesSent};
use dropcast_train::{Model, Part, ReplayRows, Split, VoteLane, VotePolicy, rows_to_replay};
use std::num::NonZeroUsize;

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
    let forest = &model.forest;
    let threshold = forest.vote_threshold;
    let lanes = [VoteLane { forest: 0, threshold, policy: VotePolicy::Credence }];
    let (mut sum, mut counts) = (LanesSent::default(), false);
    for one in traces.one_by_one() {
        let LabelledTrace { origin, meta, name, .. } = &one.traces()[0];
        if split.part_of_run(origin.run).is_some_and(|part| part != Part::Test) {
            continue;
        }
        let columns = one.features().names();
        let source = TraceSource {
            name: origin.name.clone(),
            meta: meta.clone(),
            columns: columns.clone(),
            held_out: true,
        };
        if let Some(reason) = source.why_not_replayed() {
            return Ok(Err(reason));
        }
        let failed = |source| PipelineError::Replay { trace: name.clone(), source };
        let replay = ForestReplay::new(meta, &columns, &[forest], &lanes, NonZeroUsize::MIN);
        let mut replay = replay.map_err(failed)?.with_baselines();
        for rows in rows_to_replay(&one, columns.len(), split, seed, Part::Test)? {
            let ReplayRows { rows, are_of_part, goes_on } = rows?;
            if rows.batch.arrivals.is_none() && !rows.batch.is_empty() {
                let problem = "does not say when and where its packets arrived";
                return Ok(Err(format!("trace {} {problem}", origin.name)));
            }
            counts |= are_of_part.contains(&true);
            replay.add(&rows.batch, &are_of_part).map_err(failed)?;
            if !goes_on && !replay.holds_counted() {
                break;
            }
        }
        sum.add(&replay.finish());
    }
    let gain = sum.baselines.filter(|_| counts).zip(sum.lanes.first());
    let gain = gain.map(|(baselines, &credence)| GainSection::over(sum.lqd, credence, &baselines));
    Ok(gain.ok_or_else(|| "there are no arrivals".to_owned()))
}
