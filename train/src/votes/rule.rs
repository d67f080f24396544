//! The rules that choose vote thresholds, and their texts.

use crate::share::Share;
use crate::vote_error::VoteError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How the vote threshold is chosen.
///
/// As a text: `f1`, `eta-bound`, `eta`, `credence`, `cost:FALSE_DROP:FALSE_ACCEPT`, `fixed` (0.5) or
/// `fixed:SHARE`. [`VoteRule::choose`] chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum VoteRule {
    /// The highest F1.
    F1,
    /// The lowest bound on `eta` by Theorem 2 of the Credence paper, `N` the number of ports;
    /// among equals (all thresholds if none has a bound) the highest F1.
    EtaBound,
    /// The lowest exact `eta` (Credence paper, Definition 1), by replay: what LQD transmits over
    /// what FollowLQD transmits without the predicted drops.
    Eta,
    /// The surest gain of Credence (Algorithm 1) over Credence with an oracle that never predicts a drop, by replay
    /// of the validation and the training rows. Each episode of congestion is one observation: the lower end of the
    /// gain's 95% interval (Student's t) is above 0 in bytes and not below 0 in packets, and the highest in bytes wins.
    /// Nor may there be a loss of packets or bytes on either part alone: few validation rows may lack what a threshold
    /// does harm to. Thresholds are left out if more than a fifth of the drops that they predict are wrong. If no
    /// gain is sure, no drop is predicted.
    #[default]
    Credence,
    /// The lowest total cost of wrong predictions.
    Cost {
        /// Cost of an accepted packet that is predicted to be dropped.
        false_drop: f64,
        /// Cost of a drop that is predicted to be accepted.
        false_accept: f64,
    },
    /// This share of the forest's highest possible score. 0.5 is scikit-learn's vote: a mean leaf
    /// share above one half.
    Fixed(Share),
}

impl VoteRule {
    /// Whether the rule chooses by a replay of arrivals.
    pub fn replays(self) -> bool {
        matches!(self, VoteRule::Eta | VoteRule::Credence)
    }
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
            Some(("cost", costs)) => parse_costs(costs).ok_or_else(unknown),
            _ => Err(unknown()),
        }
    }
}

/// Reads `FALSE_DROP:FALSE_ACCEPT`.
fn parse_costs(text: &str) -> Option<VoteRule> {
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
}
