//! What the oracle gains: Credence with the model against switches without predictions.

use super::replay_section::ReplayTotals;
use dropcast_replay::{BaselinesSent, ReplayPolicy, Sent};
use serde::{Deserialize, Serialize};

/// What Credence with the model transmits more than policies without predictions, on the measured
/// rows of all switches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GainSection {
    /// What push-out LQD transmits.
    pub lqd: Sent,
    /// Over no oracle: Credence that always accepts.
    pub always_accept: Gain,
    /// Over FollowLQD.
    pub follow_lqd: Gain,
    /// Over Complete Sharing.
    pub complete_sharing: Gain,
    /// Over Dynamic Thresholds with the best alpha: in a report that of the verdict
    /// ([`crate::verdict::RivalsSection::best_alpha`]), null without one.
    pub best_alpha: Option<AlphaGain>,
}

/// What is transmitted more than with one alpha.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlphaGain {
    /// The alpha; null if it is infinite, which is Complete Sharing.
    pub alpha: Option<f64>,
    /// The gain over it.
    #[serde(flatten)]
    pub gain: Gain,
}

/// The best alpha, and what Dynamic Thresholds transmit with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BestAlpha {
    /// Infinite if none.
    pub(crate) alpha: Option<f64>,
    pub(crate) sent: Sent,
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
    pub(crate) fn new(totals: &ReplayTotals, best_alpha: Option<BestAlpha>) -> Option<Self> {
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
            best_alpha: best_alpha.map(|best| best.gain_of(credence)),
        })
    }
}

impl GainSection {
    /// The gain of Credence with an oracle, which transmits `credence`.
    pub(crate) fn over(
        lqd: Sent,
        credence: Sent,
        baselines: &BaselinesSent,
        complete_sharing: Sent,
        best_alpha: BestAlpha,
    ) -> Self {
        GainSection {
            lqd,
            always_accept: Gain::between(credence, baselines.always_accept),
            follow_lqd: Gain::between(credence, baselines.follow_lqd),
            complete_sharing: Gain::between(credence, complete_sharing),
            best_alpha: Some(best_alpha.gain_of(credence)),
        }
    }
}

impl BestAlpha {
    fn gain_of(self, credence: Sent) -> AlphaGain {
        AlphaGain { alpha: self.alpha, gain: Gain::between(credence, self.sent) }
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
    use crate::PolicySection;

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
        let best_sent = Sent { packets: 96, bytes: 94_000 };
        let best_alpha = BestAlpha { alpha: Some(16.0), sent: best_sent };
        let gain = GainSection::new(&totals(&sent), Some(best_alpha)).unwrap();
        let gain_over = Gain { packets: -1, bytes: 1_000 };
        assert_eq!(gain.best_alpha, Some(AlphaGain { alpha: Some(16.0), gain: gain_over }));
        assert_eq!(gain.lqd.packets, 100);
        assert_eq!(gain.always_accept, Gain { packets: 5, bytes: 5_000 });
        assert_eq!(gain.follow_lqd, Gain { packets: 0, bytes: 0 });
        assert_eq!(gain.complete_sharing, Gain { packets: -2, bytes: -2_000 });
        assert_eq!(GainSection::new(&totals(&sent), None).unwrap().best_alpha, None);
        assert_eq!(GainSection::new(&totals(&sent[..3]), Some(best_alpha)), None);
    }
}
