//! What to do: the cheapest policy that no dearer one beats.

use super::contrasts::{EpisodeGain, episodes_needed};
use serde::{Deserialize, Serialize};

/// What a policy needs of a switch, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// A setting: another alpha.
    Setting,
    /// A setting for each queue of a port.
    QueueSettings,
    /// A forest and virtual LQD.
    Credence,
    /// A chip that pushes packets out.
    OtherChip,
}

/// What came of comparing a candidate with what the switch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// It loses less, beyond noise, and by enough to matter.
    Better,
    /// It does not lose less, or not by enough to matter.
    NoBetter,
    /// It loses less in this trace, in too few episodes to say more.
    TooFewEpisodes,
    /// It loses less in this trace, which may be noise.
    Noise,
}

/// A policy that the switch could have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// What it needs.
    pub cost: Cost,
    /// The policy, as the registry names it (`docs/policies.md`).
    pub policy: String,
    /// The alpha of Dynamic Thresholds; null if there is none.
    pub alpha: Option<f64>,
    /// Bytes that it loses: of all arrivals; if it was trained, of those that did not train it.
    pub lost_bytes: u64,
    /// What the switch loses of the same arrivals as it is, bytes.
    pub now_lost_bytes: u64,
    /// What it transmits more than the switch does as it is.
    pub gain: EpisodeGain,
    /// What follows.
    pub finding: Finding,
    /// A dearer one that transmits more than this, beyond noise and by enough to matter.
    pub beaten_by: Option<String>,
}

/// What to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdviceDecision {
    /// Nothing was compared, or the numbers cannot be trusted.
    #[default]
    None,
    /// Too few episodes to decide.
    Undecided,
    /// Keep what the switch has.
    Keep,
    /// Set another policy.
    Set,
}

/// What to do about drops, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// What to do.
    pub decision: AdviceDecision,
    /// The policy to set, as the registry names it; null to keep what the switch has.
    pub policy: Option<String>,
    /// Its alpha; null if it has none.
    pub alpha: Option<f64>,
    /// Bytes that the switch loses as it is.
    pub now_lost_bytes: u64,
    /// Whether no policy at all loses less than the switch does as it is.
    pub is_at_bound: bool,
    /// Episodes in which it loses packets.
    pub episodes: u64,
    /// How many have to differ before alphas can be compared.
    pub episodes_needed: u64,
    /// How long a capture has so many, at this rate, nanoseconds; null if these have.
    pub capture_needed_ns: Option<u64>,
    /// A smaller share of the lost bytes does not matter.
    pub least_gain: f64,
    /// The best policy of each cost, the cheapest first.
    pub candidates: Vec<Candidate>,
}

/// The best policy of one cost.
#[derive(Clone, Debug)]
pub(super) struct Contender {
    pub(super) cost: Cost,
    pub(super) policy: String,
    pub(super) alpha: Option<f64>,
    pub(super) lost_bytes: u64,
    pub(super) now_lost_bytes: u64,
    /// Of how many it is the best.
    pub(super) choices: u64,
    /// Its number.
    pub(super) place: ComparedPolicy,
}

/// Who is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparedPolicy {
    /// What the switch has.
    Now,
    /// By its number among all that are compared.
    Of(usize),
    /// An alpha for each queue.
    ByQueue,
}

/// The switch as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) lost_bytes: u64,
    /// What every policy loses; none if not known.
    pub(super) least_lost_bytes: Option<u64>,
    pub(super) episodes: u64,
    /// How long the traces are, nanoseconds.
    pub(super) length_ns: u64,
}

impl Advice {
    /// Decides among the contenders, the cheapest first: the cheapest that no dearer one beats. `gain` is what the first transmits more than the second, as the best
    /// of so many; none if that is not known.
    pub(super) fn new(
        now: Now,
        least_gain: f64,
        contenders: Vec<Contender>,
        gain: impl Fn(ComparedPolicy, ComparedPolicy, u64) -> Option<EpisodeGain>,
    ) -> Self {
        let needed = episodes_needed(contenders.first().map_or(1, |alphas| alphas.choices));
        let mut advice = Advice {
            decision: AdviceDecision::Keep,
            now_lost_bytes: now.lost_bytes,
            is_at_bound: now.least_lost_bytes.is_some_and(|least| now.lost_bytes <= least),
            episodes: now.episodes,
            episodes_needed: needed,
            capture_needed_ns: (1..needed)
                .contains(&now.episodes)
                .then(|| (now.length_ns / now.episodes).saturating_mul(needed)),
            least_gain,
            ..Advice::default()
        };
        let possible: Vec<&Contender> =
            contenders.iter().filter(|of| of.cost != Cost::OtherChip).collect();
        // The first dearer one that transmits more than a policy, beyond noise and by enough to matter.
        let beaten_by = |place: ComparedPolicy, cost: Option<Cost>| {
            let mut dearer = possible.iter().filter(|of| cost.is_none_or(|cost| of.cost > cost));
            let beats = |of: &&&Contender| {
                let gain = gain(of.place, place, of.choices);
                gain.is_some_and(|gain| of.finding(&gain, least_gain) == Finding::Better)
            };
            dearer.find(beats).map(|of| of.policy.clone())
        };
        let now_is_beaten = beaten_by(ComparedPolicy::Now, None).is_some();
        for contender in &contenders {
            let Some(gain) = gain(contender.place, ComparedPolicy::Now, contender.choices) else {
                continue;
            };
            let Contender { cost, policy, alpha, lost_bytes, now_lost_bytes, place, .. } =
                contender.clone();
            let finding = contender.finding(&gain, least_gain);
            let beaten_by = beaten_by(place, Some(cost));
            let candidate = Candidate {
                cost,
                policy,
                alpha,
                lost_bytes,
                now_lost_bytes,
                gain,
                finding,
                beaten_by,
            };
            advice.candidates.push(candidate);
        }
        // The cheapest of those that may be better than what the switch has and that no dearer one beats.
        let pick = advice
            .candidates
            .iter()
            .find(|of| of.cost != Cost::OtherChip && of.gain.bytes > 0 && of.beaten_by.is_none());
        if let Some(pick) = pick.filter(|pick| now_is_beaten && pick.gain.is_sure()) {
            advice.decision = AdviceDecision::Set;
            (advice.policy, advice.alpha) = (Some(pick.policy.clone()), pick.alpha);
        } else if advice.is_open() {
            advice.decision = AdviceDecision::Undecided;
        }
        advice
    }

    /// Whether too few episodes lose packets to say that what the switch has is the best.
    fn is_open(&self) -> bool {
        let mut possible = self.candidates.iter().filter(|of| of.cost != Cost::OtherChip);
        let may_gain = self.now_lost_bytes > 0 && !self.is_at_bound;
        may_gain
            && (self.episodes < self.episodes_needed
                || possible.any(|of| of.finding == Finding::TooFewEpisodes))
    }

    /// The advised candidate.
    pub fn advised(&self) -> Option<&Candidate> {
        let policy = self.policy.as_ref()?;
        self.candidates.iter().find(|candidate| &candidate.policy == policy)
    }
}

impl Contender {
    /// What follows from what it transmits more than another.
    fn finding(&self, gain: &EpisodeGain, least_gain: f64) -> Finding {
        let other_lost = self.lost_bytes as f64 + gain.bytes as f64;
        if gain.bytes <= 0 || (gain.bytes as f64) < least_gain * other_lost {
            Finding::NoBetter
        } else if gain.is_sure() {
            Finding::Better
        } else if gain.better + gain.worse < episodes_needed(gain.choices) {
            Finding::TooFewEpisodes
        } else {
            Finding::Noise
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gains of contenders, by number, over the switch as it is; over each other their differences.
    fn advise(now_lost: u64, episodes: u64, gains: &[(Cost, i64, u64)]) -> Advice {
        let contender = |(number, &(cost, bytes, _)): (usize, &(Cost, i64, u64))| Contender {
            cost,
            policy: format!("policy {number}"),
            alpha: None,
            lost_bytes: now_lost.saturating_add_signed(-bytes),
            now_lost_bytes: now_lost,
            choices: 14,
            place: ComparedPolicy::Of(number),
        };
        let contenders = gains.iter().enumerate().map(contender).collect();
        let of = |place| match place {
            ComparedPolicy::Of(number) => gains[number],
            _ => (Cost::Setting, 0, 0),
        };
        let gain = |a, b, choices| {
            let ((_, ours, better), (_, theirs, _)) = (of(a), of(b));
            let (low_bytes, high_bytes) = (None, None);
            let bytes = ours - theirs;
            let better = if bytes > 0 { better } else { 0 };
            Some(EpisodeGain { bytes, low_bytes, high_bytes, episodes, better, worse: 0, choices })
        };
        let now =
            Now { lost_bytes: now_lost, least_lost_bytes: Some(100), episodes, length_ns: 1_000 };
        Advice::new(now, 0.05, contenders, gain)
    }

    #[test]
    fn the_cheapest_that_no_dearer_one_beats_is_advised() {
        use Cost::{Credence, OtherChip, Setting};
        let set = |advice: Advice| (advice.decision, advice.policy);
        let is = |number: usize| (AdviceDecision::Set, Some(format!("policy {number}")));
        assert_eq!(set(advise(1_000, 20, &[(Setting, 400, 20), (Credence, 410, 20)])), is(0));
        assert_eq!(set(advise(1_000, 20, &[(Setting, 0, 0), (Credence, 410, 20)])), is(1));
        assert_eq!(set(advise(1_000, 20, &[(Setting, 400, 20), (Credence, 800, 20)])), is(1));
        assert_eq!(
            set(advise(1_000, 20, &[(Setting, 40, 20), (OtherChip, 800, 20)])).0,
            AdviceDecision::Keep
        );
        // What loses nothing and is not sure keeps a dearer one away.
        let few = advise(1_000, 20, &[(Setting, 1_000, 11), (Credence, 990, 20)]);
        assert_eq!(
            (few.decision, few.candidates[0].finding),
            (AdviceDecision::Undecided, Finding::TooFewEpisodes)
        );
        assert_eq!(few.candidates[1].finding, Finding::Better);
        // The alpha does not gain enough to be set for its own sake, but leaves too little to the oracle.
        assert_eq!(set(advise(1_000, 20, &[(Setting, 45, 20), (Credence, 60, 20)])), is(0));
    }

    #[test]
    fn too_few_episodes_decide_nothing_unless_nothing_can_be_gained() {
        let few = advise(1_000, 3, &[(Cost::Setting, -5, 0)]);
        assert_eq!(
            (few.decision, few.capture_needed_ns),
            (AdviceDecision::Undecided, Some(333 * 12))
        );
        assert_eq!(advise(100, 3, &[(Cost::Setting, -5, 0)]).decision, AdviceDecision::Keep);
        assert_eq!(advise(0, 0, &[(Cost::Setting, 0, 0)]).decision, AdviceDecision::Keep);
        assert_eq!(advise(1_000, 12, &[(Cost::Setting, -5, 0)]).decision, AdviceDecision::Keep);
    }
}
