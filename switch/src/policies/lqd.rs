//! Longest Queue Drop, the push-out policy (Aiello et al.; Credence section 2).

use crate::{Buffer, Decision, Packet, Policy};
use dropcast_data::Victim;

/// Push-out Longest Queue Drop: when a packet does not fit, push out from the longest queue.
///
/// Only queues that are pushable are victims; ties go to the lowest port, then queue. If nothing
/// can be pushed out, the arrival is dropped. At most 1.707-competitive.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lqd {
    victim: Victim,
}

impl Lqd {
    /// LQD with this choice of victim.
    pub fn new(victim: Victim) -> Self {
        Lqd { victim }
    }

    /// Whether the arriving packet itself is the tail of the longest queue.
    fn arrival_is_victim(self, buffer: &Buffer, packet: &Packet, longest: (usize, u32)) -> bool {
        if self.victim == Victim::Tail || !buffer.is_pushable(packet.queue) {
            return false;
        }
        let own = u64::from(buffer.shared_lengths()[packet.queue]) + u64::from(packet.size_bytes);
        let longest_bytes = u64::from(longest.1);
        own > longest_bytes || (own == longest_bytes && packet.queue <= longest.0)
    }
}

impl Policy for Lqd {
    #[inline]
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        if !buffer.overflows(packet.size_bytes) {
            return if buffer.fits(packet.size_bytes) {
                Decision::Accept
            } else {
                Decision::Reject
            };
        }
        match buffer.longest_pushable() {
            Some(longest) if self.arrival_is_victim(buffer, packet, longest) => Decision::Reject,
            Some((queue, _)) => Decision::PushOut(queue),
            None => Decision::Reject,
        }
    }
}
