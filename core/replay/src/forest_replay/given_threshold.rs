//! Algorithms 1 and 2 with thresholds that are computed elsewhere.

use crate::arrival::{is_counted, is_predicted};
use crate::replay::Lane;
use dropcast_features::BufferView;
use dropcast_switch::{Buffer, Decision, Held, Packet, Policy, situation};

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
        let accepts = match self.rule {
            Rule::Credence => self.accepts(buffer, packet, || is_predicted(packet.id)),
            Rule::FollowLqd => {
                let situation = situation(buffer, self.threshold_bytes, packet);
                situation.fits && situation.is_below_threshold()
            }
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
        let (a, b) = (self.switch.buffer(), other.switch.buffer());
        let held = |held: &Held| (held.size_bytes, is_counted(held.id));
        a.occupancy_bytes() == b.occupancy_bytes()
            && self.tally.waiting == other.tally.waiting
            && a.lengths() == b.lengths()
            && self.switch.service().continues_like(other.switch.service(), now_ns)
            && a.packets().map(held).eq(b.packets().map(held))
    }
}
