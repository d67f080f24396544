//! What to deploy, by what was found.

use super::findings::{Counts, Finding, PolicyTally, SettingTally, better_among};
use super::settings::{Kind, Subject};
use serde::Serialize;

/// What to deploy at all points of a map alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Advice {
    /// The policy that predicts nothing to set everywhere: the one that is worse than the best of a pair by more than a
    /// tenth in the fewest.
    pub setting: Option<SettingTally>,
    /// What is deployed in its place, if anything: an untrained rule, or a policy with an oracle. It is chosen on the runs that
    /// it is compared on, and so looks better than it is.
    pub addition: Option<Advised>,
    /// The best policy that a chip must push packets out for.
    pub push_out: Option<Advised>,
}

/// A policy, and what was found of it against the best that predicts nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advised {
    /// The policy's short name.
    pub policy: String,
    /// Pairs of a point and a measure. The false discovery rate of those in which it is better holds for all policies
    /// that it was chosen from together, that of those in which it is worse for it alone. So both counts err against it.
    pub counts: Counts,
    /// Whether it is better somewhere and worse nowhere: then it can be deployed.
    pub is_harmless: bool,
}

impl Advice {
    /// `settings` and `policies` are those of a tally of these findings, `subjects` all that ran.
    pub(super) fn new(
        settings: &[SettingTally],
        policies: &[PolicyTally],
        subjects: &[Subject],
        findings: &[&Finding],
    ) -> Self {
        let best = |is_wanted: fn(Kind) -> bool| {
            let of_kind = subjects.iter().filter(|subject| is_wanted(subject.kind));
            let tallies: Vec<_> = of_kind
                .filter_map(|subject| policies.iter().find(|tally| tally.policy == subject.name))
                .collect();
            let names: Vec<&str> = tallies.iter().map(|tally| &tally.policy[..]).collect();
            let better = better_among(findings, &names);
            let counts = |(tally, better): (&&PolicyTally, u64)| {
                (tally.policy.clone(), Counts { better, ..tally.over_plain })
            };
            Advised::best(tallies.iter().zip(better).map(counts))
        };
        Advice {
            setting: settings.first().cloned(),
            addition: best(|kind| matches!(kind, Kind::Rule | Kind::Oracle)),
            push_out: best(|kind| kind == Kind::PushOut),
        }
    }
}

impl Advised {
    /// The best of those that are better somewhere: without harm if there is one, then by what they gain more than they
    /// harm. The first of equals: rules are listed before oracles, and need no training.
    fn best(policies: impl Iterator<Item = (String, Counts)>) -> Option<Self> {
        let gaining = policies.filter(|(_, counts)| counts.better > 0);
        let rank = |(_, Counts { better, worse, .. }): &(String, Counts)| {
            (*worse == 0, *better as i64 - *worse as i64)
        };
        let best =
            gaining.reduce(|best, other| if rank(&other) > rank(&best) { other } else { best });
        best.map(|(policy, counts)| Advised { policy, counts, is_harmless: counts.worse == 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed_loop::lqd;
    use crate::map::findings::{Compared, Difference, Verdict};
    use crate::map::settings::Measure;
    use dropcast_simulate::Interval;
    use std::collections::BTreeMap;

    /// Twenty findings, in which each policy has so many p-values of `p` for the better, and so many worse verdicts.
    fn advice(found: &[(&str, Kind, usize, u64)], p: f64) -> Advice {
        let difference = |is_better: bool| Difference {
            advantage: Interval { values: 8, mean: 1.0, bounds: None },
            relative: None,
            p_value: Some(if is_better { p } else { 0.9 }),
            verdict: Verdict::Unclear,
        };
        let findings: Vec<Finding> = (0..20)
            .map(|number| Finding {
                measure: Measure("goodput_bps".to_owned()),
                best_plain: None,
                best_alpha: None,
                best_rival: None,
                regrets: BTreeMap::new(),
                policies: found
                    .iter()
                    .map(|&(policy, _, better, _)| Compared {
                        policy: policy.to_owned(),
                        over_plain: Some(difference(number < better)),
                        over_alpha: None,
                        over_rival: None,
                        over_lqd: None,
                        over_base: None,
                        share_of_gain: None,
                    })
                    .collect(),
            })
            .collect();
        let tallies: Vec<PolicyTally> = found
            .iter()
            .map(|&(policy, _, better, worse)| PolicyTally {
                policy: policy.to_owned(),
                over_plain: Counts { better: better as u64, worse, tests: 20 },
                over_alpha: None,
                over_rival: None,
                over_lqd: None,
                over_base: None,
                share_of_gain: Vec::new(),
            })
            .collect();
        let subjects: Vec<Subject> = found
            .iter()
            .map(|&(name, kind, ..)| Subject { name: name.to_owned(), kind, policy: lqd() })
            .collect();
        Advice::new(&[], &tallies, &subjects, &findings.iter().collect::<Vec<_>>())
    }

    #[test]
    fn what_harms_nowhere_comes_first_and_of_equals_what_needs_no_training() {
        let found = [
            ("lqd", Kind::PushOut, 9, 3),
            ("occamy", Kind::PushOut, 7, 0),
            ("rule", Kind::Rule, 8, 1),
            ("gated", Kind::Rule, 5, 0),
            ("forest", Kind::Oracle, 5, 0),
        ];
        let advice = advice(&found, 1e-9);
        let addition = advice.addition.expect("two are harmless");
        assert_eq!((addition.policy.as_str(), addition.is_harmless), ("gated", true));
        assert_eq!(addition.counts, Counts { better: 5, worse: 0, tests: 20 });
        assert_eq!(advice.push_out.expect("both gain").policy, "occamy");
    }

    #[test]
    fn what_harms_is_named_and_not_advised_and_what_gains_nothing_is_not_named() {
        let found = [
            ("rule", Kind::Rule, 3, 2),
            ("gated", Kind::Rule, 2, 2),
            ("forest", Kind::Oracle, 4, 1),
        ];
        let addition = advice(&found, 1e-9).addition.expect("three gain");
        assert_eq!((addition.policy.as_str(), addition.is_harmless), ("forest", false));
        let none = advice(&[("rule", Kind::Rule, 0, 0), ("forest", Kind::Oracle, 0, 4)], 1e-9);
        assert_eq!((none.addition, none.push_out), (None, None));
    }

    /// One of 20 at 0.002 is a discovery (0.05 / 20 allows 0.0025); of the 60 of three policies it is none (0.05 / 60).
    #[test]
    fn the_best_of_several_must_stand_out_of_all_of_them() {
        let rule = ("rule", Kind::Rule, 1, 0);
        assert!(advice(&[rule], 0.002).addition.is_some());
        let others = [rule, ("gated", Kind::Rule, 0, 0), ("forest", Kind::Oracle, 0, 0)];
        assert_eq!(advice(&others, 0.002).addition, None);
    }
}
