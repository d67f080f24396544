//! Credence that pays back its safeguard: a change that keeps the promises of Lemmas 1 and 2 of the
//! Credence paper (`docs/theory.md`).

use crate::{
    Asked, Buffer, Decision, Fit, FollowLqd, NoObserver, Packet, Policy, Predictor, Service,
    Switch, Victim, VirtualLqd,
};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;

/// Follows the queues of a virtual FollowLQD that sees only the packets predicted to be accepted,
/// with a safeguard: while fewer than `B/N` bytes are held, every packet that fits is accepted.
///
/// Credence takes a packet while its queue is below LQD's *threshold*. This one takes it while its
/// queue is below the *queue of that FollowLQD*, the denominator of eta (Definition 1). So a packet
/// that only the safeguard accepted is paid back: its queue accepts no other packet until the
/// virtual queue is as long. In the slotted model it transmits at least as much as that FollowLQD,
/// that is `LQD / eta` (Lemma 1), and is N-competitive for any predictions (Lemma 2).
///
/// It needs a prediction for every packet, not only for those whose fate depends on it.
#[derive(Clone, Debug)]
pub struct PaybackCredence<S, P> {
    /// LQD on all packets, the source of the predictor's features.
    lqd: VirtualLqd<S>,
    /// FollowLQD on the packets predicted to be accepted.
    reference: Switch<FollowLqd<S>, S>,
    predictor: P,
    values: Vec<u32>,
}

impl<S: Service + Clone, P: Predictor> PaybackCredence<S, P> {
    /// The policy for a switch; `service` serves the virtual queues and must be of the switch's own
    /// time model.
    pub fn new(spec: &SwitchSpec, victim: Victim, fit: Fit, service: S, predictor: P) -> Self {
        let features = predictor.features();
        let follow = FollowLqd::new(spec, victim, fit, service.clone());
        PaybackCredence {
            values: vec![0; features.len()],
            lqd: VirtualLqd::new(spec, victim, fit, service.clone(), features),
            reference: Switch::new(spec, fit, follow, service),
            predictor,
        }
    }
}

impl<S: Service, P> PaybackCredence<S, P> {
    /// Lengths of the queues it follows, bytes.
    pub fn reference(&self) -> &[u32] {
        self.reference.buffer().lengths()
    }
}

impl<S: Service, P: Predictor> Policy for PaybackCredence<S, P> {
    fn advance(&mut self, now: u64) {
        self.lqd.advance(now, |_, _| {});
        self.reference.advance(now, &mut NoObserver);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.lqd.observe(packet.queue, &mut self.values);
        self.lqd.admit(packet, now, |_, _| {});
        let shares = self.lqd.buffer().shares(packet.queue);
        if !shares || !self.predictor.predicts_drop(Asked { packet, features: &self.values }) {
            self.reference.admit(packet, now, &mut NoObserver);
        }
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let after = u64::from(buffer.lengths()[packet.queue]) + u64::from(packet.size_bytes);
        let is_followed = after <= u64::from(self.reference()[packet.queue]);
        let accepts = is_followed || is_safeguarded(buffer);
        if accepts && buffer.fits(packet.size_bytes) { Decision::Accept } else { Decision::Reject }
    }
}

/// Whether fewer bytes than `B/N` are held.
fn is_safeguarded(buffer: &Buffer) -> bool {
    let held = u64::from(buffer.occupancy_bytes());
    held * (buffer.ports() as u64) < u64::from(buffer.capacity_bytes())
}
