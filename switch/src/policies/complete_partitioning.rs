//! Complete partitioning: a fixed part for each queue.

use crate::{Buffer, Decision, Packet, Policy};
use dropcast_features::BufferView;

/// Gives every queue that shares the buffer an equal part of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompletePartitioning;

impl Policy for CompletePartitioning {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let sharers = (0..buffer.queues()).filter(|&queue| buffer.shares(queue)).count() as u64;
        let after = u64::from(buffer.shared_lengths()[packet.queue]) + u64::from(packet.size_bytes);
        let is_within = after * sharers <= u64::from(buffer.capacity_bytes());
        if is_within && buffer.fits(packet.size_bytes) {
            Decision::Accept
        } else {
            Decision::Reject
        }
    }
}
