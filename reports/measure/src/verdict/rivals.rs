//! What a switch without an oracle could do instead: another alpha, or the untrained rule; and the optimum.

use super::asked_policies::{AskedPolicies, NamedOwnPolicy};
use super::class_alphas::{ClassAlphas, FoundAlphas};
use super::stretches::{GainRange, Stretches};
use crate::ratio;
use dropcast_data::{SwitchSpec, SwitchSpecs, TraceMeta};
use dropcast_pipeline::ReportError;
use dropcast_pipeline::named_policy::NamedPolicy;
use dropcast_pipeline::oracle_file::{OraclesByName, oracle_at, refuse_own};
use dropcast_replay::{
    Arrival, OptimumSent, OwnPolicy, ReplayError, ReplayOptions, RivalReplay, RivalSent,
    RivalsSent, Sent,
};
use dropcast_switch::{Alphas, NoParameters, PolicySite, PolicySpec};
use dropcast_train::Model;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Alphas of Dynamic Thresholds, as powers of two: those that SAI and the chips behind it have, without infinity,
/// which is Complete Sharing.
const ALPHA_EXPONENTS: std::ops::RangeInclusive<i32> = -7..=6;

/// How many these are, with infinity.
pub(super) const ALPHAS: usize =
    (*ALPHA_EXPONENTS.end() - *ALPHA_EXPONENTS.start() + 2).unsigned_abs() as usize;

/// The name of the model that is reported, among those that policies ask, where its file has none that settings can have.
const MODEL: &str = "model";

/// The alphas that the untrained rule and the model are tried over, beside infinity.
const RULE_EXPONENTS: std::ops::RangeInclusive<i32> = 1..=5;

/// A switch with more queues has no rivals but those that are asked for: each would take the memory of all its queues.
pub(super) const MOST_QUEUES: usize = 8_192;

/// What a policy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RivalKind {
    /// Dynamic Thresholds; Complete Sharing is alpha infinity.
    Alpha,
    /// The untrained rule over one of these.
    UntrainedRule,
    /// Dynamic Thresholds with an alpha for each queue of a port.
    ClassAlphas,
    /// The model as a filter over one of these, on the switch's own queues.
    ModelFilter,
    /// A policy that was asked for.
    Asked,
}

/// A policy that any switch could run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RivalSection {
    /// What it is.
    pub kind: RivalKind,
    /// The policy, as the registry names it (`docs/policies.md`).
    pub policy: String,
    /// The alpha of Dynamic Thresholds, also under rule and filter; null if it is infinite, or the policy another.
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
    /// Every policy, alphas first, those that were asked for last; only these where a switch has too many queues to
    /// replay all.
    pub policies: Vec<RivalSection>,
    /// Whether the best ones were chosen on rows that are not measured. If not, they were chosen on the very rows
    /// that they are measured on, and flatter themselves a little.
    pub chosen_on_other_rows: bool,
    /// The number in `policies` of the alpha that transmits most bytes.
    pub best_alpha: Option<usize>,
    /// That of the untrained rule over the base with which it transmits most bytes.
    pub best_rule: Option<usize>,
    /// That of the model as a filter over the base with which it transmits most bytes; null without a model.
    #[serde(default)]
    pub best_filter: Option<usize>,
    /// That of Dynamic Thresholds with an alpha for each queue of a port; null if none is better than the best alpha on
    /// the rows that choose.
    pub class_alphas: Option<usize>,
    /// What the best ones transmit more, and how sure that is.
    #[serde(default)]
    pub gains: RivalGains,
    /// What an algorithm that knows all arrivals could transmit; null if there are too many of them.
    pub optimum: Option<OptimumSection>,
}

/// Gains of the best policies; null where one of the two was not replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RivalGains {
    /// Stretches of equally many arrivals that the intervals are over: 33 to 64 of a trace, fewer of 4,096 each of a short
    /// one.
    pub stretches: u64,
    /// Of the best alpha over what the switch does by itself.
    pub alpha_over_own: Option<GainRange>,
    /// Of the untrained rule over the best alpha.
    pub rule_over_alpha: Option<GainRange>,
    /// Of the model as a filter over the best alpha.
    pub filter_over_alpha: Option<GainRange>,
    /// Of an alpha for each queue of a port over the best alpha.
    #[serde(default)]
    pub class_alphas_over_alpha: Option<GainRange>,
    /// Of the untrained rule over what the switch does by itself.
    #[serde(default)]
    pub rule_over_own: Option<GainRange>,
    /// Of the model as a filter over what the switch does by itself.
    #[serde(default)]
    pub filter_over_own: Option<GainRange>,
}

/// A policy that could be deployed in place of an alpha, and what it transmits more.
#[derive(Clone, Copy, Debug)]
pub struct Addition<'a> {
    /// The policy.
    pub rival: &'a RivalSection,
    /// More than the best alpha where that is set, else than what the switch does by itself.
    pub gain: GainRange,
}

/// What an algorithm that knows all arrivals could transmit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimumSection {
    /// No algorithm transmits more bytes.
    pub most_bytes: u64,
    /// That as a share of LQD's bytes.
    pub most_bytes_to_lqd: Option<f64>,
    /// What the best schedule transmits that was found, by bytes: that of Belady's rule, or LQD's, which knows no arrivals.
    pub found: Sent,
}

impl RivalsSection {
    /// The best alpha.
    pub fn best_alpha(&self) -> Option<&RivalSection> {
        self.policies.get(self.best_alpha?)
    }

    /// The model as a filter over its best base.
    pub fn best_filter(&self) -> Option<&RivalSection> {
        self.policies.get(self.best_filter?)
    }

    /// The best policy that a switch can run without an oracle, of those that were not asked for.
    pub(super) fn best(&self) -> Option<&RivalSection> {
        let best = [self.best_alpha(), self.class_alphas(), self.best_rule()].into_iter().flatten();
        best.reduce(|a, b| if b.sent.bytes > a.sent.bytes { b } else { a })
    }

    /// Dynamic Thresholds with an alpha for each queue of a port, if that is better.
    pub fn class_alphas(&self) -> Option<&RivalSection> {
        self.policies.get(self.class_alphas?)
    }

    /// Whether a switch that has `own` by itself is to have the best alpha: it has it, or gains by it beyond noise.
    pub fn alpha_is_set(&self, own: Option<&str>) -> bool {
        let is_own = self.best_alpha().is_some_and(|alpha| own == Some(&alpha.policy));
        is_own || self.gains.alpha_over_own.is_some_and(|gain| gain.is_sure())
    }

    /// What a switch that has `own` by itself could have in place of an alpha, the simplest first: an alpha for each
    /// queue, the untrained rule, the model as a filter.
    pub fn additions(&self, own: Option<&str>) -> impl Iterator<Item = Addition<'_>> {
        let gains = &self.gains;
        let over = match self.alpha_is_set(own) {
            true => [gains.class_alphas_over_alpha, gains.rule_over_alpha, gains.filter_over_alpha],
            false => [None, gains.rule_over_own, gains.filter_over_own],
        };
        let rivals = [self.class_alphas(), self.best_rule(), self.best_filter()];
        let all = rivals.into_iter().zip(over);
        all.filter_map(|(rival, gain)| Some(Addition { rival: rival?, gain: gain? }))
    }

    /// The policy to set on a switch that has `own` by itself: that of the additions that gain beyond noise which gains
    /// most, or the best alpha. None to keep what it has.
    pub(super) fn deploy(&self, own: Option<&str>) -> Option<String> {
        let alpha = self.best_alpha()?;
        let sure = self.additions(own).filter(|addition| addition.gain.is_sure());
        // Of equals the first, which needs least.
        let best = sure.reduce(|a, b| if b.gain.bytes > a.gain.bytes { b } else { a });
        match best {
            Some(addition) => Some(addition.rival.policy.clone()),
            None => {
                let is_own = own == Some(&alpha.policy);
                (!is_own && self.alpha_is_set(own)).then(|| alpha.policy.clone())
            }
        }
    }

    /// Those that were asked for.
    pub fn asked(&self) -> impl Iterator<Item = &RivalSection> {
        self.policies.iter().filter(|rival| rival.kind == RivalKind::Asked)
    }

    /// The untrained rule over its best base.
    pub fn best_rule(&self) -> Option<&RivalSection> {
        self.policies.get(self.best_rule?)
    }
}

/// Counts what the rivals transmit of several traces.
pub(super) struct Rivals {
    tried: Vec<Tried>,
    asked: Vec<Tried>,
    own: Vec<NamedOwnPolicy>,
    oracles: OraclesByName,
    threads: NonZeroUsize,
    class_alphas: ClassAlphas,
    /// Of those that are tried, then of what the switch does by itself.
    stretches: Stretches,
    sum: Option<RivalsSent>,
    /// Whether a switch of the traces is so large that only what is asked for is replayed.
    is_large: bool,
}

/// A policy that is tried.
#[derive(Clone)]
struct Tried {
    kind: RivalKind,
    /// Infinite if none.
    alpha: Option<f64>,
    policy: NamedPolicy,
}

impl Tried {
    /// `model` is the name of the model that a filter asks.
    fn new(kind: RivalKind, exponent: Option<i32>, model: &str) -> Self {
        let alpha = exponent.map(|exponent| f64::from(exponent).exp2());
        let base = alpha
            .and_then(|alpha| Alphas::try_from(alpha).ok())
            .map_or(PolicySpec::CompleteSharing(NoParameters {}), PolicySpec::dt);
        let spec = match kind {
            RivalKind::UntrainedRule => PolicySpec::untrained_rule(base),
            RivalKind::ModelFilter => PolicySpec::untrained_rule(base).with_model(model),
            _ => base,
        };
        Tried { kind, alpha, policy: spec.into() }
    }

    fn named(&self) -> (RivalKind, &str, Option<f64>) {
        (self.kind, &self.policy.label, self.alpha)
    }

    fn asked(policy: &NamedPolicy) -> Self {
        Tried { kind: RivalKind::Asked, alpha: None, policy: policy.clone() }
    }
}

/// One policy for each of these alphas, and for infinity.
fn over_bases(
    kind: RivalKind,
    exponents: std::ops::RangeInclusive<i32>,
    model: &str,
) -> impl Iterator<Item = Tried> {
    exponents.map(Some).chain([None]).map(move |exponent| Tried::new(kind, exponent, model))
}

/// Whether a policy's text can have this name as it is, without quotes in a shell.
fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !name.is_empty() && name.bytes().all(is_plain)
}

/// The replays of one trace.
pub(super) struct TraceRivals {
    replay: RivalReplay,
}

impl Rivals {
    pub(super) fn new(threads: NonZeroUsize, asked: &AskedPolicies) -> Self {
        let alphas = over_bases(RivalKind::Alpha, ALPHA_EXPONENTS, MODEL);
        let rules = over_bases(RivalKind::UntrainedRule, RULE_EXPONENTS, MODEL);
        let tried: Vec<Tried> = alphas.chain(rules).collect();
        Rivals {
            stretches: Stretches::new(tried.len() + 1),
            tried,
            asked: asked.policies.iter().map(Tried::asked).collect(),
            own: asked.own.clone(),
            oracles: asked.oracles.clone(),
            threads,
            class_alphas: ClassAlphas::default(),
            sum: None,
            is_large: false,
        }
    }

    /// Tries a model, of a file of this name, as a filter, too; not one with features of the user's own, which a switch
    /// does not compute.
    pub(super) fn filtering(mut self, model: &Model, file: Option<&str>) -> Self {
        if refuse_own(&model.features).is_ok() {
            let is_free = |name: &&str| is_plain(name) && !self.oracles.contains_key(*name);
            let name = file.filter(is_free).unwrap_or(MODEL);
            self.tried.extend(over_bases(RivalKind::ModelFilter, RULE_EXPONENTS, name));
            self.oracles.insert(name.to_owned(), Arc::new(model.clone()));
            self.stretches = Stretches::new(self.tried.len() + 1);
        }
        self
    }

    /// Replays of another trace; none if there is nothing to replay on it.
    ///
    /// # Errors
    /// If a switch cannot have a policy that was asked for.
    pub(super) fn begin(
        &mut self,
        trace: &str,
        meta: &TraceMeta,
        specs: &SwitchSpecs,
    ) -> Result<Option<TraceRivals>, ReportError> {
        let each: Vec<&SwitchSpec> = match specs {
            SwitchSpecs::Same(spec) => vec![spec],
            SwitchSpecs::Each(specs) => specs.values().collect(),
        };
        for (spec, asked) in
            each.iter().flat_map(|spec| self.asked.iter().map(move |of| (spec, of)))
        {
            let oracle = asked.policy.spec.model().and_then(|name| self.oracles.get(name));
            let model = oracle.map(|model| oracle_at(model, spec.buffer_bytes));
            let site = PolicySite { model, ..PolicySite::new(spec, 0) };
            asked.policy.spec.build(site).map_err(|source| ReportError::Policy {
                trace: trace.to_owned(),
                policy: asked.policy.label.clone(),
                source,
            })?;
        }
        if each.iter().any(|spec| spec.queues() > MOST_QUEUES) && !self.is_large {
            // What was replayed on smaller switches is no sum of all.
            self.is_large = true;
            self.tried.clear();
            self.sum = self.sum.take().map(|sum| sum.of_last(self.asked.len() + self.own.len()));
        }
        if self.is_large && self.asked.is_empty() && self.own.is_empty() {
            return Ok(None);
        }
        let all = self.tried.iter().chain(&self.asked);
        let policies: Vec<PolicySpec> = all.map(|tried| tried.policy.spec.clone()).collect();
        let options = ReplayOptions::for_trace(meta);
        let specs = specs.clone();
        self.class_alphas.begin(meta, &specs);
        let own: Vec<OwnPolicy> = self.own.iter().map(|own| own.policy.clone()).collect();
        let replay = RivalReplay::new(specs, options, &meta.pauses, &policies, self.threads);
        let replay = replay.with(&own).asking(self.oracles.clone());
        let replay = if self.is_large { replay.without_optimum() } else { replay };
        Ok(Some(TraceRivals { replay }))
    }

    /// The next arrivals of the trace.
    pub(super) fn add(
        &mut self,
        trace: &mut TraceRivals,
        arrivals: &[Arrival],
    ) -> Result<(), ReplayError> {
        trace.replay.add(arrivals)?;
        if !self.is_large {
            self.class_alphas.add(arrivals);
        }
        Ok(())
    }

    /// Counts what is dropped of the last arrivals, of which the switch by itself drops `by_own`.
    pub(super) fn count_drops(
        &mut self,
        trace: &TraceRivals,
        arrivals: &[Arrival],
        by_own: &[bool],
    ) {
        if !self.is_large {
            let tried = (0..self.tried.len()).map(|place| trace.replay.rejected(place));
            self.stretches.add(arrivals, tried.chain([by_own]));
        }
    }

    /// Sets the bit of each alpha, by its number in [`RivalsSection::policies`], in those of the last arrivals that it
    /// drops.
    pub(super) fn mark_drops(&self, trace: &TraceRivals, marks: &mut [u16]) {
        // Alphas come first.
        for at in 0..ALPHAS.min(self.tried.len()) {
            for (mark, &drops) in marks.iter_mut().zip(trace.replay.rejected(at)) {
                *mark |= u16::from(drops) << at;
            }
        }
    }

    pub(super) fn end(&mut self, TraceRivals { replay }: TraceRivals) {
        self.stretches.end();
        let sent = replay.finish();
        match &mut self.sum {
            Some(sum) => sum.add(&sent),
            None => self.sum = Some(sent),
        }
    }

    pub(super) fn section(&self, lqd: Sent) -> RivalsSection {
        let Some(RivalsSent { policies, optimum }) = &self.sum else {
            return RivalsSection::default();
        };
        let chosen_on_other_rows = policies.iter().any(|sent| sent.others.packets > 0);
        let bytes = |sent: &RivalSent| {
            if chosen_on_other_rows { sent.others.bytes } else { sent.counted.bytes }
        };
        let best = |kind| {
            let of_kind = self.tried.iter().zip(policies).enumerate();
            let of_kind = of_kind.filter(|(_, (tried, _))| tried.kind == kind);
            // Of equals the last, the highest alpha: doing nothing if that is as good.
            of_kind.max_by_key(|(_, (_, sent))| bytes(sent)).map(|(place, _)| place)
        };
        let section = |(kind, label, alpha): (RivalKind, &str, _), sent: &RivalSent| RivalSection {
            kind,
            policy: label.to_owned(),
            alpha,
            sent: sent.counted,
            bytes_to_lqd: ratio(sent.counted.bytes, lqd.bytes),
            other_rows: chosen_on_other_rows.then_some(sent.others),
        };
        let all = self.tried.iter().chain(&self.asked).map(Tried::named);
        let all = all.chain(self.own.iter().map(|own| (RivalKind::Asked, &*own.label, None)));
        let mut sections: Vec<RivalSection> =
            all.zip(policies).map(|(named, sent)| section(named, sent)).collect();
        let best_alpha = best(RivalKind::Alpha);
        let (best_rule, best_filter) =
            (best(RivalKind::UntrainedRule), best(RivalKind::ModelFilter));
        // Of how many a best one was chosen on the rows that are measured.
        let choices = |kind| {
            let of_kind = self.tried.iter().filter(|tried| tried.kind == kind).count() as u64;
            if chosen_on_other_rows { 1 } else { of_kind }
        };
        let alphas = choices(RivalKind::Alpha);
        let over_alpha = |place: Option<usize>, kind| {
            Some(self.stretches.gain(place?, best_alpha?, choices(kind) * alphas))
        };
        let own = self.tried.len();
        let over_own =
            |place: Option<usize>, kind| Some(self.stretches.gain(place?, own, choices(kind)));
        let mut gains = best_alpha.map_or_else(RivalGains::default, |best| RivalGains {
            stretches: self.stretches.count(),
            alpha_over_own: Some(self.stretches.gain(best, own, alphas)),
            rule_over_own: over_own(best_rule, RivalKind::UntrainedRule),
            filter_over_own: over_own(best_filter, RivalKind::ModelFilter),
            rule_over_alpha: over_alpha(best_rule, RivalKind::UntrainedRule),
            filter_over_alpha: over_alpha(best_filter, RivalKind::ModelFilter),
            class_alphas_over_alpha: None,
        });
        let by_class = best_alpha.and_then(|best| {
            let (tried, sent) = self.by_class(policies[best], bytes, best)?;
            let compared = [tried.policy.spec.clone(), self.tried[best].policy.spec.clone()];
            // The arrivals were replayed before.
            let stretches = self.class_alphas.stretches(&compared, self.threads).ok()?;
            let settings = self.class_alphas.settings(ALPHA_EXPONENTS.count());
            let choices = if chosen_on_other_rows { 1 } else { settings.saturating_mul(alphas) };
            gains.class_alphas_over_alpha = Some(stretches.gain(0, 1, choices));
            Some((tried, sent))
        });
        let class_alphas = by_class.map(|(tried, sent)| {
            let place = self.tried.len();
            sections.insert(place, section(tried.named(), &sent));
            place
        });
        RivalsSection {
            policies: sections,
            chosen_on_other_rows,
            best_alpha,
            best_rule,
            best_filter,
            class_alphas,
            gains,
            optimum: optimum.map(|OptimumSent { most_bytes, schedule }| OptimumSection {
                most_bytes,
                most_bytes_to_lqd: ratio(most_bytes, lqd.bytes),
                found: if schedule.counted.bytes > lqd.bytes { schedule.counted } else { lqd },
            }),
        }
    }

    /// An alpha for each queue, if that is better than the best alpha of all, number `best` of those tried.
    fn by_class(
        &self,
        sent: RivalSent,
        bytes: impl Fn(&RivalSent) -> u64,
        best: usize,
    ) -> Option<(Tried, RivalSent)> {
        let grid: Vec<f64> = ALPHA_EXPONENTS.map(|exponent| f64::from(exponent).exp2()).collect();
        // An infinite alpha is no better than the highest, of a queue that is below it.
        let common = self.tried[best].alpha.or(grid.last().copied())?;
        // The arrivals were replayed before.
        let found = self.class_alphas.search((common, sent), &grid, bytes, self.threads).ok()??;
        let policy = FoundAlphas::spec(&found.alphas)?.into();
        Some((Tried { kind: RivalKind::ClassAlphas, alpha: None, policy }, found.sent))
    }
}
