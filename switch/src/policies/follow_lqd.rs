//! FollowLQD, the drop-tail policy without predictions (Credence, Algorithm 2).

use crate::about::{About, PolicyParameters, Sees};
use crate::{Buffer, Decision, Fit, Lqd, NoObserver, Packet, Policy, Switch, TimeModel, Victim};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_runtime::Situation;
use serde::{Deserialize, Serialize};

/// Accepts a packet while its queue is below its threshold, the length LQD's queue would have.
///
/// The thresholds *are* the queue lengths of a virtual LQD on the same arrivals: in the slotted
/// model this equals UpdateThreshold of Algorithm 2 step by step (checked by a property test), and
/// it generalises to packets of any size, unlike the algorithm's unit steps.
#[derive(Clone, Debug)]
pub struct FollowLqd<S> {
    lqd: Switch<Lqd, S>,
}

impl<S: TimeModel> FollowLqd<S> {
    /// FollowLQD for a switch; `service` serves the virtual queues and must be of the switch's
    /// own time model.
    pub fn new(spec: &SwitchSpec, victim: Victim, fit: Fit, service: S) -> Self {
        FollowLqd { lqd: Switch::new(spec, fit, Lqd::new(victim), service) }
    }

    /// Thresholds by queue, bytes.
    pub fn thresholds(&self) -> &[u32] {
        self.lqd.buffer().shared_lengths()
    }
}

/// What Algorithms 1 and 2 decide by: the buffer before the packet is added, and the threshold of
/// its queue, the length of LQD's queue with the packet.
pub fn situation(buffer: &Buffer, threshold_bytes: u32, packet: &Packet) -> Situation {
    Situation {
        fits: buffer.fits(packet.size_bytes),
        longest_queue_bytes: buffer.longest_queue_bytes(),
        buffer_bytes: buffer.capacity_bytes(),
        // Ports are numbered by 16 bits.
        ports: buffer.ports() as u32,
        queue_bytes: buffer.shared_lengths()[packet.queue],
        size_bytes: packet.size_bytes,
        threshold_bytes,
        slack_bytes: 0,
    }
}

/// Whether a packet fits, and leaves its queue no longer than this: Algorithm 2, line 5, for packets of any size.
#[inline]
pub fn fits_below(buffer: &Buffer, packet: &Packet, most_bytes: u64) -> bool {
    let after = u64::from(buffer.shared_lengths()[packet.queue]) + u64::from(packet.size_bytes);
    buffer.fits(packet.size_bytes) && after <= most_bytes
}

/// Parameters of [`FollowLqd`]: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FollowLqdParameters {}

impl PolicyParameters for FollowLqdParameters {
    fn about(&self) -> About<'_> {
        About { title: "FollowLQD", pushes_out: false, sees: Sees::Queues, model: None, base: None }
    }
}

impl<S: TimeModel> Policy for FollowLqd<S> {
    fn advance(&mut self, now: u64) {
        self.lqd.advance(now, &mut NoObserver);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.lqd.admit(packet, now, &mut NoObserver);
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let threshold_bytes = self.thresholds()[packet.queue].into();
        if fits_below(buffer, packet, threshold_bytes) {
            Decision::Accept
        } else {
            Decision::Reject
        }
    }
}
