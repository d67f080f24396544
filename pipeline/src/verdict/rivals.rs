//! What a switch without an oracle could do instead: another alpha, or the untrained rule; and the optimum.

use super::level_thresholds::share;
use dropcast_data::{SwitchSpec, SwitchSpecs, TraceMeta};
use dropcast_replay::{OptimumSent, ReplayOptions, RivalReplay, RivalSent, RivalsSent, Sent};
use dropcast_switch::policies::dynamic_thresholds::DynamicThresholdsParameters;
use dropcast_switch::policies::oracle::OracleParameters;
use dropcast_switch::{Alphas, NoParameters, PolicySpec};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Alphas of Dynamic Thresholds, as powers of two: those that SAI and the chips behind it have, without infinity,
/// which is Complete Sharing.
const ALPHA_EXPONENTS: std::ops::RangeInclusive<i32> = -7..=6;

/// The alphas that the untrained rule is tried over, beside infinity.
const RULE_EXPONENTS: std::ops::RangeInclusive<i32> = 1..=5;

/// A switch with more queues has no rivals: each of them would take the memory of all its queues.
const MOST_QUEUES: usize = 8_192;

/// What a policy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RivalKind {
    /// Dynamic Thresholds; Complete Sharing is alpha infinity.
    Alpha,
    /// The untrained rule over one of these.
    UntrainedRule,
}

/// A policy that any switch could run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RivalSection {
    /// What it is.
    pub kind: RivalKind,
    /// The policy, as the registry names it (`docs/policies.md`).
    pub policy: String,
    /// The alpha of Dynamic Thresholds, also under the rule; null if it is infinite.
    pub alpha: Option<f64>,
    /// What it transmits.
    pub sent: Sent,
    /// Its bytes as a share of LQD's.
    pub bytes_to_lqd: Option<f64>,
    /// What it transmits of the rows that are not measured; null if all are.
    pub other_rows: Option<Sent>,
}

/// What any switch could do, and the optimum.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RivalsSection {
    /// Every policy, alphas first; empty where a switch has too many queues to replay them all.
    pub policies: Vec<RivalSection>,
    /// Whether the best ones were chosen on rows that are not measured. If not, they were chosen on the very rows
    /// that they are measured on, and flatter themselves a little.
    pub chosen_on_other_rows: bool,
    /// The number in `policies` of the alpha that transmits most bytes.
    pub best_alpha: Option<usize>,
    /// That of the untrained rule over the base with which it transmits most bytes.
    pub best_rule: Option<usize>,
    /// What an algorithm that knows all arrivals could transmit; null if there are too many of them.
    pub optimum: Option<OptimumSection>,
}

/// What an algorithm that knows all arrivals could transmit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimumSection {
    /// No algorithm transmits more bytes.
    pub most_bytes: u64,
    /// That as a share of LQD's bytes.
    pub most_bytes_to_lqd: Option<f64>,
    /// What the best schedule transmits that was found: that of Belady's rule, or LQD's, which knows no arrivals.
    pub found: Sent,
}

impl RivalsSection {
    /// The best alpha.
    pub fn best_alpha(&self) -> Option<&RivalSection> {
        self.policies.get(self.best_alpha?)
    }

    /// The untrained rule over its best base.
    pub fn best_rule(&self) -> Option<&RivalSection> {
        self.policies.get(self.best_rule?)
    }
}

/// Counts what the rivals transmit of several traces.
pub(super) struct Rivals {
    tried: Vec<Tried>,
    threads: NonZeroUsize,
    sum: Option<RivalsSent>,
    /// Whether a trace was left out; then there is no sum.
    is_partial: bool,
}

/// A policy that is tried.
#[derive(Clone)]
struct Tried {
    kind: RivalKind,
    /// Infinite if none.
    alpha: Option<f64>,
    spec: PolicySpec,
}

impl Tried {
    fn new(kind: RivalKind, exponent: Option<i32>) -> Self {
        let alpha = exponent.map(|exponent| f64::from(exponent).exp2());
        let base = alpha
            .and_then(|alpha| Alphas::try_from(alpha).ok())
            .map_or(PolicySpec::CompleteSharing(NoParameters {}), |alpha| {
                PolicySpec::DynamicThresholds(DynamicThresholdsParameters { alpha })
            });
        let spec = match kind {
            RivalKind::Alpha => base,
            RivalKind::UntrainedRule => {
                let base = Box::new(base);
                PolicySpec::Oracle(OracleParameters { base, ..OracleParameters::default() })
            }
        };
        Tried { kind, alpha, spec }
    }

    /// As users write it.
    fn text(&self) -> String {
        let base = self.alpha.map_or("complete-sharing".to_owned(), |of| format!("dt:alpha={of}"));
        match self.kind {
            RivalKind::Alpha => base,
            RivalKind::UntrainedRule => format!("oracle:base={base}"),
        }
    }
}

impl Rivals {
    pub(super) fn new(threads: NonZeroUsize) -> Self {
        let of = |kind, exponents: std::ops::RangeInclusive<i32>| {
            exponents.map(Some).chain([None]).map(move |exponent| Tried::new(kind, exponent))
        };
        let alphas = of(RivalKind::Alpha, ALPHA_EXPONENTS);
        let rules = of(RivalKind::UntrainedRule, RULE_EXPONENTS);
        Rivals { tried: alphas.chain(rules).collect(), threads, sum: None, is_partial: false }
    }

    /// Replays of another trace; none if a switch is too large.
    pub(super) fn begin(&mut self, meta: &TraceMeta, specs: &SwitchSpecs) -> Option<RivalReplay> {
        let queues = match specs {
            SwitchSpecs::Same(spec) => spec.queues(),
            SwitchSpecs::Each(specs) => specs.values().map(SwitchSpec::queues).max().unwrap_or(0),
        };
        if queues > MOST_QUEUES {
            self.is_partial = true;
            return None;
        }
        let policies: Vec<PolicySpec> = self.tried.iter().map(|tried| tried.spec.clone()).collect();
        let options = ReplayOptions::for_trace(meta);
        let specs = specs.clone();
        Some(RivalReplay::new(specs, options, &meta.pauses, &policies, self.threads))
    }

    pub(super) fn end(&mut self, replay: RivalReplay) {
        let sent = replay.finish();
        match &mut self.sum {
            Some(sum) => sum.add(&sent),
            None => self.sum = Some(sent),
        }
    }

    pub(super) fn section(&self, lqd: Sent) -> RivalsSection {
        let Some(RivalsSent { policies, optimum }) = self.sum.as_ref().filter(|_| !self.is_partial)
        else {
            return RivalsSection::default();
        };
        let chosen_on_other_rows = policies.iter().any(|sent| sent.others.packets > 0);
        let best = |kind| {
            let of_kind = self.tried.iter().zip(policies).enumerate();
            let of_kind = of_kind.filter(|(_, (tried, _))| tried.kind == kind);
            // Of equals the last, the highest alpha: doing nothing if that is as good.
            let bytes = |sent: &RivalSent| {
                if chosen_on_other_rows { sent.others.bytes } else { sent.counted.bytes }
            };
            of_kind.max_by_key(|(_, (_, sent))| bytes(sent)).map(|(place, _)| place)
        };
        let section = |(tried, sent): (&Tried, &RivalSent)| RivalSection {
            kind: tried.kind,
            policy: tried.text(),
            alpha: tried.alpha,
            sent: sent.counted,
            bytes_to_lqd: share(sent.counted.bytes, lqd.bytes),
            other_rows: chosen_on_other_rows.then_some(sent.others),
        };
        RivalsSection {
            policies: self.tried.iter().zip(policies).map(section).collect(),
            chosen_on_other_rows,
            best_alpha: best(RivalKind::Alpha),
            best_rule: best(RivalKind::UntrainedRule),
            optimum: optimum.map(|OptimumSent { most_bytes, schedule }| OptimumSection {
                most_bytes,
                most_bytes_to_lqd: share(most_bytes, lqd.bytes),
                found: if schedule.counted.bytes > lqd.bytes { schedule.counted } else { lqd },
            }),
        }
    }
}
