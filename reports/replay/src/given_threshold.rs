//! Algorithms 1 and 2 with thresholds that are computed elsewhere.

use crate::arrival::is_predicted;
use dropcast_switch::{Buffer, Decision, Packet, Policy, fits_below, situation};

/// A policy whose threshold is computed elsewhere, and whose predictions come with the packets.
#[derive(Clone, Debug)]
pub(crate) struct GivenThreshold {
    /// Of the next packet's queue.
    pub(crate) threshold_bytes: u32,
    /// The switch's.
    pub(crate) slack_bytes: u32,
    pub(crate) rule: Rule,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// Algorithm 1.
    Credence,
    /// Algorithm 2.
    FollowLqd,
}

impl GivenThreshold {
    /// Algorithm 1.
    pub(crate) fn accepts(
        &self,
        buffer: &Buffer,
        packet: &Packet,
        predicts_drop: impl FnOnce() -> bool,
    ) -> bool {
        let mut situation = situation(buffer, self.threshold_bytes, packet);
        situation.slack_bytes = self.slack_bytes;
        situation.decide(predicts_drop).accepts()
    }
}

impl Policy for GivenThreshold {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let threshold_bytes = u64::from(self.threshold_bytes);
        let accepts = match self.rule {
            // The safeguard takes longer to find out about. Below the threshold it matters only to predicted drops.
            Rule::Credence => {
                let most_bytes = threshold_bytes + u64::from(self.slack_bytes);
                let is_predicted = is_predicted(packet.id);
                !is_predicted && fits_below(buffer, packet, most_bytes)
                    || self.accepts(buffer, packet, || is_predicted)
            }
            Rule::FollowLqd => fits_below(buffer, packet, threshold_bytes),
        };
        if accepts { Decision::Accept } else { Decision::Reject }
    }
}
