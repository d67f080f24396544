//! Dynamic Thresholds (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory
//! packet switches", IEEE/ACM ToN 1998), the default of datacenter switches.

use crate::about::{About, PolicyParameters, Sees};
use crate::{Alphas, Buffer, Decision, Packet, Policy};
use dropcast_features::BufferView;
use serde::{Deserialize, Serialize};

/// Accepts a packet while its queue is below `alpha * (B - Q)`.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicThresholds {
    alpha: Alphas,
}

impl DynamicThresholds {
    /// The `alpha` of the Credence paper (section 4.1).
    pub const PAPER_ALPHA: f64 = 0.5;

    /// One `alpha` for every queue.
    ///
    /// # Panics
    /// If it is not a positive number.
    pub fn new(alpha: f64) -> Self {
        DynamicThresholds::per_queue(vec![alpha])
    }

    /// These `alpha`.
    pub fn with(alpha: Alphas) -> Self {
        DynamicThresholds { alpha }
    }

    /// An `alpha` for each queue within a port; the last one serves all further queues.
    ///
    /// # Panics
    /// If there is none, or one is not a positive number.
    pub fn per_queue(alpha: Vec<f64>) -> Self {
        DynamicThresholds { alpha: Alphas::new(alpha).expect("positive alphas") }
    }
}

impl DynamicThresholds {
    /// What they decide with this `alpha` for the packet's queue.
    pub fn decide_at(alpha: f64, buffer: &Buffer, packet: &Packet) -> Decision {
        decide_below(buffer, packet, alpha * free_bytes(buffer))
    }
}

/// Parameters of [`DynamicThresholds`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DynamicThresholdsParameters {
    /// By queue within a port.
    pub alpha: Alphas,
}

impl Default for DynamicThresholdsParameters {
    fn default() -> Self {
        let alpha = Alphas::try_from(DynamicThresholds::PAPER_ALPHA).expect("0.5 is positive");
        DynamicThresholdsParameters { alpha }
    }
}

impl PolicyParameters for DynamicThresholdsParameters {
    fn about(&self) -> About<'_> {
        let title = "Dynamic Thresholds";
        About { title, pushes_out: false, sees: Sees::Queues, model: None, base: None }
    }
}

impl DynamicThresholdsParameters {
    /// The policy.
    pub fn policy(&self) -> DynamicThresholds {
        DynamicThresholds { alpha: self.alpha.clone() }
    }
}

/// The rule of every threshold policy: accept if the packet fits and its queue, without the packet,
/// is below the threshold.
pub(crate) fn decide_below(buffer: &Buffer, packet: &Packet, threshold_bytes: f64) -> Decision {
    let is_below = f64::from(buffer.shared_lengths()[packet.queue]) < threshold_bytes;
    if is_below && buffer.fits(packet.size_bytes) { Decision::Accept } else { Decision::Reject }
}

/// `B - Q`, bytes.
pub(crate) fn free_bytes(buffer: &Buffer) -> f64 {
    f64::from(buffer.capacity_bytes() - buffer.occupancy_bytes())
}

impl Policy for DynamicThresholds {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let alpha = self.alpha.at(packet.queue % buffer.queues_per_port());
        DynamicThresholds::decide_at(alpha, buffer, packet)
    }
}
