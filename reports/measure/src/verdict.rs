//! What an oracle could be worth on a trace, before there is one.
//!
//! [`judge`] replays the arrivals through every policy without predictions, through Credence with a
//! perfect oracle, and through Credence with one threshold on `level_occupancy`. What the best policy
//! without an oracle leaves to the perfect one is all that any forest can gain. Beside that it counts
//! what LQD and the real switch dropped, over time and by queue.

mod advice;
mod against_now;
mod asked_policies;
mod check;
mod check_words;
mod checks;
mod class_alphas;
mod congestion;
mod contrasts;
mod drop_counts;
mod episodes;
mod hours;
mod input_checks;
mod judge;
mod level_thresholds;
mod pauses;
mod places;
mod real_drops;
mod rivals;
mod timeline;
mod value;

pub use advice::{Advice, AdviceDecision, Candidate, Cost, Finding};
pub use against_now::{AgainstNow, Needs};
pub use asked_policies::{AskedPolicies, LEAST_GAIN, NamedOwnPolicy};
pub use check::{Check, CheckResult, CheckStatus};
pub use congestion::{CongestionSection, OccupancySection};
pub use contrasts::EpisodeGain;
pub use drop_counts::DropCounts;
pub use episodes::EpisodeSection;
pub use hours::HourSection;
pub use judge::Judge;
pub(crate) use judge::{ModelRows, ReplayedSwitches};
pub use level_thresholds::LevelThreshold;
pub(crate) use level_thresholds::{COMPARED, above};
pub use pauses::PauseSection;
pub use places::{QueueDrops, SwitchDrops, TraceDrops};
pub use real_drops::ReasonSection;
pub use rivals::{OptimumSection, RivalKind, RivalSection, RivalsSection};
pub use timeline::{ErrorTimeline, RealTimeline, TimelineSection};
pub use value::{Conclusion, FlowCounts, VERDICT_SCHEMA_VERSION, Verdict};

use dropcast_pipeline::PipelineError;
use dropcast_pipeline::ReportError;
use dropcast_pipeline::progress::{Progress, check};
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_train::{Part, ReplayRows, Split, rows_to_replay};

/// What an oracle could be worth on traces that say when and where their packets arrived. Policies that are asked for
/// are replayed, too.
///
/// # Errors
/// If a trace cannot be read, or not be replayed, or a policy needs a model.
pub fn judge(
    traces: &LabelledTraces,
    asked: &AskedPolicies,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Verdict, PipelineError> {
    let asked = &asked.with_oracles()?;
    progress.begin("verdict");
    let mut judge = Judge::new(resources.threads(), asked);
    for (one, shown) in traces.one_by_one().zip(traces.names()) {
        let trace = &one.traces()[0];
        trace.check_label()?;
        let named = |error: ReportError| match error {
            ReportError::Levels { source, .. } => {
                PipelineError::Replay { trace: trace.name.clone(), source }
            }
            error => error.into(),
        };
        let unfit = |problem: &str| PipelineError::unfit(&trace.name, problem);
        let specs = trace.meta.switches.as_ref().ok_or_else(|| unfit(NO_SWITCH))?;
        judge.begin_trace(&shown, &trace.meta, specs).map_err(named)?;
        for rows in rows_to_replay(&one, one.features().len(), &Split::None, 0, vec![Part::Train])?
        {
            let ReplayRows { rows, are_of_part, .. } = rows?;
            let batch = &rows.batch;
            if batch.arrivals.is_none() {
                return Err(unfit(NO_ARRIVALS));
            }
            progress.advance(batch.len());
            check(progress)?;
            judge.add(batch, &are_of_part).map_err(named)?;
        }
    }
    let verdict = judge.finish();
    progress.end("replayed");
    Ok(verdict)
}

pub(crate) const NO_SWITCH: &str = "does not describe its switch, so it cannot be replayed; collect it from events \
                         with a switch description";
pub(crate) const NO_ARRIVALS: &str = "does not say when and where its packets arrived, so it cannot be replayed; \
                           collect it from events";
