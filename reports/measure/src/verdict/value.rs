//! The verdict: all its numbers in one value.

use super::advice::Advice;
use super::against_now::AgainstNow;
use super::check::{CheckResult, CheckStatus};
use super::congestion::{CongestionSection, OccupancySection};
use super::drop_counts::DropCounts;
use super::episodes::EpisodeSection;
use super::hours::HourSection;
use super::level_thresholds::LevelThreshold;
use super::pauses::PauseSection;
use super::places::{QueueDrops, SwitchDrops, TraceDrops};
use super::real_drops::ReasonSection;
use super::rivals::RivalsSection;
use super::timeline::TimelineSection;
use crate::{AgreementSection, PolicySection, ReplayTotals};
use dropcast_pipeline::wall_clock::UtcOffset;
use dropcast_replay::{Arrival, ReplayPolicy, Sent};
use dropcast_switch::Alphas;
use serde::{Deserialize, Serialize};

/// Version of [`Verdict`] as JSON.
pub const VERDICT_SCHEMA_VERSION: u32 = 1;

/// The flows of arrivals that count (docs/trace.md), in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Packets whose flow is known.
    pub known: u64,
    /// Packets of their flow's first round-trip time.
    pub first_rtt: u64,
}

impl FlowCounts {
    pub(super) fn add(&mut self, arrival: &Arrival) {
        self.known += u64::from(arrival.flow_hash != 0);
        self.first_rtt += u64::from(arrival.first_rtt);
    }
}

/// What an oracle could be worth on labelled traces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// [`VERDICT_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Names of the traces, all different.
    pub traces: Vec<String>,
    /// Whether the numbers can be trusted: what each check found.
    pub checks: Vec<CheckResult>,
    /// The replay's LQD, drained at line rate, against the labels. They differ where labels follow the trace's own
    /// departures.
    pub lqd_agreement: AgreementSection,
    /// All arrivals.
    pub arrived: Sent,
    /// How many of them have a known flow, and how many are of their flow's first round trip.
    pub flows: FlowCounts,
    /// What LQD drops of them, by the labels.
    pub dropped: Sent,
    /// How full LQD's buffers are, as shares of each; null without arrivals.
    pub occupancy: Option<OccupancySection>,
    /// Times in which LQD drops.
    pub congestion: CongestionSection,
    /// The `alpha` of Dynamic Thresholds below, one or one for each queue of a port; null if it is not the same
    /// at every switch.
    pub dynamic_thresholds_alpha: Option<Alphas>,
    /// Whether a switch's description has no `dt_alpha`: its own policy is then taken to be Complete Sharing, and Dynamic Thresholds
    /// has the Credence paper's 0.5.
    pub alpha_is_assumed: bool,
    /// What the switch does by itself, as the registry names it ([`dropcast_replay::own_policy`]): Dynamic Thresholds
    /// with the alpha of its description, Complete Sharing if that has none; null if switches differ.
    pub own_policy: Option<String>,
    /// How much longer than its threshold Credence lets a queue become, bytes, below and in exported
    /// decisions: `slack_bytes` of the switch's description; null if it is not the same at every switch.
    pub slack_bytes: Option<u32>,
    /// What LQD and the policies without predictions transmit.
    pub policies: Vec<PolicySection>,
    /// What any switch could do without an oracle, and the optimum.
    pub rivals: RivalsSection,
    /// What Credence transmits with a perfect oracle: every label known when its packet arrives.
    pub perfect_oracle: Sent,
    /// Its packets as a share of LQD's.
    pub perfect_oracle_packets_to_lqd: Option<f64>,
    /// Its bytes as a share of LQD's.
    pub perfect_oracle_bytes_to_lqd: Option<f64>,
    /// The best single comparison.
    pub level_threshold: Option<LevelThreshold>,
    /// What follows.
    pub conclusion: Conclusion,
    /// What to do, over all arrivals.
    pub advice: Advice,
    /// What policies lose of the arrivals that count, against what the switch has.
    #[serde(default)]
    pub against_now: Vec<AgainstNow>,
    /// All arrivals, by what LQD, the switch's own policy, the best alpha, the real switch and the model did with them.
    pub counts: DropCounts,
    /// What the real switch dropped, by reason; empty if the traces tell of no real drops.
    pub real_reasons: Vec<ReasonSection>,
    /// Times in which queues may not send (PFC); null if there are none.
    #[serde(default)]
    pub pauses: Option<PauseSection>,
    /// Each trace over time.
    pub timelines: Vec<TimelineSection>,
    /// Each trace as a whole.
    pub by_trace: Vec<TraceDrops>,
    /// All traces by the hour.
    pub hours: Vec<HourSection>,
    /// The worst episodes of congestion, those with the most drops first.
    pub episodes: Vec<EpisodeSection>,
    /// Each switch of each trace.
    pub switches: Vec<SwitchDrops>,
    /// The queues at which something is dropped or predicted to be.
    pub queues: Vec<QueueDrops>,
    /// Of these, how many are left out because there are too many.
    pub queues_left_out: u64,
    /// The clock of times in texts and on pages; JSON has UTC.
    #[serde(skip)]
    pub utc_offset: UtcOffset,
}

impl Verdict {
    /// Whether no check failed. If one did, the replay is not of this switch, and nothing follows from it.
    pub fn is_trusted(&self) -> bool {
        self.checks.iter().all(|result| result.status != CheckStatus::Failed)
    }
}

/// What follows from a [`Verdict`], in bytes. Policies are those that a switch can run: Dynamic Thresholds at its best
/// alpha, of which Complete Sharing is one, and the untrained rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Conclusion {
    /// LQD drops nothing, so there is nothing to predict.
    NothingDropped,
    /// A policy without an oracle transmits as many bytes as Credence with a perfect one.
    NoOracleNeeded {
        /// That policy, as the registry names it.
        policy: String,
        /// What it transmits more, bytes.
        more_bytes: u64,
    },
    /// A perfect oracle transmits more than every policy without one.
    OracleCouldGain {
        /// The best policy without an oracle, as the registry names it.
        policy: String,
        /// What Credence transmits more with a perfect oracle, bytes.
        bytes: u64,
        /// The same as a share of what LQD transmits.
        share_of_lqd: f64,
    },
}

impl Conclusion {
    pub(super) fn new(
        rivals: &RivalsSection,
        totals: &ReplayTotals,
        perfect_oracle: Sent,
        dropped: Sent,
    ) -> Self {
        if dropped.packets == 0 {
            return Conclusion::NothingDropped;
        }
        let (policy, bytes) = match rivals.best() {
            Some(best) => (best.policy.clone(), best.sent.bytes),
            // Without rivals: what they begin with.
            None => {
                let is_shared = |of: &&PolicySection| of.policy == ReplayPolicy::CompleteSharing;
                let shared = totals.policies.iter().find(is_shared);
                ("complete-sharing".to_owned(), shared.map_or(0, |of| of.sent.bytes))
            }
        };
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
