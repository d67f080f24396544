//! What follows from the runs at a point.

use super::settings::{
    ACCEPT, COMPLETE_SHARING, FOLLOW_LQD, LQD, MapSettings, Measure, OraclePolicy,
};
use crate::closed_loop::Comparison;
use dropcast_simulate::Interval;
use serde::Serialize;
use std::collections::BTreeMap;

/// One measure at one point. Advantages are above 0 where the first is better.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The measure.
    pub measure: Measure,
    /// The better of Complete Sharing and FollowLQD, by their means; null where undefined.
    pub best_without_oracle: Option<&'static str>,
    /// LQD's advantage over it, with its paired 95% interval.
    pub gain: Option<Interval>,
    /// The gain as a share of that policy's mean; null if that is 0.
    pub relative_gain: Option<f64>,
    /// LQD is better than both policies beyond the paired 95% interval.
    pub is_beyond_interval: bool,
    /// In every run, too.
    pub is_in_every_run: bool,
    /// By oracle; the first always accepts.
    pub oracles: Vec<OracleFinding>,
}

/// What Credence with an oracle gets at one point in one measure.
#[derive(Clone, Debug, Serialize)]
pub struct OracleFinding {
    /// The oracle's name; `accept` for Credence that always accepts.
    pub oracle: String,
    /// Its share of LQD's gain: 1 if it is as good as LQD, 0 if as the best policy without an
    /// oracle, below 0 if worse than that. Null where there is no gain to share: unless LQD is better
    /// beyond the interval.
    pub share_of_gain: Option<f64>,
    /// Credence's advantage with it over the best policy without an oracle.
    pub gain: Option<Interval>,
    /// Credence's advantage with it over always accepting.
    pub over_accept: Option<Interval>,
    /// Worse than always accepting, beyond the paired 95% interval and in every run.
    pub does_harm: bool,
    /// Better than always accepting, beyond the paired 95% interval and in every run.
    pub helps: bool,
}

/// Counts over all points and measures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Points.
    pub points: u64,
    /// Points at which LQD is better beyond the 95% interval in at least one measure.
    pub points_beyond_interval: u64,
    /// Pairs of a point and a measure in which LQD's gain is defined.
    pub tests: u64,
    /// Those in which LQD is better beyond the 95% interval.
    pub beyond_interval: u64,
    /// Those of them with a gain of at least a tenth.
    pub beyond_interval_by_a_tenth: u64,
    /// How many of `tests` would be beyond the interval by chance if LQD were nowhere better: one in
    /// 40, and somewhat more with few runs, where the bootstrap's intervals are too short.
    pub beyond_interval_by_chance: f64,
    /// Those in which LQD is better in every run, too.
    pub in_every_run: u64,
    /// How many of `tests` would be that by chance at most: a sign that is right in every run,
    /// `tests / 2^runs`.
    pub in_every_run_by_chance: f64,
    /// By oracle.
    pub oracles: Vec<OracleTally>,
}

/// Counts of one oracle.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OracleTally {
    /// The oracle.
    pub oracle: String,
    /// Pairs of a point and a measure in which it is worse than always accepting.
    pub does_harm: u64,
    /// Those in which it is better.
    pub helps: u64,
    /// Median share of LQD's gain where that is beyond the interval; null if it nowhere is.
    pub median_share_of_gain: Option<f64>,
    /// The same and the number of pairs by [`Measure::subject`], where there is a gain.
    pub by_subject: BTreeMap<String, SubjectShare>,
}

/// An oracle's share of LQD's gain in the measures of one kind of flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubjectShare {
    /// Pairs of a point and a measure in which there is a gain.
    pub pairs: u64,
    /// The median.
    pub median_share_of_gain: Option<f64>,
}

impl Finding {
    pub(super) fn new(
        measure: &Measure,
        oracles: &[OraclePolicy],
        comparison: &Comparison,
        seed: u64,
    ) -> Self {
        let point = Point { measure, comparison, seed };
        let rivals = [COMPLETE_SHARING, FOLLOW_LQD];
        let best = point.best_of(rivals);
        let against = rivals.map(|rival| point.advantage(LQD, rival));
        let is_beyond_interval = against.iter().all(Advantage::is_beyond_interval);
        let is_in_every_run =
            is_beyond_interval && against.iter().all(|advantage| advantage.has_sign(true));
        let gain = best.and_then(|best| point.advantage(LQD, best).interval);
        let mean = best.and_then(|best| point.mean(best));
        let relative = |gain: Interval| mean.filter(|&mean| mean != 0.0).map(|m| gain.mean / m);
        let shared = gain.filter(|_| is_beyond_interval);
        let named = oracles.iter().map(|oracle| (oracle.name.as_str(), oracle.policy.as_str()));
        let all = std::iter::once(("accept", ACCEPT)).chain(named);
        Finding {
            measure: measure.clone(),
            best_without_oracle: best,
            gain,
            relative_gain: gain.and_then(relative),
            is_beyond_interval,
            is_in_every_run,
            oracles: all.map(|(name, policy)| point.oracle(name, policy, best, shared)).collect(),
        }
    }
}

/// One measure at one point.
struct Point<'a> {
    measure: &'a Measure,
    comparison: &'a Comparison,
    seed: u64,
}

/// Advantages run by run, and their mean.
struct Advantage {
    runs: Vec<f64>,
    interval: Option<Interval>,
}

impl Advantage {
    fn is_beyond_interval(&self) -> bool {
        self.interval.is_some_and(|all| all.mean > 0.0 && all.excludes_zero() == Some(true))
    }

    /// Whether every run has an advantage, or none.
    fn has_sign(&self, is_better: bool) -> bool {
        let is_right = |&run: &f64| if is_better { run > 0.0 } else { run < 0.0 };
        !self.runs.is_empty() && self.runs.iter().all(is_right)
    }

    fn is_finding(&self, is_better: bool) -> bool {
        let excludes_zero = self.interval.and_then(|all| all.excludes_zero()) == Some(true);
        excludes_zero && self.has_sign(is_better)
    }
}

impl Point<'_> {
    fn runs(&self, policy: &str) -> Vec<Option<f64>> {
        self.comparison.runs(policy).map_or_else(Vec::new, |runs| runs.metric(self.measure.name()))
    }

    fn mean(&self, policy: &str) -> Option<f64> {
        let values: Vec<f64> = self.runs(policy).into_iter().flatten().collect();
        Some(Interval::bootstrap(&values, self.seed)?.mean)
    }

    fn best_of(&self, policies: [&'static str; 2]) -> Option<&'static str> {
        let [first, second] = policies;
        let (of_first, of_second) = (self.mean(first)?, self.mean(second)?);
        let is_better = self.measure.advantage(of_second, of_first) > 0.0;
        Some(if is_better { second } else { first })
    }

    fn advantage(&self, one: &str, other: &str) -> Advantage {
        let pairs = self.runs(one).into_iter().zip(self.runs(other));
        let pairs = pairs.filter_map(|(one, other)| one.zip(other));
        let runs: Vec<f64> = pairs.map(|(one, other)| self.measure.advantage(one, other)).collect();
        let interval = Interval::bootstrap(&runs, self.seed);
        Advantage { runs, interval }
    }

    fn oracle(
        &self,
        name: &str,
        policy: &str,
        best: Option<&'static str>,
        shared: Option<Interval>,
    ) -> OracleFinding {
        let gain = best.and_then(|best| self.advantage(policy, best).interval);
        let over_accept = self.advantage(policy, ACCEPT);
        OracleFinding {
            oracle: name.to_owned(),
            share_of_gain: gain.zip(shared).map(|(own, lqd)| own.mean / lqd.mean),
            gain,
            does_harm: over_accept.is_finding(false),
            helps: over_accept.is_finding(true),
            over_accept: over_accept.interval,
        }
    }
}

impl Tally {
    /// Of the findings of each point.
    pub(super) fn count(settings: &MapSettings, points: &[&[Finding]]) -> Self {
        let all = || points.iter().copied().flatten();
        let count = |is: fn(&&Finding) -> bool| all().filter(is).count() as u64;
        let tests = count(|finding| finding.gain.is_some());
        let is_prone = |point: &&&[Finding]| point.iter().any(|one| one.is_beyond_interval);
        let oracles = settings.oracle_policies();
        let names = oracles.iter().map(|oracle| oracle.name.as_str());
        let oracle = |name: &str| {
            let own = || all().flat_map(|one| &one.oracles).filter(|own| own.oracle == name);
            let mut shares: BTreeMap<String, Vec<f64>> = BTreeMap::new();
            for one in all() {
                let own = one.oracles.iter().filter(|own| own.oracle == name);
                for share in own.filter_map(|own| own.share_of_gain) {
                    shares.entry(one.measure.subject().to_owned()).or_default().push(share);
                }
            }
            let share = |shares: Vec<f64>| SubjectShare {
                pairs: shares.len() as u64,
                median_share_of_gain: median(shares),
            };
            OracleTally {
                by_subject: shares.into_iter().map(|(of, shares)| (of, share(shares))).collect(),
                oracle: name.to_owned(),
                does_harm: own().filter(|one| one.does_harm).count() as u64,
                helps: own().filter(|one| one.helps).count() as u64,
                median_share_of_gain: median(own().filter_map(|one| one.share_of_gain).collect()),
            }
        };
        Tally {
            points: points.len() as u64,
            points_beyond_interval: points.iter().filter(is_prone).count() as u64,
            tests,
            beyond_interval: count(|finding| finding.is_beyond_interval),
            beyond_interval_by_a_tenth: count(|finding| {
                finding.is_beyond_interval && finding.relative_gain.is_some_and(|gain| gain >= 0.1)
            }),
            beyond_interval_by_chance: tests as f64 / 40.0,
            in_every_run: count(|finding| finding.is_in_every_run),
            in_every_run_by_chance: tests as f64 / 2f64.powi(settings.runs.min(1_000) as i32),
            oracles: std::iter::once("accept").chain(names).map(oracle).collect(),
        }
    }
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
