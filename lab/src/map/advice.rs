//! What to deploy, by what was found.

use super::findings::{Counts, PolicyTally, SettingTally};
use super::settings::{Kind, Subject};
use serde::Serialize;

/// What to deploy at all points of a map alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Advice {
    /// The policy that predicts nothing to set everywhere: the one that is worse than the best of a pair by more than a
    /// tenth in the fewest.
    pub setting: Option<SettingTally>,
    /// What is added to it, if anything: the untrained rule, or a policy with an oracle. It is chosen on the runs that it is
    /// compared on, and so looks better than it is.
    pub addition: Option<Advised>,
    /// The best policy that a chip must push packets out for.
    pub push_out: Option<Advised>,
}

/// A policy, and what was found of it against the best that predicts nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advised {
    /// The policy's short name.
    pub policy: String,
    /// Pairs of a point and a measure in which it is better and worse.
    pub counts: Counts,
    /// Whether it is better somewhere and worse nowhere: then it can be deployed.
    pub is_harmless: bool,
}

impl Advice {
    /// `settings` and `policies` are those of a tally, `subjects` all that ran.
    pub(super) fn new(
        settings: &[SettingTally],
        policies: &[PolicyTally],
        subjects: &[Subject],
    ) -> Self {
        let best = |is_wanted: fn(Kind) -> bool| {
            let of_kind = subjects.iter().filter(|subject| is_wanted(subject.kind));
            let tallies = of_kind
                .filter_map(|subject| policies.iter().find(|tally| tally.policy == subject.name));
            Advised::best(tallies)
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
    fn best<'a>(tallies: impl Iterator<Item = &'a PolicyTally>) -> Option<Self> {
        let gaining = tallies.filter(|tally| tally.over_plain.better > 0);
        let rank = |tally: &&PolicyTally| {
            let Counts { better, worse, .. } = tally.over_plain;
            (worse == 0, better as i64 - worse as i64)
        };
        let best =
            gaining.reduce(|best, other| if rank(&other) > rank(&best) { other } else { best })?;
        let is_harmless = best.over_plain.worse == 0;
        Some(Advised { policy: best.policy.clone(), counts: best.over_plain, is_harmless })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed_loop::lqd;

    fn tally(policy: &str, better: u64, worse: u64) -> PolicyTally {
        let over_plain = Counts { better, worse, tests: 20 };
        let share_of_gain = Vec::new();
        PolicyTally {
            policy: policy.to_owned(),
            over_plain,
            over_rival: None,
            over_lqd: None,
            share_of_gain,
        }
    }

    fn subject(name: &str, kind: Kind) -> Subject {
        Subject { name: name.to_owned(), kind, policy: lqd() }
    }

    fn advice(tallies: &[PolicyTally]) -> Advice {
        let subjects = [
            subject("lqd", Kind::PushOut),
            subject("occamy", Kind::PushOut),
            subject("dt:alpha=8", Kind::Plain),
            subject("rule", Kind::Rule),
            subject("gated", Kind::Rule),
            subject("forest", Kind::Oracle),
        ];
        Advice::new(&[], tallies, &subjects)
    }

    #[test]
    fn what_harms_nowhere_comes_first_and_of_equals_what_needs_no_training() {
        let advice = advice(&[
            tally("lqd", 9, 3),
            tally("occamy", 7, 0),
            tally("rule", 8, 1),
            tally("gated", 5, 0),
            tally("forest", 5, 0),
        ]);
        let addition = advice.addition.expect("two are harmless");
        assert_eq!((addition.policy.as_str(), addition.is_harmless), ("gated", true));
        assert_eq!(advice.push_out.expect("both gain").policy, "occamy");
    }

    #[test]
    fn what_harms_is_named_and_not_advised_and_what_gains_nothing_is_not_named() {
        let advice = advice(&[tally("rule", 3, 2), tally("gated", 2, 2), tally("forest", 4, 1)]);
        let addition = advice.addition.expect("three gain");
        assert_eq!((addition.policy.as_str(), addition.is_harmless), ("forest", false));
        assert_eq!(advice.push_out, None);
        let none = self::advice(&[tally("rule", 0, 0), tally("forest", 0, 4)]);
        assert_eq!(none.addition, None);
    }
}
