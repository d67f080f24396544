//! What an oracle could be worth on a trace, before there is one.
//!
//! [`judge`] replays the arrivals through every policy without predictions, through Credence with a
//! perfect oracle, and through Credence with one threshold on `level_occupancy`. What the best policy
//! without an oracle leaves to the perfect one is all that any forest can gain.

mod congestion;
mod level_thresholds;

pub use congestion::{CongestionSection, OccupancySection};
pub use level_thresholds::LevelThreshold;

use crate::PipelineError;
use crate::progress::{Progress, check};
use crate::report::{BuildError, PolicySection, ReplayTotals};
use crate::resources::Resources;
use crate::traces::LabelledTraces;
use congestion::Congestion;
use dropcast_replay::{Arrival, Replay, ReplayOptions, ReplayPolicy, Replayed, Sent};
use dropcast_train::{Part, RunBatch, Split, rows_to_replay};
use level_thresholds::LevelThresholds;
use serde::Serialize;

/// Version of [`Verdict`] as JSON.
pub const VERDICT_SCHEMA_VERSION: u32 = 1;

/// What an oracle could be worth on labelled traces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// [`VERDICT_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Names of the traces.
    pub traces: Vec<String>,
    /// All arrivals.
    pub arrived: Sent,
    /// What LQD drops of them, by the labels.
    pub dropped: Sent,
    /// How full LQD's buffers are, as shares of each; null without arrivals.
    pub occupancy: Option<OccupancySection>,
    /// Times in which LQD drops.
    pub congestion: CongestionSection,
    /// The `alpha` of Dynamic Thresholds below.
    pub dynamic_thresholds_alpha: f64,
    /// What LQD and the policies without predictions transmit.
    pub policies: Vec<PolicySection>,
    /// What Credence transmits with a perfect oracle: every label known when its packet arrives.
    pub perfect_oracle: Sent,
    /// The best single threshold on `level_occupancy`, chosen on these very arrivals.
    pub level_threshold: Option<LevelThreshold>,
    /// What follows.
    pub conclusion: Conclusion,
}

/// What follows from a [`Verdict`], in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Conclusion {
    /// LQD drops nothing, so there is nothing to predict.
    NothingDropped,
    /// A policy without an oracle transmits as many bytes as Credence with a perfect one.
    NoOracleNeeded {
        /// That policy.
        policy: ReplayPolicy,
        /// What it transmits more, bytes.
        more_bytes: u64,
    },
    /// A perfect oracle transmits more than every policy without one.
    OracleCouldGain {
        /// The best policy without an oracle.
        policy: ReplayPolicy,
        /// What Credence transmits more with a perfect oracle, bytes.
        bytes: u64,
        /// The same as a share of what LQD transmits.
        share_of_lqd: f64,
    },
}

/// What an oracle could be worth on traces that say when and where their packets arrived.
///
/// # Errors
/// If a trace cannot be read, or not be replayed.
pub fn judge(
    traces: &LabelledTraces,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Verdict, PipelineError> {
    progress.begin("verdict");
    let mut replayed: Vec<Replayed> = Vec::new();
    let mut congestion = Congestion::default();
    let mut thresholds = LevelThresholds::default();
    let mut dropped = Sent::default();
    for one in traces.one_by_one() {
        let trace = &one.traces()[0];
        let unfit = |problem: &str| PipelineError::unfit(&trace.name, problem);
        let specs = trace.meta.switches.clone();
        let specs = specs.ok_or_else(|| unfit(NO_SWITCH))?;
        let options = ReplayOptions::for_trace(&trace.meta);
        let mut replay = Replay::new(specs.clone(), options);
        let mut levels = thresholds
            .begin(&trace.meta, resources)
            .map_err(|source| PipelineError::Replay { trace: trace.name.clone(), source })?;
        congestion.begin();
        let mut row = 0;
        for rows in rows_to_replay(&one, one.features().len(), &Split::None, 0, Part::Train)? {
            let (RunBatch { batch, .. }, _) = rows?;
            let columns = batch.arrivals.as_ref().ok_or_else(|| unfit(NO_ARRIVALS))?;
            progress.advance(batch.len());
            check(progress)?;
            let mut level_permille = Vec::with_capacity(batch.len());
            for (at, &is_dropped) in batch.drop.iter().enumerate() {
                let arrival = Arrival {
                    time_ns: columns.time_ns[at],
                    switch_id: columns.switch_id[at],
                    port: columns.port[at],
                    queue: columns.queue[at],
                    size_bytes: columns.size_bytes[at],
                    dropped: is_dropped,
                    predicted: is_dropped,
                    counted: true,
                };
                replay.arrive(&arrival).map_err(|source| {
                    let trace = trace.name.clone();
                    BuildError::Replay { trace, row: row + at as u64, source }
                })?;
                level_permille.push(congestion.arrive(&arrival, &specs, &options));
                if is_dropped {
                    dropped.add(Sent { packets: 1, bytes: u64::from(arrival.size_bytes) });
                }
            }
            row += batch.len() as u64;
            levels
                .add(batch, level_permille)
                .map_err(|source| PipelineError::Replay { trace: trace.name.clone(), source })?;
        }
        replayed.extend(replay.finish().into_values());
        thresholds.end(levels);
    }
    let totals = ReplayTotals::from_switches(&replayed);
    let traces = traces.traces().iter().map(|trace| trace.origin.name.clone()).collect();
    let verdict = Verdict::new(traces, &totals, dropped, congestion, &thresholds);
    progress.end("replayed");
    Ok(verdict)
}

const NO_SWITCH: &str = "does not describe its switch, so it cannot be replayed; collect it from events \
                         with a switch description";
const NO_ARRIVALS: &str = "does not say when and where its packets arrived, so it cannot be replayed; \
                           collect it from events";

impl Verdict {
    fn new(
        traces: Vec<String>,
        totals: &ReplayTotals,
        dropped: Sent,
        congestion: Congestion,
        thresholds: &LevelThresholds,
    ) -> Self {
        let sent = |policy: ReplayPolicy| {
            let section = totals.policies.iter().find(|section| section.policy == policy);
            section.map_or_else(Sent::default, |section| section.sent)
        };
        let perfect_oracle = sent(ReplayPolicy::Credence);
        let (occupancy, congestion) = congestion.finish();
        let policies = totals.policies.iter().copied();
        Verdict {
            schema_version: VERDICT_SCHEMA_VERSION,
            traces,
            arrived: totals.arrived,
            dropped,
            occupancy,
            congestion,
            dynamic_thresholds_alpha: ReplayOptions::default().alpha,
            policies: policies.filter(|section| section.policy != ReplayPolicy::Credence).collect(),
            perfect_oracle,
            level_threshold: thresholds.best(),
            conclusion: Conclusion::new(totals, perfect_oracle, dropped),
        }
    }
}

impl Conclusion {
    fn new(totals: &ReplayTotals, perfect_oracle: Sent, dropped: Sent) -> Self {
        if dropped.packets == 0 {
            return Conclusion::NothingDropped;
        }
        let has_oracle = [ReplayPolicy::Lqd, ReplayPolicy::Credence];
        let without = totals.policies.iter().filter(|own| !has_oracle.contains(&own.policy));
        let mut best = (ReplayPolicy::AlwaysAccept, 0);
        for section in without {
            if section.sent.bytes > best.1 {
                best = (section.policy, section.sent.bytes);
            }
        }
        let (policy, bytes) = best;
        match perfect_oracle.bytes.checked_sub(bytes) {
            None | Some(0) => Conclusion::NoOracleNeeded {
                policy,
                more_bytes: bytes.saturating_sub(perfect_oracle.bytes),
            },
            Some(more) => Conclusion::OracleCouldGain {
                policy,
                bytes: more,
                share_of_lqd: more as f64 / totals.eta.lqd.bytes.max(1) as f64,
            },
        }
    }
}
