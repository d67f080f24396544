//! Complete partitioning: a fixed part for each queue.

use crate::about::{About, PolicyParameters, Sees};
use crate::{Buffer, Decision, Packet, Policy};
use dropcast_features::BufferView;
use serde::{Deserialize, Serialize};

/// Gives every queue that shares the buffer the same part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompletePartitioning {
    /// The part, bytes; an equal share of the buffer unless given.
    pub queue_bytes: Option<u32>,
}

impl PolicyParameters for CompletePartitioning {
    fn about(&self) -> About<'_> {
        let title = "Complete Partitioning";
        About { title, pushes_out: false, sees: Sees::Queues, model: None, base: None }
    }
}

impl Policy for CompletePartitioning {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let after = u64::from(buffer.shared_lengths()[packet.queue]) + u64::from(packet.size_bytes);
        let is_within = match self.queue_bytes {
            Some(queue_bytes) => after <= u64::from(queue_bytes),
            None => {
                let sharers = (0..buffer.queues()).filter(|&queue| buffer.shares(queue)).count();
                after * sharers as u64 <= u64::from(buffer.capacity_bytes())
            }
        };
        if is_within && buffer.fits(packet.size_bytes) {
            Decision::Accept
        } else {
            Decision::Reject
        }
    }
}
