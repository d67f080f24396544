//! What to deploy, by what was found.

use super::findings::{Difference, PairCounts, SettingTally, control_false_discoveries};
use super::point::MapPoint;
use super::settings::{Kind, Subject};
use serde::Serialize;

/// What to deploy at all points of a map alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MapAdvice {
    /// The policy that predicts nothing to set everywhere: the one that is worse than the best of a pair by more than a
    /// tenth in the fewest; of equals, the one whose regrets there have the smallest sum.
    pub setting: Option<SettingTally>,
    /// The alpha to set everywhere, by the same rule; null if none is listed.
    pub alpha: Option<SettingTally>,
    /// What is deployed in place of the setting, if anything: an untrained rule, or a policy with an oracle. It is chosen on
    /// the runs that it is compared on, and so looks better than it is.
    pub addition: Option<Advised>,
    /// The best policy that a chip must push packets out for.
    pub push_out: Option<Advised>,
}

/// A policy, and what was found of it against the setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advised {
    /// The policy's short name.
    pub policy: String,
    /// Pairs of a point and a measure, against the setting. The false discovery rate of those in which it is better holds for
    /// all policies that it was chosen from together, that of those in which it is worse for it alone. So both counts err
    /// against it.
    pub counts: PairCounts,
    /// Whether it is better somewhere and worse nowhere: then it can be deployed.
    pub is_harmless: bool,
}

/// A policy's differences from the setting, one for each pair of a point and a measure.
type OverSetting = (String, Vec<Difference>);

impl MapAdvice {
    /// `settings` are those of the tally of these points, `subjects` all policies that ran.
    pub(super) fn new(
        settings: &[SettingTally],
        subjects: &[Subject],
        points: &[MapPoint],
    ) -> Self {
        let Some(setting) = settings.first() else { return MapAdvice::default() };
        let best = |is_wanted: fn(Kind) -> bool| {
            let of_kind = subjects.iter().filter(|subject| is_wanted(subject.kind));
            let over =
                |of: &Subject| (of.name.clone(), over_setting(points, &of.name, &setting.policy));
            Advised::best(of_kind.map(over).collect())
        };
        let is_alpha = |tally: &&SettingTally| {
            subjects.iter().any(|subject| subject.name == tally.policy && subject.is_alpha())
        };
        MapAdvice {
            setting: Some(setting.clone()),
            alpha: settings.iter().find(is_alpha).cloned(),
            addition: best(|kind| matches!(kind, Kind::Rule | Kind::Oracle)),
            push_out: best(|kind| kind == Kind::PushOut),
        }
    }
}

/// How much better `policy` is than the setting in each pair of a point and a measure.
fn over_setting(points: &[MapPoint], policy: &str, setting: &str) -> Vec<Difference> {
    let difference = |point: &MapPoint, place: usize| {
        let measure = &point.findings[place].measure;
        let runs = |policy: &str| {
            let values = point.values.iter().find(|values| values.policy == policy)?;
            Some(&values.measures.get(measure.name())?.runs)
        };
        Difference::between(measure, runs(policy)?, runs(setting)?)
    };
    let pairs =
        points.iter().flat_map(|point| (0..point.findings.len()).map(move |at| (point, at)));
    pairs.filter_map(|(point, place)| difference(point, place)).collect()
}

impl Advised {
    /// The best of those that are better somewhere: without harm if there is one, then by what they gain more than they
    /// harm. The first of equals: rules are listed before oracles, and need no training.
    fn best(mut policies: Vec<OverSetting>) -> Option<Self> {
        let count = |(_, differences): &OverSetting| PairCounts::of(differences.iter());
        control_false_discoveries(policies.iter_mut().flat_map(|(_, all)| all).collect());
        let better: Vec<u64> = policies.iter().map(|own| count(own).better).collect();
        for (_, own) in &mut policies {
            control_false_discoveries(own.iter_mut().collect());
        }
        let counts =
            policies.iter().zip(better).map(|(own, better)| PairCounts { better, ..count(own) });
        let gaining = policies.iter().zip(counts).filter(|(_, counts)| counts.better > 0);
        let rank = |(_, PairCounts { better, worse, .. }): &(&OverSetting, PairCounts)| {
            (*worse == 0, *better as i64 - *worse as i64)
        };
        let best =
            gaining.reduce(|best, other| if rank(&other) > rank(&best) { other } else { best });
        best.map(|((policy, _), counts)| Advised {
            policy: policy.clone(),
            counts,
            is_harmless: counts.worse == 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::findings::Significance;
    use dropcast_fabric::Interval;

    /// Twenty differences, of which so many are for the better with this p-value, and so many for the worse.
    fn best(found: &[(&str, usize, usize)], p: f64) -> Option<Advised> {
        let difference = |place: usize, better: usize, worse: usize| {
            let (mean, p) = match place {
                place if place < better => (1.0, p),
                place if place < better + worse => (-1.0, 1e-9),
                _ => (1.0, 0.9),
            };
            Difference {
                advantage: Interval { values: 8, mean, bounds: None },
                relative: None,
                p_value: Some(p),
                verdict: Significance::Unclear,
            }
        };
        let over = |&(policy, better, worse): &(&str, usize, usize)| {
            (policy.to_owned(), (0..20).map(|place| difference(place, better, worse)).collect())
        };
        Advised::best(found.iter().map(over).collect())
    }

    #[test]
    fn what_harms_nowhere_comes_first_and_of_equals_what_needs_no_training() {
        let found = [("rule", 8, 1), ("gated", 5, 0), ("forest", 5, 0)];
        let addition = best(&found, 1e-9).expect("two are harmless");
        assert_eq!((addition.policy.as_str(), addition.is_harmless), ("gated", true));
        assert_eq!(addition.counts, PairCounts { better: 5, worse: 0, tests: 20 });
        let chips = best(&[("lqd", 9, 3), ("occamy", 7, 0)], 1e-9).expect("both gain");
        assert_eq!(chips.policy, "occamy");
    }

    #[test]
    fn what_harms_is_named_and_not_advised_and_what_gains_nothing_is_not_named() {
        let found = [("rule", 3, 2), ("gated", 2, 2), ("forest", 4, 1)];
        let addition = best(&found, 1e-9).expect("three gain");
        assert_eq!((addition.policy.as_str(), addition.is_harmless), ("forest", false));
        assert_eq!(best(&[("rule", 0, 0), ("forest", 0, 4)], 1e-9), None);
    }

    /// One of 20 at 0.002 is a discovery (0.05 / 20 allows 0.0025); of the 60 of three policies it is none (0.05 / 60).
    #[test]
    fn the_best_of_several_must_stand_out_of_all_of_them() {
        assert!(best(&[("rule", 1, 0)], 0.002).is_some());
        assert_eq!(best(&[("rule", 1, 0), ("gated", 0, 0), ("forest", 0, 0)], 0.002), None);
    }
}
