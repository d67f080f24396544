//! What the oracle gains on the rows that were kept for testing.

use super::trained_comparison::TrainedComparison;
use super::{BestAlpha, GainSection, TraceSource};
use dropcast_data::Label;
use dropcast_data::Threads;
use dropcast_forest::{Forest, Sent};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::traces::{LabelledTrace, LabelledTraces};
use dropcast_pipeline::train::replays::{Replays, alpha, sent_with};
use dropcast_replay::{ForestReplayError, LanesSent};
use dropcast_train::{Part, Split, TrainedModel};
use std::num::NonZeroUsize;

/// What a model gains, and what to make of it.
#[derive(Clone, Debug, PartialEq)]
pub struct OracleGain {
    /// In packets and bytes.
    pub section: GainSection,
    /// Why the model is not worth its place, and what to do, if so.
    pub cautions: Vec<String>,
}

/// What Credence with `model` transmits more than policies without predictions, on the test rows of
/// `split` with this seed; or why that is not known. The best alpha is the one with most bytes of all rows, the smallest of
/// equals. The traces are on the scale of the model's buffer.
///
/// # Errors
/// If a trace cannot be read, or lacks a feature of the model.
pub fn oracle_gain(
    model: &TrainedModel,
    traces: &LabelledTraces,
    split: &Split,
    seed: u64,
    threads: NonZeroUsize,
) -> Result<Result<OracleGain, String>, PipelineError> {
    if let Some(reason) = why_unknown(traces, split) {
        return Ok(Err(reason));
    }
    let replays = Replays { traces, split, seed, threads };
    let comparison = TrainedComparison::find(traces, split, seed)?;
    let of_comparison = comparison.as_ref().map(|comparison| &comparison.forest);
    let forests: Vec<&Forest> = [&model.forest].into_iter().chain(of_comparison).collect();
    // The alpha is the best of all rows, and measured on the test rows: two passes, at once if there are threads.
    let passes = vec![true, false];
    let passes = Threads::new(threads).map(passes, |measures| match measures {
        true => replays.beside_alphas(&[Part::Test], &forests),
        false => {
            let chosen_on = replays.alphas(&[Part::Train, Part::Validation]);
            chosen_on.map(|alphas| LanesSent { alphas: Some(alphas), ..LanesSent::default() })
        }
    });
    let [measured, chosen_on] = <[_; 2]>::try_from(passes).expect("one result for each pass");
    let LanesSent { lqd, baselines, alphas, lanes, .. } = match measured {
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
    let chosen_on = chosen_on?.alphas.unwrap_or_default();
    let own_is_shared =
        traces.traces().iter().flat_map(LabelledTrace::specs).all(|spec| spec.dt_alpha.is_empty());
    let sent_bytes = |place: &Option<usize>| {
        sent_with(&chosen_on, *place).bytes + sent_with(&alphas, *place).bytes
    };
    // The smallest of equals; infinity only where the switches have it.
    let places = (0..alphas.by_alpha.len()).map(Some).chain(own_is_shared.then_some(None)).rev();
    let place = places.max_by_key(sent_bytes).flatten();
    let best = BestAlpha { alpha: alpha(place), sent: sent_with(&alphas, place) };
    let section = GainSection::over(lqd, credence, &baselines, alphas.complete_sharing, best);
    let of_alpha = best_alpha_caution(best, credence);
    let of_comparison = comparison
        .zip(lanes.get(1))
        .and_then(|(comparison, &sent)| comparison_caution(&comparison, sent, credence));
    Ok(Ok(OracleGain { section, cautions: of_alpha.into_iter().chain(of_comparison).collect() }))
}

/// If an alpha does more than the model.
fn best_alpha_caution(best: BestAlpha, credence: Sent) -> Option<String> {
    let more_bytes = best.sent.bytes.checked_sub(credence.bytes).filter(|more| *more > 0)?;
    let policy = match best.alpha {
        Some(alpha) => format!("Dynamic Thresholds with alpha {alpha}"),
        None => "Complete Sharing".to_owned(),
    };
    Some(format!(
        "{policy}, which needs no oracle, transmits {more_bytes} bytes more of the test rows than Credence with this model: \
         set that instead of deploying the model, or look for a better model if a report says that a perfect oracle gains more"
    ))
}

/// If one comparison does as well as the forest.
fn comparison_caution(
    comparison: &TrainedComparison,
    sent: Sent,
    credence: Sent,
) -> Option<String> {
    let transmits = match sent.bytes.checked_sub(credence.bytes)? {
        0 => "as many bytes of the test rows".to_owned(),
        more => format!("{more} bytes more of the test rows"),
    };
    let TrainedComparison { feature, threshold_permille, .. } = comparison;
    Some(format!(
        "one comparison, {feature} above {}% of the buffer, does as well as this forest: Credence with it transmits \
         {transmits}; try one tree of depth 1, which is a single table entry or two",
        f64::from(*threshold_permille) / 10.0
    ))
}

/// Why the test rows cannot be replayed, if so.
fn why_unknown(traces: &LabelledTraces, split: &Split) -> Option<String> {
    if !split.keeps(Part::Test) {
        return Some("no rows are kept for testing".to_owned());
    }
    if split.is_random() {
        return Some("rows that are split at random are not consecutive arrivals".to_owned());
    }
    if traces.traces().iter().any(|trace| trace.label() == Label::Follows) {
        let why =
            "labels say which packets are followed, and senders of a replay do not react to drops";
        return Some(why.to_owned());
    }
    let of_test = |trace: &&LabelledTrace| {
        split.part_of_run(trace.origin.run).is_none_or(|part| part == Part::Test)
    };
    traces.traces().iter().filter(of_test).find_map(|trace| {
        TraceSource {
            name: trace.origin.name.clone(),
            meta: trace.meta.clone(),
            columns: Vec::new(),
            run: Some(trace.origin.run),
            held_out: true,
        }
        .why_not_replayed()
    })
}
