//! What the oracle gains on the rows that were kept for testing.

use super::{BestAlpha, GainSection, TraceSource};
use crate::PipelineError;
use crate::traces::{LabelledTrace, LabelledTraces};
use crate::train::replays::{Replays, alpha, best_alpha, sent_with};
use dropcast_replay::{ForestReplayError, LanesSent};
use dropcast_train::{Model, Part, Split};
use std::num::NonZeroUsize;

/// What Credence with `model` transmits more than policies without predictions, on the test rows of
/// `split` with this seed; or why that is not known. The best alpha is the one with most bytes of the rows that are not
/// for testing. The traces are on the scale of the model's buffer.
///
/// # Errors
/// If a trace cannot be read, or lacks a feature of the model.
pub fn oracle_gain(
    model: &Model,
    traces: &LabelledTraces,
    split: &Split,
    seed: u64,
    threads: NonZeroUsize,
) -> Result<Result<GainSection, String>, PipelineError> {
    if let Some(reason) = why_unknown(traces, split) {
        return Ok(Err(reason));
    }
    let replays = Replays { traces, split, seed, threads };
    let LanesSent { lqd, baselines, alphas, lanes } =
        match replays.beside_alphas(&[Part::Test], &model.forest) {
            Err(PipelineError::Replay { trace, source: ForestReplayError::NoArrivals }) => {
                let problem = "does not say when and where its packets arrived";
                return Ok(Err(format!("trace {trace} {problem}")));
            }
            sent => sent?,
        };
    let (Some(baselines), Some(alphas), Some(&credence)) = (baselines, alphas, lanes.first())
    else {
        return Ok(Err("there are no arrivals".to_owned()));
    };
    if lqd.packets == 0 {
        return Ok(Err("there are no arrivals".to_owned()));
    }
    let chosen_on = replays.alphas(&[Part::Train, Part::Validation])?;
    let place = best_alpha(&chosen_on, |sent| sent.bytes);
    let best = BestAlpha { alpha: alpha(place), sent: sent_with(&alphas, place) };
    Ok(Ok(GainSection::over(lqd, credence, &baselines, alphas.complete_sharing, best)))
}

/// Why the test rows cannot be replayed, if so.
fn why_unknown(traces: &LabelledTraces, split: &Split) -> Option<String> {
    if !split.keeps(Part::Test) {
        return Some("no rows are kept for testing".to_owned());
    }
    if split.is_random() {
        return Some("rows that are split at random are not consecutive arrivals".to_owned());
    }
    let of_test = |trace: &&LabelledTrace| {
        split.part_of_run(trace.origin.run).is_none_or(|part| part == Part::Test)
    };
    traces.traces().iter().filter(of_test).find_map(|trace| {
        TraceSource {
            name: trace.origin.name.clone(),
            meta: trace.meta.clone(),
            columns: Vec::new(),
            held_out: true,
        }
        .why_not_replayed()
    })
}
