//! Algorithms 1 and 2 with thresholds that are computed elsewhere.

use crate::alpha_lanes::are_alike;
use crate::arrival::{is_counted, is_predicted};
use crate::replay::Lane;
use dropcast_switch::{Buffer, Decision, Packet, Policy, fits_below, situation};

/// A policy whose threshold is computed elsewhere, and whose predictions come with the packets.
#[derive(Clone, Debug)]
pub(super) struct GivenThreshold {
    /// Of the next packet's queue.
    pub(super) threshold_bytes: u32,
    /// The switch's.
    pub(super) slack_bytes: u32,
    pub(super) rule: Rule,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    /// Algorithm 1.
    Credence,
    /// Algorithm 2.
    FollowLqd,
}

impl GivenThreshold {
    /// Algorithm 1.
    fn accepts(
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

impl Lane<GivenThreshold> {
    /// Whether the decision about a packet depends on its prediction.
    pub(super) fn asks(&self, packet: &Packet) -> bool {
        let buffer = self.switch.buffer();
        let mut asks = false;
        let size_bytes = buffer.shared_part(packet.queue, packet.size_bytes);
        if size_bytes > 0 {
            let packet = Packet { size_bytes, ..*packet };
            self.switch.policy().accepts(buffer, &packet, || {
                asks = true;
                false
            });
        }
        asks
    }
}

impl<P: Policy> Lane<P> {
    /// Whether both transmit and count the same from now on, given the same packets and thresholds.
    pub(super) fn continues_like(&self, other: &Self, now_ns: u64) -> bool {
        self.tally.waiting == other.tally.waiting
            && are_alike(&self.switch, &other.switch, now_ns, |held| {
                (held.size_bytes, is_counted(held.id))
            })
    }
}
