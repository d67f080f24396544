//! FollowLQD, the drop-tail policy without predictions (Credence, Algorithm 2).

use crate::{Buffer, Decision, Fit, Lqd, NoObserver, Packet, Policy, Service, Switch, Victim};
use dropcast_data::SwitchSpec;

/// Accepts a packet while its queue is below its threshold, the length LQD's queue would have.
///
/// The thresholds *are* the queue lengths of a virtual LQD on the same arrivals: in the slotted
/// model that is UpdateThreshold of Algorithm 2 step by step (a property test holds it to that),
/// and it carries over to packets of any size, where the algorithm's unit steps do not.
#[derive(Clone, Debug)]
pub struct FollowLqd<S> {
    lqd: Switch<Lqd, S>,
}

impl<S: Service> FollowLqd<S> {
    /// FollowLQD for a switch; `service` serves the virtual queues and must be of the switch's
    /// own time model.
    pub fn new(spec: &SwitchSpec, victim: Victim, fit: Fit, service: S) -> Self {
        FollowLqd { lqd: Switch::new(spec, fit, Lqd::new(victim), service) }
    }

    /// Thresholds by queue, bytes.
    pub fn thresholds(&self) -> &[u32] {
        self.lqd.buffer().lengths()
    }
}

/// Algorithm 2, line 5, for packets of any size: with unit packets `q + 1 <= T` is `q < T`.
pub(crate) fn is_below_threshold(buffer: &Buffer, thresholds: &[u32], packet: &Packet) -> bool {
    let after = u64::from(buffer.lengths()[packet.queue]) + u64::from(packet.size_bytes);
    after <= u64::from(thresholds[packet.queue])
}

impl<S: Service> Policy for FollowLqd<S> {
    fn advance(&mut self, now: u64) {
        self.lqd.advance(now, &mut NoObserver);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.lqd.admit(packet, now, &mut NoObserver);
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet) -> Decision {
        let fits = buffer.fits(packet.size_bytes);
        if fits && is_below_threshold(buffer, self.thresholds(), packet) {
            Decision::Accept
        } else {
            Decision::Reject
        }
    }
}
