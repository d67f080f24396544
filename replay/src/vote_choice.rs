//! Vote thresholds chosen by replay.

use crate::forest_replay::{VoteLane, VotePolicy};
use crate::replay::Sent;
use dropcast_forest::{OperatingPoint, ScoreHistogram};
use dropcast_train::VoteRule;

/// The choice of forests' vote thresholds by a rule that replays: first which lanes to replay, then
/// the best of them.
#[derive(Clone, Debug)]
pub struct VoteChoice {
    /// By forest.
    candidates: Vec<Vec<OperatingPoint>>,
    lanes: Vec<VoteLane>,
}

impl VoteChoice {
    /// The choice by `rule` among the [candidates](VoteRule::candidates) of forests with these
    /// scores. `None` if the rule does not [replay](VoteRule::replays).
    pub fn new(rule: VoteRule, scores: &[&ScoreHistogram], ports: Option<u16>) -> Option<Self> {
        let policy = match rule {
            VoteRule::Eta => VotePolicy::Followed,
            VoteRule::Credence => VotePolicy::Credence,
            _ => return None,
        };
        let candidates: Vec<Vec<OperatingPoint>> =
            scores.iter().map(|scores| VoteRule::candidates(scores, ports)).collect();
        let lane = |forest, decision: &OperatingPoint| VoteLane {
            forest,
            threshold: decision.threshold,
            policy,
        };
        let of_forest = |(forest, candidates): (usize, &Vec<OperatingPoint>)| {
            candidates.iter().map(|decision| lane(forest, decision)).collect::<Vec<_>>()
        };
        let lanes = candidates.iter().enumerate().flat_map(of_forest).collect();
        Some(VoteChoice { candidates, lanes })
    }

    /// The lanes to replay.
    pub fn lanes(&self) -> &[VoteLane] {
        &self.lanes
    }

    /// The best decision of each forest, given what each lane transmitted. `None` for a forest
    /// without candidates: there were no rows to choose on.
    pub fn choose(&self, sent: &[Sent]) -> Vec<Option<OperatingPoint>> {
        let mut packets = sent.iter().map(|sent| sent.packets);
        let best = |candidates: &Vec<OperatingPoint>| {
            let of_forest: Vec<u64> = packets.by_ref().take(candidates.len()).collect();
            VoteRule::best_replayed(candidates, &of_forest)
        };
        self.candidates.iter().map(best).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_forest_gets_the_best_of_its_own_lanes() {
        let mut near = ScoreHistogram::new(1);
        [(9, true), (5, false)].iter().for_each(|&(score, drop)| near.add(score, drop));
        let (far, none) = (near.clone(), ScoreHistogram::new(1));
        let choice = VoteChoice::new(VoteRule::Eta, &[&near, &none, &far], Some(4)).unwrap();
        let forests: Vec<usize> = choice.lanes().iter().map(|lane| lane.forest).collect();
        assert_eq!(forests, [0, 0, 0, 2, 2, 2]);
        assert_eq!(choice.lanes()[0].policy, VotePolicy::Followed);
        let sent: Vec<Sent> =
            [4, 5, 6, 6, 5, 4].iter().map(|&packets| Sent { packets, bytes: 0 }).collect();
        let chosen = choice.choose(&sent);
        let thresholds: Vec<Option<u32>> =
            chosen.iter().map(|chosen| chosen.map(|decision| decision.threshold)).collect();
        assert_eq!(thresholds, [Some(9), None, Some(2)]);
        assert!(VoteChoice::new(VoteRule::F1, &[&near], Some(4)).is_none());
    }
}
