//! What follows from the runs of a map.
//!
//! The best policy that predicts nothing and pushes nothing out, the rival of a point and a measure, is
//! chosen on other runs than those that are compared, so its mean is not the luckiest of many.

use super::settings::{Kind, LQD, MapSettings, MeasureName, Subject};
use crate::closed_loop::PairedRuns;
use dropcast_fabric::{Interval, largest_discovery, p_value};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// Seed of the intervals' bootstrap.
pub(super) const BOOTSTRAP_SEED: u64 = 1;

/// All measures, beside [`MeasureName::subject`].
const ALL: &str = "all";

/// Of all differences that are called better or worse, at most this share is so by chance, in expectation
/// (Benjamini and Hochberg, Controlling the False Discovery Rate, Journal of the Royal Statistical Society B
/// 1995).
pub const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// One measure at one point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MapFinding {
    /// The measure.
    pub measure: MeasureName,
    /// The best policy that predicts nothing, by its mean over the runs that are chosen on; null where
    /// undefined.
    pub best_plain: Option<String>,
    /// The best alpha: the best of these that are Dynamic Thresholds or Complete Sharing, as every switch has them.
    pub best_alpha: Option<String>,
    /// By policy that predicts nothing: how much worse its mean is than the best one's, as a share of that, on the
    /// runs that are compared; below 0 where it is better there. Null if that is 0.
    pub regrets: BTreeMap<String, Option<f64>>,
    /// By policy: those that push out, run over another, or ask an oracle.
    pub policies: Vec<Compared>,
}

/// A policy against the best rivals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The policy's short name.
    pub policy: String,
    /// Against the best policy that predicts nothing.
    pub over_plain: Option<Difference>,
    /// Against the best alpha.
    pub over_alpha: Option<Difference>,
    /// Against LQD; null for LQD itself.
    pub over_lqd: Option<Difference>,
    /// Against the policy that it runs over; null if it runs over none, or that is not listed.
    pub over_base: Option<Difference>,
    /// Its share of LQD's gain over the best policy that predicts nothing: 1 if it is as good as LQD, 0 if as
    /// that policy. Null unless LQD is found to be better.
    pub share_of_gain: Option<f64>,
}

/// How much better a policy is than a rival, run by run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The mean, above 0 where the policy is better, and its 95% interval, not corrected for the number of
    /// comparisons.
    pub advantage: Interval,
    /// That as a share of the rival's mean; null if that is 0.
    pub relative: Option<f64>,
    /// Of a paired t-test: how probable so large a difference is by chance; null with fewer than 5 runs.
    pub p_value: Option<f64>,
    /// What can be said if [`FALSE_DISCOVERY_RATE`] holds for all points and measures of the map, for this
    /// policy and kind of rival.
    pub verdict: Significance,
}

/// Whether a difference is more than chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Significance {
    /// The policy is better.
    Better,
    /// It is worse.
    Worse,
    /// The runs do not show a difference.
    #[default]
    Unclear,
}

/// Counts over all points and measures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Points.
    pub points: u64,
    /// Pairs of a point and a measure.
    pub pairs: u64,
    /// By policy, in the order of [`MapFinding::policies`].
    pub policies: Vec<PolicyTally>,
    /// By policy that predicts nothing, the one to set everywhere first.
    pub settings: Vec<SettingTally>,
}

/// What it costs to set one policy that predicts nothing at every point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingTally {
    /// The policy.
    pub policy: String,
    /// Pairs in which it is the best of its kind.
    pub best: u64,
    /// Median of [`MapFinding::regrets`].
    pub median_regret: Option<f64>,
    /// Pairs in which it is worse than the best by more than a tenth.
    pub worse_by_a_tenth: u64,
}

/// Counts of one policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyTally {
    /// The policy's short name.
    pub policy: String,
    /// Against the best policy that predicts nothing.
    pub over_plain: PairCounts,
    /// Against the best alpha; null if none is listed.
    pub over_alpha: Option<PairCounts>,
    /// Against LQD; null for LQD itself.
    pub over_lqd: Option<PairCounts>,
    /// Against the policy that it runs over; null if it runs over none, or that is not listed.
    pub over_base: Option<PairCounts>,
    /// How much of LQD's gain over the best policy that predicts nothing this policy has, where LQD gains: of all
    /// measures, and by [`MeasureName::subject`].
    pub share_of_gain: Vec<SubjectShare>,
}

/// Pairs of a point and a measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PairCounts {
    /// In which the policy is better.
    pub better: u64,
    /// In which it is worse.
    pub worse: u64,
    /// That have a difference.
    pub tests: u64,
}

/// A policy's share of LQD's gain in the measures of one kind of flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubjectShare {
    /// The kind, or `all`.
    pub of: String,
    /// Pairs of a point and a measure in which there is a gain.
    pub pairs: u64,
    /// The median.
    pub median: Option<f64>,
}

impl MapFinding {
    /// Without verdicts, which depend on the other points ([`judge`]).
    pub(super) fn new(settings: &MapSettings, measure: &MeasureName, runs: &PairedRuns) -> Self {
        let subjects = settings.subjects();
        let point = Point { settings, measure, runs };
        let best_plain = point.best(&subjects, |own| own.kind == Kind::Plain);
        let best_alpha = point.best(&subjects, Subject::is_alpha);
        let lqd = subjects.iter().find(|subject| subject.name == LQD);
        let compared = |subject: &Subject| {
            let over = |rival: Option<&Subject>| point.difference(subject, rival?);
            Compared {
                policy: subject.name.clone(),
                over_plain: over(best_plain),
                over_alpha: over(best_alpha),
                over_lqd: over(lqd.filter(|lqd| lqd.name != subject.name)),
                over_base: over(subjects.iter().find(|own| own.is_base_of(subject))),
                share_of_gain: None,
            }
        };
        let is_compared = |subject: &&Subject| subject.kind != Kind::Plain;
        let name = |best: &Subject| best.name.clone();
        MapFinding {
            measure: measure.clone(),
            best_plain: best_plain.map(name),
            best_alpha: best_alpha.map(name),
            regrets: best_plain.map_or_else(BTreeMap::new, |best| point.regrets(&subjects, best)),
            policies: subjects.iter().filter(is_compared).map(compared).collect(),
        }
    }

    /// What was found of a policy.
    pub fn policy(&self, name: &str) -> Option<&Compared> {
        self.policies.iter().find(|own| own.policy == name)
    }

    /// LQD against the best rivals.
    pub fn lqd(&self) -> Option<&Compared> {
        self.policy(LQD)
    }

    /// LQD's advantage over the best policy that predicts nothing, where it is found to be better.
    pub fn gain(&self) -> Option<f64> {
        let over = self.lqd()?.over_plain.as_ref()?;
        (over.verdict == Significance::Better).then_some(over.advantage.mean)
    }
}

/// Gives every difference its verdict, and then the shares of LQD's gains.
pub(super) fn judge(findings: &mut [&mut MapFinding]) {
    let parts: [fn(&mut Compared) -> Option<&mut Difference>; 4] = [
        |own| own.over_plain.as_mut(),
        |own| own.over_alpha.as_mut(),
        |own| own.over_lqd.as_mut(),
        |own| own.over_base.as_mut(),
    ];
    let policies = findings.first().map_or(0, |first| first.policies.len());
    for (policy, part) in (0..policies).flat_map(|policy| parts.map(|part| (policy, part))) {
        let of_policy = findings.iter_mut().filter_map(|own| part(&mut own.policies[policy]));
        control_false_discoveries(of_policy.collect());
    }
    for finding in findings {
        let Some(gain) = finding.gain() else { continue };
        for own in &mut finding.policies {
            own.share_of_gain = own.over_plain.as_ref().map(|over| over.advantage.mean / gain);
        }
    }
}

/// Gives each of these its verdict, so that [`FALSE_DISCOVERY_RATE`] holds for all of them together.
pub(super) fn control_false_discoveries(differences: Vec<&mut Difference>) {
    let p_values: Vec<f64> = differences.iter().filter_map(|own| own.p_value).collect();
    let largest = largest_discovery(&p_values, FALSE_DISCOVERY_RATE);
    for own in differences {
        let is_discovery = own.p_value.zip(largest).is_some_and(|(p, most)| p <= most);
        own.verdict = match is_discovery {
            true if own.advantage.mean > 0.0 => Significance::Better,
            true if own.advantage.mean < 0.0 => Significance::Worse,
            _ => Significance::Unclear,
        };
    }
}

impl Difference {
    /// Of two policies' runs of the same seeds; null if no run has the measure of both. Without a verdict.
    pub(super) fn between(
        measure: &MeasureName,
        own: &[Option<f64>],
        rival: &[Option<f64>],
    ) -> Option<Self> {
        let advantage = |(own, other): (&Option<f64>, &Option<f64>)| {
            Some(measure.advantage((*own)?, (*other)?))
        };
        let advantages: Vec<f64> = own.iter().zip(rival).filter_map(advantage).collect();
        let mean = mean(rival.to_vec()).filter(|&mean| mean != 0.0);
        let interval = Interval::bootstrap(&advantages, BOOTSTRAP_SEED)?;
        Some(Difference {
            advantage: interval,
            relative: mean.map(|mean| interval.mean / mean),
            p_value: p_value(&advantages),
            verdict: Significance::default(),
        })
    }
}

/// One measure at one point.
struct Point<'a> {
    settings: &'a MapSettings,
    measure: &'a MeasureName,
    /// All runs of a rival: those that are compared, then those that it is chosen on.
    runs: &'a PairedRuns,
}

impl Point<'_> {
    fn runs(&self, subject: &Subject, runs: Range<u32>) -> Vec<Option<f64>> {
        let all = self.runs.runs(&subject.policy.label);
        let all = all.map_or_else(Vec::new, |runs| runs.metric(self.measure.name()));
        all[runs.start as usize..runs.end as usize].to_vec()
    }

    /// The rival with the best mean over the runs that are chosen on; the first of equals.
    fn best<'s>(
        &self,
        subjects: &'s [Subject],
        is_rival: fn(&Subject) -> bool,
    ) -> Option<&'s Subject> {
        let MapSettings { runs, choosing_runs, .. } = *self.settings;
        let mut best: Option<(&Subject, f64)> = None;
        for subject in subjects.iter().filter(|subject| is_rival(subject)) {
            let Some(own) = mean(self.runs(subject, runs..runs + choosing_runs)) else { continue };
            if best.is_none_or(|(_, best)| self.measure.advantage(own, best) > 0.0) {
                best = Some((subject, own));
            }
        }
        best.map(|(best, _)| best)
    }

    fn regrets(&self, subjects: &[Subject], best: &Subject) -> BTreeMap<String, Option<f64>> {
        let own_mean = |subject| mean(self.runs(subject, 0..self.settings.runs));
        let of_best = own_mean(best).filter(|&mean| mean != 0.0);
        let regret =
            |subject| Some(self.measure.advantage(of_best?, own_mean(subject)?) / of_best?);
        let plain = subjects.iter().filter(|subject| subject.kind == Kind::Plain);
        plain.map(|subject| (subject.name.clone(), regret(subject))).collect()
    }

    fn difference(&self, subject: &Subject, rival: &Subject) -> Option<Difference> {
        let runs = |of| self.runs(of, 0..self.settings.runs);
        Difference::between(self.measure, &runs(subject), &runs(rival))
    }
}

impl Tally {
    /// Of the findings of each point.
    pub(super) fn count(points: &[&[MapFinding]]) -> Self {
        let all: Vec<&MapFinding> = points.iter().copied().flatten().collect();
        let plain = all.first().map_or_else(Vec::new, |first| first.regrets.keys().collect());
        let mut settings: Vec<_> =
            plain.into_iter().map(|policy| SettingTally::count(policy, &all)).collect();
        // Of those that are as often worse, the one that is worse by less.
        let harm = |own: &SettingTally| {
            regrets(&own.policy, &all).filter(is_worse_by_a_tenth).sum::<f64>()
        };
        settings.sort_by(|one, other| {
            let often = one.worse_by_a_tenth.cmp(&other.worse_by_a_tenth);
            let much = || harm(one).total_cmp(&harm(other));
            often.then_with(much).then_with(|| other.best.cmp(&one.best))
        });
        let names = all.first().map_or(&[][..], |first| &first.policies);
        let tally = |own: &Compared| PolicyTally::count(&own.policy, &all);
        Tally {
            points: points.len() as u64,
            pairs: all.len() as u64,
            policies: names.iter().map(tally).collect(),
            settings,
        }
    }

    /// The counts of a policy.
    pub fn policy(&self, name: &str) -> Option<&PolicyTally> {
        self.policies.iter().find(|own| own.policy == name)
    }
}

/// Those of a policy, in all pairs where it has one.
fn regrets<'a>(policy: &'a str, all: &'a [&MapFinding]) -> impl Iterator<Item = f64> + 'a {
    all.iter().filter_map(|finding| *finding.regrets.get(policy)?)
}

fn is_worse_by_a_tenth(regret: &f64) -> bool {
    *regret > 0.1
}

impl SettingTally {
    fn count(policy: &str, all: &[&MapFinding]) -> Self {
        let is_best = |finding: &&&MapFinding| finding.best_plain.as_deref() == Some(policy);
        let regrets: Vec<f64> = regrets(policy, all).collect();
        SettingTally {
            policy: policy.to_owned(),
            best: all.iter().filter(is_best).count() as u64,
            worse_by_a_tenth: regrets.iter().filter(|regret| is_worse_by_a_tenth(regret)).count()
                as u64,
            median_regret: median(regrets),
        }
    }
}

impl PolicyTally {
    fn count(policy: &str, all: &[&MapFinding]) -> Self {
        let own = || all.iter().filter_map(|finding| Some((*finding, finding.policy(policy)?)));
        let over_plain = own().filter_map(|(_, own)| own.over_plain.as_ref());
        let counts = |part: fn(&Compared) -> Option<&Difference>| {
            let differences: Vec<_> = own().filter_map(|(_, own)| part(own)).collect();
            (!differences.is_empty()).then(|| PairCounts::of(differences.into_iter()))
        };
        let mut shares: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (finding, own) in own() {
            if let Some(share) = own.share_of_gain {
                shares.entry(ALL.to_owned()).or_default().push(share);
                shares.entry(finding.measure.subject()).or_default().push(share);
            }
        }
        let share = |(of, shares): (String, Vec<f64>)| SubjectShare {
            of,
            pairs: shares.len() as u64,
            median: median(shares),
        };
        PolicyTally {
            policy: policy.to_owned(),
            over_plain: PairCounts::of(over_plain),
            over_alpha: counts(|own| own.over_alpha.as_ref()),
            over_lqd: counts(|own| own.over_lqd.as_ref()),
            over_base: counts(|own| own.over_base.as_ref()),
            share_of_gain: shares.into_iter().map(share).collect(),
        }
    }
}

impl PairCounts {
    pub(super) fn of<'a>(differences: impl Iterator<Item = &'a Difference>) -> Self {
        let mut counts = PairCounts::default();
        for difference in differences {
            counts.tests += 1;
            counts.better += u64::from(difference.verdict == Significance::Better);
            counts.worse += u64::from(difference.verdict == Significance::Worse);
        }
        counts
    }
}

fn mean(values: Vec<Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().flatten().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests;
