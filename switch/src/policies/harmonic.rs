//! Harmonic (Kesselman and Mansour, "Harmonic buffer management policy for shared memory
//! switches", TCS 2004).

use crate::about::{About, PolicyParameters, Sees};
use crate::{Buffer, Decision, Packet, Policy};
use dropcast_features::BufferView;
use serde::{Deserialize, Serialize};

/// Keeps the k-th longest queue within `B / (k * H_N)`, `H_N` the N-th harmonic number, N the
/// number of queues that share the buffer. (ln N + 2)-competitive.
#[derive(Clone, Debug, Default)]
pub struct Harmonic {
    /// `B / H_N`, bytes, once it is known.
    share_bytes: Option<f64>,
}

impl Harmonic {
    fn share_bytes(&mut self, buffer: &Buffer) -> f64 {
        *self.share_bytes.get_or_insert_with(|| {
            let sharers = (0..buffer.queues()).filter(|&queue| buffer.shares(queue)).count();
            let harmonic: f64 = (1..=sharers).map(|k| 1.0 / k as f64).sum();
            f64::from(buffer.capacity_bytes()) / harmonic
        })
    }
}

/// Parameters of [`Harmonic`]: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarmonicParameters {}

impl PolicyParameters for HarmonicParameters {
    fn about(&self) -> About<'_> {
        About { title: "Harmonic", pushes_out: false, sees: Sees::Queues, model: None, base: None }
    }
}

impl Policy for Harmonic {
    /// Whether every queue would be within its limit with the packet. All are without it, and only
    /// queues that the packet's queue reaches or passes drop by a rank; the others need no check.
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        if !buffer.fits(packet.size_bytes) {
            return Decision::Reject;
        }
        let share_bytes = self.share_bytes(buffer);
        let lengths = buffer.shared_lengths();
        let before = lengths[packet.queue];
        let after = before + packet.size_bytes;
        let is_within = |bytes: u32| {
            // Counts the packet's queue with the packet: it was shorter than `bytes`, and no longer
            // is.
            let longer: u32 = lengths.iter().map(|&length| u32::from(length >= bytes)).sum();
            f64::from(bytes) * f64::from(longer + 1) <= share_bytes
        };
        let passed = lengths.iter().filter(|&&length| before < length && length <= after);
        if is_within(after) && passed.copied().all(is_within) {
            Decision::Accept
        } else {
            Decision::Reject
        }
    }
}
