//! The vote threshold: how it is chosen, on validation rows, or on training rows where a split has
//! no others; never on test rows.

use crate::Share;
use dropcast_forest::{OperatingPoint, ScoreHistogram};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// How the vote threshold is chosen.
///
/// Most rules work on the exact [`ScoreHistogram`] of the rows they choose on; `eta` and `credence`
/// also need these rows to be replayed at each of [`VoteRule::candidates`]. As a text: `f1`,
/// `eta-bound`, `eta`, `credence`, `cost:FALSE_DROP:FALSE_ACCEPT`, `fixed` (0.5) or `fixed:SHARE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum VoteRule {
    /// The highest F1.
    #[default]
    F1,
    /// The lowest bound on `eta` by Theorem 2 of the Credence paper, `N` the number of ports;
    /// among equals (all of them where no threshold has a bound) the highest F1.
    EtaBound,
    /// The lowest exact `eta` (Credence paper, Definition 1), by replay: what LQD transmits over
    /// what FollowLQD does without the predicted drops.
    Eta,
    /// The most packets transmitted by Credence (Algorithm 1), by replay.
    Credence,
    /// The lowest sum of what wrong predictions cost.
    Cost {
        /// Cost of an accepted packet that is predicted to be dropped.
        false_drop: f64,
        /// Cost of a drop that is predicted to be accepted.
        false_accept: f64,
    },
    /// This share of the highest score that the forest could give; 0.5 is scikit-learn's vote, a mean leaf share above one half.
    Fixed(Share),
}

/// Why a vote threshold could not be chosen, or a rule not be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VoteError {
    /// Not a rule.
    #[error(
        "unknown vote rule {0:?}; known are f1, eta-bound, eta, credence, \
         cost:FALSE_DROP:FALSE_ACCEPT (two costs of 0 to 1e9, not both 0), fixed and fixed:SHARE \
         (0 <= SHARE < 1)"
    )]
    Unknown(String),
    /// The bound is a function of the number of ports.
    #[error("the eta-bound vote rule needs the number of ports of the switch, which is not known")]
    PortsUnknown,
    /// The rule replays arrivals, and these rows were not replayed.
    #[error(
        "the {0} vote rule needs a replay of the arrivals it chooses on, which was not made here; \
         choose by f1, eta-bound, cost or fixed"
    )]
    NeedsReplay(VoteRule),
}

impl VoteRule {
    /// The threshold, and what it does to the rows of `scores`, for a forest of `trees` trees in
    /// a switch of `ports` ports.
    ///
    /// Thresholds between the same two scores decide alike; the middle one is taken. Among equally
    /// good decisions the one that predicts fewest drops wins: a tie means accept.
    ///
    /// # Errors
    /// [`VoteError::PortsUnknown`] if the rule needs `ports`, [`VoteError::NeedsReplay`] if it
    /// [replays](VoteRule::replays).
    pub fn choose(
        self,
        scores: &ScoreHistogram,
        trees: usize,
        ports: Option<u16>,
    ) -> Result<OperatingPoint, VoteError> {
        let fixed = |share: f64| {
            let threshold = (share * 255.0 * trees as f64).floor() as u32;
            OperatingPoint { threshold, confusion: scores.confusion(threshold) }
        };
        let best = |better: &dyn Fn(&OperatingPoint, &OperatingPoint) -> Ordering| {
            scores.operating_points().into_iter().max_by(better).unwrap_or_else(|| fixed(0.5))
        };
        match self {
            VoteRule::Fixed(share) => Ok(fixed(share.get())),
            VoteRule::F1 => Ok(best(&by_f1)),
            VoteRule::EtaBound => {
                let ports = ports.ok_or(VoteError::PortsUnknown)?;
                // The numerator is the number of accepted rows: the same for every threshold.
                let bound = |decision: &OperatingPoint| decision.confusion.eta_denominator(ports);
                Ok(best(&|a, b| bound(a).cmp(&bound(b)).then_with(|| by_f1(a, b))))
            }
            VoteRule::Cost { false_drop, false_accept } => {
                let cost = |OperatingPoint { confusion, .. }: &OperatingPoint| {
                    confusion.fp as f64 * false_drop + confusion.fn_ as f64 * false_accept
                };
                Ok(best(&|a, b| cost(b).total_cmp(&cost(a)).then_with(|| by_f1(a, b))))
            }
            VoteRule::Eta | VoteRule::Credence => Err(VoteError::NeedsReplay(self)),
        }
    }

    /// Whether the rule chooses by a replay of arrivals.
    pub fn replays(self) -> bool {
        matches!(self, VoteRule::Eta | VoteRule::Credence)
    }

    /// The decisions that are worth a replay, by increasing threshold: at most [`QUANTILES`]
    /// quantiles of the scores, both classes weighing alike, the one that predicts no drops, and
    /// the best by F1 and by the bound on `eta`. All decisions, if they are no more than that.
    pub fn candidates(scores: &ScoreHistogram, ports: Option<u16>) -> Vec<OperatingPoint> {
        let all = scores.operating_points();
        let best = |better: &dyn Fn(&OperatingPoint, &OperatingPoint) -> Ordering| {
            all.iter().max_by(|a, b| better(a, b)).map(|decision| decision.threshold)
        };
        let bound = |decision: &OperatingPoint| {
            ports.map(|ports| decision.confusion.eta_denominator(ports)).unwrap_or(0)
        };
        let chosen = [
            best(&by_f1),
            best(&|a, b| bound(a).cmp(&bound(b)).then_with(|| by_f1(a, b))),
            all.last().map(|decision| decision.threshold),
        ];
        let (accepts, drops) = scores.totals();
        // The mass that is predicted to be dropped; the classes have 2^32 each.
        let mass = |OperatingPoint { confusion, .. }: &OperatingPoint| {
            let of = |part: u64, all: u64| (u128::from(part) << 32) / u128::from(all.max(1));
            of(confusion.fp, accepts) + of(confusion.tp, drops)
        };
        let step = (2_u128 << 32) / QUANTILES as u128;
        let mut quantile = None;
        let mut kept: Vec<OperatingPoint> = Vec::new();
        for decision in &all {
            let reached = Some(mass(decision) / step);
            let is_first = std::mem::replace(&mut quantile, reached) != reached;
            if is_first || all.len() <= QUANTILES || chosen.contains(&Some(decision.threshold)) {
                kept.push(*decision);
            }
        }
        kept
    }

    /// The best of `candidates`, given what each of them transmits in a replay: by `eta`, what
    /// FollowLQD transmits without the predicted drops; by `credence`, what Credence does.
    ///
    /// Among equally good decisions the better F1 wins, then the one that predicts fewer drops.
    /// `None` if there are no candidates.
    pub fn best_replayed(
        candidates: &[OperatingPoint],
        transmitted: &[u64],
    ) -> Option<OperatingPoint> {
        let replayed = candidates.iter().zip(transmitted);
        let best = replayed
            .max_by(|(a, a_sent), (b, b_sent)| a_sent.cmp(b_sent).then_with(|| by_f1(a, b)));
        best.map(|(decision, _)| *decision)
    }
}

/// Quantiles of the scores among the candidates for a replay.
pub const QUANTILES: usize = 32;

/// Orders decisions on the same rows by F1, exactly. To drop everything, where not all is to be dropped,
/// is no better than to accept everything, though its F1 is above 0: no oracle at all says that.
fn by_f1(a: &OperatingPoint, b: &OperatingPoint) -> Ordering {
    let fraction = |decision: &OperatingPoint| {
        let c = decision.confusion;
        let drops_all = c.tn == 0 && c.fn_ == 0 && c.fp > 0;
        let tp = if drops_all { 0 } else { c.tp };
        (u128::from(tp), u128::from(2 * c.tp + c.fp + c.fn_).max(1))
    };
    let ((a_top, a_bottom), (b_top, b_bottom)) = (fraction(a), fraction(b));
    (a_top * b_bottom).cmp(&(b_top * a_bottom))
}

impl FromStr for VoteRule {
    type Err = VoteError;

    fn from_str(text: &str) -> Result<Self, VoteError> {
        let unknown = || VoteError::Unknown(text.to_owned());
        match text.split_once(':') {
            None if text == "f1" => Ok(VoteRule::F1),
            None if text == "eta-bound" => Ok(VoteRule::EtaBound),
            None if text == "eta" => Ok(VoteRule::Eta),
            None if text == "credence" => Ok(VoteRule::Credence),
            None if text == "fixed" => Ok(VoteRule::Fixed(Share::HALF)),
            Some(("fixed", share)) => {
                let share = share
                    .parse()
                    .ok()
                    .and_then(|share| Share::new(share).ok())
                    .ok_or_else(unknown)?;
                Ok(VoteRule::Fixed(share))
            }
            Some(("cost", costs)) => costs_of(costs).ok_or_else(unknown),
            _ => Err(unknown()),
        }
    }
}

/// Reads `FALSE_DROP:FALSE_ACCEPT`.
fn costs_of(text: &str) -> Option<VoteRule> {
    let (false_drop, false_accept) = text.split_once(':')?;
    let cost = |text: &str| text.parse().ok().filter(|cost| (0.0..=1e9).contains(cost));
    let (false_drop, false_accept): (f64, f64) = (cost(false_drop)?, cost(false_accept)?);
    (false_drop + false_accept > 0.0).then_some(VoteRule::Cost { false_drop, false_accept })
}

impl fmt::Display for VoteRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VoteRule::F1 => f.write_str("f1"),
            VoteRule::EtaBound => f.write_str("eta-bound"),
            VoteRule::Eta => f.write_str("eta"),
            VoteRule::Credence => f.write_str("credence"),
            VoteRule::Cost { false_drop, false_accept } => {
                write!(f, "cost:{false_drop}:{false_accept}")
            }
            VoteRule::Fixed(share) => write!(f, "fixed:{}", share.get()),
        }
    }
}

impl TryFrom<String> for VoteRule {
    type Error = VoteError;

    fn try_from(text: String) -> Result<Self, VoteError> {
        text.parse()
    }
}

impl From<VoteRule> for String {
    fn from(rule: VoteRule) -> Self {
        rule.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(rows: &[(u32, bool)]) -> ScoreHistogram {
        let mut histogram = ScoreHistogram::new(1);
        rows.iter().for_each(|&(score, drop)| histogram.add(score, drop));
        histogram
    }

    #[test]
    fn rules_are_read_as_they_are_written() {
        for text in ["f1", "eta-bound", "eta", "credence", "cost:1:2.5", "fixed:0.5", "fixed:0.125"]
        {
            assert_eq!(text.parse::<VoteRule>().unwrap().to_string(), text);
        }
        assert_eq!("fixed".parse(), Ok(VoteRule::Fixed(Share::HALF)));
        for text in [
            "",
            "F1",
            "fixed:1",
            "fixed:-0.1",
            "fixed:nan",
            "fixed:x",
            "f1:0.5",
            "cost:0:0",
            "cost:1",
            "cost:1:-1",
            "cost:1:inf",
        ] {
            assert_eq!(text.parse::<VoteRule>(), Err(VoteError::Unknown(text.to_owned())));
        }
    }

    #[test]
    fn half_of_the_votes_is_a_tie_and_a_tie_means_accept() {
        let scores = histogram(&[(510, true), (511, true)]);
        let decision = "fixed".parse::<VoteRule>().unwrap().choose(&scores, 4, None).unwrap();
        assert_eq!(decision.threshold, 510);
        assert_eq!(decision.confusion.tp, 1);
    }

    #[test]
    fn a_forest_that_tells_nothing_apart_accepts() {
        let scores = histogram(&[(20, true), (20, false), (20, false)]);
        for rule in ["f1", "eta-bound", "cost:1:1"] {
            let rule: VoteRule = rule.parse().unwrap();
            let decision = rule.choose(&scores, 1, Some(4)).unwrap();
            assert_eq!(decision.confusion.fp, 0, "{rule}");
        }
        let drops = histogram(&[(20, true), (20, true)]);
        assert_eq!(VoteRule::F1.choose(&drops, 1, None).unwrap().confusion.tp, 2);
    }

    #[test]
    fn equally_good_thresholds_predict_fewest_drops() {
        // F1 is 2/3 for scores above 10 (1 of 2 found, no error) and above 0 (2 found, 2 errors).
        let scores = histogram(&[(20, true), (10, true), (10, false), (10, false), (0, false)]);
        let decision = VoteRule::F1.choose(&scores, 1, None).unwrap();
        assert_eq!(decision.threshold, 15);
    }

    #[test]
    fn the_eta_bound_forgives_no_missed_drop_in_a_wide_switch() {
        let mut rows = vec![(0, false); 100];
        rows.extend([(9, true), (9, true), (4, true)]);
        rows.extend([(4, false); 5]);
        let scores = histogram(&rows);
        let threshold = |ports| VoteRule::EtaBound.choose(&scores, 1, ports).unwrap().threshold;
        assert_eq!(threshold(Some(2)), 6, "one more drop found is not worth 5 false ones");
        assert_eq!(threshold(Some(20)), 2);
        assert_eq!(VoteRule::EtaBound.choose(&scores, 1, None), Err(VoteError::PortsUnknown));
    }

    #[test]
    fn where_no_threshold_has_a_bound_f1_decides() {
        let scores = histogram(&[(9, true), (0, true), (0, true), (0, false), (9, false)]);
        let (eta, f1) = (VoteRule::EtaBound, VoteRule::F1);
        let decision = eta.choose(&scores, 1, Some(20)).unwrap();
        assert_eq!(decision.confusion.eta_bound(20), None);
        assert_eq!(Ok(decision), f1.choose(&scores, 1, None));
    }

    #[test]
    fn a_cost_weighs_false_drops_against_false_accepts() {
        let scores = histogram(&[(9, true), (5, false), (5, false), (5, true), (0, false)]);
        let threshold = |rule: &str| {
            rule.parse::<VoteRule>().unwrap().choose(&scores, 1, None).unwrap().threshold
        };
        assert_eq!(threshold("cost:1:1"), 7, "two false drops cost more than one drop missed");
        assert_eq!(threshold("cost:1:3"), 2);
        assert_eq!(threshold("cost:0:1"), 2, "equal costs: the better F1");
        assert_eq!(threshold("cost:1:0"), 7);
    }

    #[test]
    fn rules_that_replay_do_not_choose_alone() {
        let scores = histogram(&[(9, true), (5, false)]);
        let error = VoteRule::Eta.choose(&scores, 1, Some(4)).unwrap_err();
        assert_eq!(error, VoteError::NeedsReplay(VoteRule::Eta));
        let candidates = VoteRule::candidates(&scores, Some(4));
        let best = |sent: &[u64]| VoteRule::best_replayed(&candidates, sent).unwrap().threshold;
        assert_eq!(candidates.len(), 3);
        assert_eq!(best(&[5, 6, 7]), 9);
        assert_eq!(best(&[7, 7, 6]), 7, "the better F1 of two that transmit as much");
        assert_eq!(VoteRule::best_replayed(&[], &[]), None);
    }

    proptest! {
        #[test]
        fn candidates_are_few_and_hold_the_best(
            rows in prop::collection::vec((0_u32..2000, any::<bool>()), 1..500),
            ports in 1_u16..9,
        ) {
            let scores = histogram(&rows);
            let candidates = VoteRule::candidates(&scores, Some(ports));
            let all = scores.operating_points();
            prop_assert!(candidates.len() <= QUANTILES + 4);
            prop_assert!(candidates.iter().all(|candidate| all.contains(candidate)));
            prop_assert!(candidates.is_sorted_by_key(|candidate| candidate.threshold));
            prop_assert_eq!(candidates.last(), all.last());
            for rule in [VoteRule::F1, VoteRule::EtaBound] {
                let chosen = rule.choose(&scores, 1, Some(ports)).unwrap();
                prop_assert!(candidates.contains(&chosen));
            }
            if all.len() <= QUANTILES {
                prop_assert_eq!(candidates, all);
            }
        }

        #[test]
        fn no_threshold_beats_the_chosen_one(
            rows in prop::collection::vec((0_u32..20, any::<bool>()), 1..60),
            ports in 1_u16..9,
        ) {
            let scores = histogram(&rows);
            let all = || (0..20).map(|threshold| scores.confusion(threshold));
            // To drop everything is no choice, unless all is to be dropped.
            let chosen_from = all().filter(|of| of.tn + of.fn_ > 0 || of.fp == 0);
            let best = chosen_from.filter_map(|confusion| confusion.f1()).fold(0.0, f64::max);
            let chosen = VoteRule::F1.choose(&scores, 1, None).unwrap();
            prop_assert!(chosen.confusion.f1().unwrap_or(0.0) == best);

            let best = all()
                .filter_map(|confusion| confusion.eta_bound(ports))
                .fold(f64::INFINITY, f64::min);
            let chosen = VoteRule::EtaBound.choose(&scores, 1, Some(ports)).unwrap();
            prop_assert!(chosen.confusion.eta_bound(ports).unwrap_or(f64::INFINITY) == best);
        }
    }
}
