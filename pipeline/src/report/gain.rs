//! What the oracle gains: Credence with the model against switches without predictions.

use super::replay_section::ReplayTotals;
use dropcast_replay::{BaselinesSent, ReplayPolicy, Sent};
use serde::{Deserialize, Serialize};

/// What Credence with the model transmits more than policies without predictions, on the measured
/// rows of all switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GainSection {
    /// What push-out LQD transmits.
    pub lqd: Sent,
    /// Over no oracle: Credence that always accepts.
    pub always_accept: Gain,
    /// Over FollowLQD.
    pub follow_lqd: Gain,
    /// Over Complete Sharing.
    pub complete_sharing: Gain,
    /// Over Dynamic Thresholds with the best alpha of the verdict ([`crate::report::verdict::RivalsSection::best_alpha`]). Null
    /// without a verdict: after training, as these replays take nearly as long as the training.
    pub best_alpha: Option<Gain>,
}

/// What is transmitted more; negative where it is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gain {
    /// Packets.
    pub packets: i64,
    /// Bytes.
    pub bytes: i64,
}

impl GainSection {
    /// The gain in a replay, and over what Dynamic Thresholds transmits with the best alpha; none if one of the policies
    /// is missing from the replay.
    pub fn new(totals: &ReplayTotals, best_alpha: Option<Sent>) -> Option<Self> {
        let sent = |policy| {
            let mut sections = totals.policies.iter();
            sections.find(|section| section.policy == policy).map(|section| section.sent)
        };
        let credence = sent(ReplayPolicy::Credence)?;
        let over = |policy| Some(Gain::between(credence, sent(policy)?));
        Some(GainSection {
            lqd: sent(ReplayPolicy::Lqd)?,
            always_accept: over(ReplayPolicy::AlwaysAccept)?,
            follow_lqd: over(ReplayPolicy::FollowLqd)?,
            complete_sharing: over(ReplayPolicy::CompleteSharing)?,
            best_alpha: best_alpha.map(|theirs| Gain::between(credence, theirs)),
        })
    }
}

impl GainSection {
    /// The gain of Credence with an oracle, which transmits `credence`.
    pub(crate) fn over(lqd: Sent, credence: Sent, baselines: &BaselinesSent) -> Self {
        GainSection {
            lqd,
            always_accept: Gain::between(credence, baselines.always_accept),
            follow_lqd: Gain::between(credence, baselines.follow_lqd),
            complete_sharing: Gain::between(credence, baselines.complete_sharing),
            best_alpha: None,
        }
    }
}

impl Gain {
    fn between(ours: Sent, theirs: Sent) -> Self {
        Gain {
            packets: difference(ours.packets, theirs.packets),
            bytes: difference(ours.bytes, theirs.bytes),
        }
    }
}

/// Counts of one replay differ by less than 2^63.
fn difference(ours: u64, theirs: u64) -> i64 {
    ours.wrapping_sub(theirs).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::PolicySection;

    fn totals(sent: &[(ReplayPolicy, u64)]) -> ReplayTotals {
        let section = |&(policy, packets): &(ReplayPolicy, u64)| PolicySection {
            policy,
            sent: Sent { packets, bytes: packets * 1_000 },
            packets_to_lqd: None,
            bytes_to_lqd: None,
        };
        ReplayTotals { policies: sent.iter().map(section).collect(), ..ReplayTotals::default() }
    }

    #[test]
    fn a_gain_may_be_a_loss_or_nothing() {
        let sent = [
            (ReplayPolicy::Lqd, 100),
            (ReplayPolicy::Credence, 95),
            (ReplayPolicy::AlwaysAccept, 90),
            (ReplayPolicy::FollowLqd, 95),
            (ReplayPolicy::CompleteSharing, 97),
        ];
        let best_alpha = Sent { packets: 96, bytes: 94_000 };
        let gain = GainSection::new(&totals(&sent), Some(best_alpha)).unwrap();
        assert_eq!(gain.best_alpha, Some(Gain { packets: -1, bytes: 1_000 }));
        assert_eq!(gain.lqd.packets, 100);
        assert_eq!(gain.always_accept, Gain { packets: 5, bytes: 5_000 });
        assert_eq!(gain.follow_lqd, Gain { packets: 0, bytes: 0 });
        assert_eq!(gain.complete_sharing, Gain { packets: -2, bytes: -2_000 });
        assert_eq!(GainSection::new(&totals(&sent), None).unwrap().best_alpha, None);
        assert_eq!(GainSection::new(&totals(&sent[..3]), Some(best_alpha)), None);
    }
}
