//! The state by which lanes part, and are alike again.

use crate::alpha_lanes::are_alike;
use crate::arrival::is_counted;
use crate::given_threshold::GivenThreshold;
use crate::lane::Lane;
use dropcast_switch::{Packet, Policy};

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
