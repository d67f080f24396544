//! What a switch without an oracle could do instead: another alpha; and the optimum.

use super::advice::{Advice, ComparedPolicy, Contender, Cost, Now};
use super::asked_policies::{AskedPolicies, NamedOwnPolicy};
use super::class_alphas::{ClassAlphas, FoundAlphas};
use super::contrasts::{Contrasts, EpisodeGain};
use crate::ratio;
use dropcast_data::{SwitchSpec, SwitchSpecs, TraceMeta};
use dropcast_pipeline::ReportError;
use dropcast_pipeline::named_policy::NamedPolicy;
use dropcast_pipeline::oracle_file::{OraclesByName, oracle_at, refuse_own};
use dropcast_replay::{
    Arrival, OptimumSent, OwnPolicy, ReplayError, ReplayOptions, RivalReplay, RivalSent,
    RivalsSent, Sent,
};
use dropcast_switch::{Alphas, PolicySite, PolicySpec};
use dropcast_train::TrainedModel;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Alphas of Dynamic Thresholds, as powers of two: those that SAI and the chips behind it have, without infinity,
/// which is Complete Sharing.
const ALPHA_EXPONENTS: std::ops::RangeInclusive<i32> = -7..=6;

/// How many these are, with infinity.
pub(super) const ALPHAS: usize =
    (*ALPHA_EXPONENTS.end() - *ALPHA_EXPONENTS.start() + 2).unsigned_abs() as usize;

/// The name of the model that is reported, among those that policies ask, where its file has none that settings can have.
const MODEL: &str = "model";

/// A switch with more queues has no rivals but those that are asked for: each would take the memory of all its queues.
pub(super) const MOST_QUEUES: usize = 8_192;

/// What a policy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RivalKind {
    /// Dynamic Thresholds; Complete Sharing is alpha infinity.
    Alpha,
    /// Dynamic Thresholds with an alpha for each queue of a port.
    ClassAlphas,
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
    /// The alpha of Dynamic Thresholds; null if it is infinite, or the policy another.
    pub alpha: Option<f64>,
    /// What it transmits.
    pub sent: Sent,
    /// Its bytes as a share of LQD's.
    pub bytes_to_lqd: Option<f64>,
}

/// What any switch could do, and the optimum.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RivalsSection {
    /// Every policy, alphas first, those that were asked for last; only these where a switch has too many queues to
    /// replay all.
    pub policies: Vec<RivalSection>,
    /// The number in `policies` of the alpha that loses fewest bytes of all arrivals, the smallest of equals. Infinity is one
    /// where the switch has it.
    pub best_alpha: Option<usize>,
    /// That of Dynamic Thresholds with an alpha for each queue of a port; null if none is better than the best alpha.
    pub class_alphas: Option<usize>,
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
    /// What the best schedule transmits that was found, by bytes: that of Belady's rule, or LQD's, which knows no arrivals.
    pub found: Sent,
}

impl RivalsSection {
    /// The best alpha.
    pub fn best_alpha(&self) -> Option<&RivalSection> {
        self.policies.get(self.best_alpha?)
    }

    /// The best policy that a switch can run without an oracle, of those that were not asked for.
    pub(super) fn best(&self) -> Option<&RivalSection> {
        let best = [self.best_alpha(), self.class_alphas()].into_iter().flatten();
        best.reduce(|a, b| if b.sent.bytes > a.sent.bytes { b } else { a })
    }

    /// Dynamic Thresholds with an alpha for each queue of a port, if that is better.
    pub fn class_alphas(&self) -> Option<&RivalSection> {
        self.policies.get(self.class_alphas?)
    }

    /// Those that were asked for.
    pub fn asked(&self) -> impl Iterator<Item = &RivalSection> {
        self.policies.iter().filter(|rival| rival.kind == RivalKind::Asked)
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
    /// Of those that are tried, then of what the switch does by itself, Credence with the model, LQD.
    contrasts: Contrasts,
    /// The name of the model that is reported.
    model: Option<String>,
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
    /// Dynamic Thresholds; without an exponent Complete Sharing.
    fn alpha(exponent: Option<i32>) -> Self {
        let alpha = exponent.map(|exponent| f64::from(exponent).exp2());
        let spec = alpha
            .and_then(|alpha| Alphas::try_from(alpha).ok())
            .map_or(PolicySpec::CompleteSharing(Default::default()), PolicySpec::dt);
        Tried { kind: RivalKind::Alpha, alpha, policy: spec.into() }
    }

    fn named(&self) -> (RivalKind, &str, Option<f64>) {
        (self.kind, &self.policy.label, self.alpha)
    }

    fn asked(policy: &NamedPolicy) -> Self {
        Tried { kind: RivalKind::Asked, alpha: None, policy: policy.clone() }
    }
}

/// Compares those that are tried, what the switch has, Credence with the model, LQD, and what the switch has on rows that count
/// alone.
fn contrasts(tried: &[Tried]) -> Contrasts {
    let trained = tried.iter().map(|_| false);
    Contrasts::new(trained.chain([false, true, false, true]).collect())
}

/// An alpha for each queue, compared with one alpha and with what the switch has.
struct Searched {
    /// The first is the alpha for each queue.
    contrasts: Contrasts,
    /// The number of each of these among all that are compared; none of the first.
    places: Vec<Option<usize>>,
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
        let exponents = ALPHA_EXPONENTS.map(Some).chain([None]);
        let tried: Vec<Tried> = exponents.map(Tried::alpha).collect();
        Rivals {
            contrasts: contrasts(&tried),
            model: None,
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

    /// Compares Credence with a model, of a file of this name, too; not one with features of the user's own, which a
    /// switch does not compute.
    pub(super) fn with_model(mut self, model: &TrainedModel, file: Option<&str>) -> Self {
        if refuse_own(&model.features).is_ok() {
            self.model = Some(file.filter(|name| is_plain(name)).unwrap_or(MODEL).to_owned());
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

    /// Counts what is dropped of the last arrivals: by the switch as it is, and by Credence with the model, if there is one.
    pub(super) fn count_drops(
        &mut self,
        trace: &TraceRivals,
        arrivals: &[Arrival],
        specs: &SwitchSpecs,
        [by_own, by_credence]: [&[bool]; 2],
    ) {
        if !self.is_large {
            let by_lqd: Vec<bool> = arrivals.iter().map(|arrival| arrival.dropped).collect();
            let tried = (0..self.tried.len()).map(|place| trace.replay.rejected(place));
            self.contrasts.add(
                arrivals,
                specs,
                tried.chain([by_own, by_credence, &by_lqd, by_own]),
            );
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
        self.contrasts.end();
        let sent = replay.finish();
        match &mut self.sum {
            Some(sum) => sum.add(&sent),
            None => self.sum = Some(sent),
        }
    }

    /// What was replayed, and what to do on a switch that has `own` by itself. `lqd` is what LQD transmits, `length_ns` how
    /// long the traces are.
    pub(super) fn section(
        &self,
        lqd: Sent,
        own: Option<&str>,
        (least_gain, length_ns): (f64, u64),
    ) -> (RivalsSection, Advice) {
        let Some(RivalsSent { policies, optimum }) = &self.sum else {
            return Default::default();
        };
        let section = |(kind, label, alpha): (RivalKind, &str, _), sent: &RivalSent| RivalSection {
            kind,
            policy: label.to_owned(),
            alpha,
            sent: sent.counted,
            bytes_to_lqd: ratio(sent.counted.bytes, lqd.bytes),
        };
        let all = self.tried.iter().chain(&self.asked).map(Tried::named);
        let all = all.chain(self.own.iter().map(|own| (RivalKind::Asked, &*own.label, None)));
        let mut sections: Vec<RivalSection> =
            all.zip(policies).map(|(named, sent)| section(named, sent)).collect();
        let best_alpha = self.best(own);
        let by_class = best_alpha.and_then(|best| self.by_class(policies[best], best));
        let class_alphas = by_class.as_ref().map(|(tried, sent)| {
            let place = self.tried.len();
            sections.insert(place, section(tried.named(), sent));
            place
        });
        let optimum = optimum.map(|OptimumSent { most_bytes, schedule }| OptimumSection {
            most_bytes,
            most_bytes_to_lqd: ratio(most_bytes, lqd.bytes),
            found: if schedule.counted.bytes > lqd.bytes { schedule.counted } else { lqd },
        });
        let rivals = RivalsSection { policies: sections, best_alpha, class_alphas, optimum };
        let advice =
            self.advice(&rivals, own, by_class.map(|(tried, _)| tried), (least_gain, length_ns));
        (rivals, advice)
    }

    /// The numbers of the alphas that a switch can have. Infinity is one only where it is its `own`.
    fn possible(&self, own: Option<&str>) -> impl Iterator<Item = usize> + Clone {
        let tried = self.tried.iter().enumerate();
        let tried = tried
            .filter(move |(_, tried)| tried.alpha.is_some() || own == Some(&tried.policy.label));
        tried.map(|(place, _)| place)
    }

    /// That of the one that loses fewest bytes; of equals the first, which has the smallest alpha.
    fn best(&self, own: Option<&str>) -> Option<usize> {
        self.possible(own).min_by_key(|&place| self.contrasts.lost_bytes(place, false))
    }

    /// What a policy transmits more than what the switch has, of arrivals that count; none if that is not known by episode.
    pub(super) fn gain_of_counted(&self, policy: &str, own: Option<&str>) -> Option<EpisodeGain> {
        let (tried, best) = (&self.tried, self.best(own));
        if self.is_large {
            return None;
        }
        let (place, choices) = match policy {
            "lqd" => (tried.len() + 2, 1),
            _ if self.model_policy().as_deref() == Some(policy) => (tried.len() + 1, 1),
            _ => {
                let place = tried.iter().position(|of| of.policy.label == policy)?;
                (place, if best == Some(place) { self.possible(own).count() as u64 } else { 1 })
            }
        };
        Some(self.contrasts.gain(place, tried.len() + 3, choices))
    }

    /// Credence with the model, as the registry names it.
    pub(super) fn model_policy(&self) -> Option<String> {
        self.model.as_ref().map(|name| format!("credence:model={name}"))
    }

    fn advice(
        &self,
        rivals: &RivalsSection,
        own: Option<&str>,
        by_class: Option<Tried>,
        (least_gain, length_ns): (f64, u64),
    ) -> Advice {
        if self.is_large {
            return Advice::default();
        }
        let (now, credence, lqd) = (self.tried.len(), self.tried.len() + 1, self.tried.len() + 2);
        let lost = |place: usize, is_trained| self.contrasts.lost_bytes(place, is_trained);
        let alpha = rivals.best_alpha.and_then(|place| {
            let tried = self.tried.get(place)?;
            Some(Contender {
                cost: Cost::Setting,
                policy: tried.policy.label.clone(),
                alpha: tried.alpha,
                lost_bytes: lost(place, false),
                now_lost_bytes: lost(now, false),
                choices: self.possible(own).count() as u64,
                place: ComparedPolicy::Of(place),
            })
        });
        let single = |cost, policy: String, place, is_trained| Contender {
            cost,
            policy,
            alpha: None,
            lost_bytes: lost(place, is_trained),
            now_lost_bytes: lost(now, is_trained),
            choices: 1,
            place: ComparedPolicy::Of(place),
        };
        let searched = by_class.as_ref().and_then(|tried| self.searched(rivals, own?, tried));
        let queues = by_class.zip(searched.as_ref()).map(|(tried, searched)| Contender {
            cost: Cost::QueueSettings,
            policy: tried.policy.label,
            alpha: None,
            lost_bytes: searched.contrasts.lost_bytes(0, false),
            now_lost_bytes: lost(now, false),
            choices: self.class_alphas.settings(ALPHA_EXPONENTS.count()),
            place: ComparedPolicy::ByQueue,
        });
        let model =
            self.model_policy().map(|policy| single(Cost::Credence, policy, credence, true));
        let contenders =
            [alpha, queues, model, Some(single(Cost::OtherChip, "lqd".to_owned(), lqd, false))];
        let gain = |a: ComparedPolicy, b: ComparedPolicy, choices: u64| -> Option<EpisodeGain> {
            let number = |place| match place {
                ComparedPolicy::Now => Some(now),
                ComparedPolicy::Of(place) => Some(place),
                ComparedPolicy::ByQueue => None,
            };
            if let (Some(a), Some(b)) = (number(a), number(b)) {
                return Some(self.contrasts.gain(a, b, choices));
            }
            let Searched { contrasts, places } = searched.as_ref()?;
            let place = |of| places.iter().position(|place| *place == number(of));
            Some(contrasts.gain(place(a)?, place(b)?, choices))
        };
        // The optimum is of arrivals that count.
        let sent = self.sum.iter().flat_map(|sum| sum.policies.first()).next();
        let sent = sent.filter(|sent| sent.others.packets == 0).map(|sent| sent.counted.bytes);
        let least = rivals.optimum.zip(sent);
        let now = Now {
            lost_bytes: lost(now, false),
            least_lost_bytes: least
                .map(|(optimum, sent)| (sent + lost(0, false)).saturating_sub(optimum.most_bytes)),
            episodes: self.contrasts.episodes(now),
            length_ns,
        };
        Advice::new(now, least_gain, contenders.into_iter().flatten().collect(), gain)
    }

    /// Replays an alpha for each queue, the best alpha and what the switch has; none if that is not possible.
    fn searched(&self, rivals: &RivalsSection, own: &str, by_class: &Tried) -> Option<Searched> {
        let best = rivals.best_alpha?;
        let own: PolicySpec = own.parse().ok()?;
        let policies =
            [&by_class.policy.spec, &self.tried[best].policy.spec, &own].map(Clone::clone);
        // The arrivals were replayed before.
        let contrasts = self.class_alphas.contrasts(&policies, self.threads).ok()?;
        Some(Searched { contrasts, places: vec![None, Some(best), Some(self.tried.len())] })
    }

    /// An alpha for each queue, if that is better than the best alpha of all, number `best` of those tried.
    fn by_class(&self, sent: RivalSent, best: usize) -> Option<(Tried, RivalSent)> {
        let grid: Vec<f64> = ALPHA_EXPONENTS.map(|exponent| f64::from(exponent).exp2()).collect();
        // An infinite alpha is no better than the highest, of a queue that is below it.
        let common = self.tried[best].alpha.or(grid.last().copied())?;
        // The arrivals were replayed before.
        let found = self.class_alphas.search((common, sent), &grid, self.threads).ok()??;
        let policy = FoundAlphas::spec(&found.alphas)?.into();
        Some((Tried { kind: RivalKind::ClassAlphas, alpha: None, policy }, found.sent))
    }
}
