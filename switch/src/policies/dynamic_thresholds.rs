//! Dynamic Thresholds (Choudhury and Hahne), the default of datacenter switches.

use crate::{Buffer, Decision, Packet, Policy};
use dropcast_features::BufferView;

/// Accepts a packet while its queue is below `alpha * (B - Q)`.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicThresholds {
    /// By queue within a port; the last one serves all further queues.
    alpha: Vec<f64>,
}

impl DynamicThresholds {
    /// The `alpha` of the Credence paper (section 4.1).
    pub const PAPER_ALPHA: f64 = 0.5;

    /// One `alpha` for every queue.
    pub fn new(alpha: f64) -> Self {
        DynamicThresholds { alpha: vec![alpha] }
    }

    /// An `alpha` for each queue within a port.
    ///
    /// # Panics
    /// If there is none.
    pub fn per_queue(alpha: Vec<f64>) -> Self {
        assert!(!alpha.is_empty(), "at least one queue needs an alpha");
        DynamicThresholds { alpha }
    }

    fn alpha(&self, queue_in_port: usize) -> f64 {
        self.alpha[queue_in_port.min(self.alpha.len() - 1)]
    }
}

impl Policy for DynamicThresholds {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let free = f64::from(buffer.capacity_bytes() - buffer.occupancy_bytes());
        let threshold = self.alpha(packet.queue % buffer.queues_per_port()) * free;
        let is_below = f64::from(buffer.lengths()[packet.queue]) < threshold;
        if is_below && buffer.fits(packet.size_bytes) { Decision::Accept } else { Decision::Reject }
    }
}
