//! Longest Queue Drop, the push-out policy (Aiello et al.; Credence section 2).

use crate::about::{About, PolicyParameters, Sees};
use crate::{Buffer, Decision, Packet, Policy};
use dropcast_data::Victim;
use serde::{Deserialize, Serialize};

/// Push-out Longest Queue Drop: when a packet does not fit, push out from the longest queue.
///
/// Only queues that are pushable are victims; ties go to the lowest port, then queue. If nothing
/// can be pushed out, the arrival is dropped. At most 1.707-competitive.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lqd {
    victim: Victim,
    end: QueueEnd,
}

/// An end of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueEnd {
    /// The packet that was added last.
    #[default]
    Tail,
    /// The packet that would leave next: what hardware can reach.
    Head,
}

/// Parameters of [`Lqd`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LqdParameters {
    /// The end that packets are pushed out from.
    pub end: QueueEnd,
}

impl PolicyParameters for LqdParameters {
    fn about(&self) -> About<'_> {
        let title = match self.end {
            QueueEnd::Tail => "LQD",
            QueueEnd::Head => "LQD, head",
        };
        About { title, pushes_out: true, sees: Sees::Queues, model: None, base: None }
    }
}

impl LqdParameters {
    /// The policy.
    pub fn policy(self, victim: Victim) -> Lqd {
        Lqd { victim, end: self.end }
    }
}

impl Lqd {
    /// LQD with this choice of victim, which pushes out tails.
    pub fn new(victim: Victim) -> Self {
        Lqd { victim, end: QueueEnd::Tail }
    }

    /// With the arriving packet its own queue is the longest. Its head makes room, if there is one.
    fn drop_of_own(self, buffer: &Buffer, packet: &Packet) -> Decision {
        match self.end {
            QueueEnd::Head if buffer.shared_lengths()[packet.queue] > 0 => {
                Decision::PushOutHead(packet.queue)
            }
            QueueEnd::Head | QueueEnd::Tail => Decision::Reject,
        }
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
            Some(longest) if self.arrival_is_victim(buffer, packet, longest) => {
                self.drop_of_own(buffer, packet)
            }
            Some((queue, _)) if self.end == QueueEnd::Head => Decision::PushOutHead(queue),
            Some((queue, _)) => Decision::PushOut(queue),
            None => Decision::Reject,
        }
    }
}
