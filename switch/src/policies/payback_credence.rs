//! Credence that pays back its safeguard: a change that keeps the promises of Lemmas 1 and 2 of the
//! Credence paper (`lab/notes/theory.md`).

use super::predicted_follow_lqd::PredictedFollowLqd;
use crate::about::{About, PolicyParameters, Sees};
use crate::{
    Buffer, BuildError, Decision, Fit, ModelKind, Packet, Policy, PolicySite, Predictor, TimeModel,
    Victim,
};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use serde::{Deserialize, Serialize};

/// Follows the queues of a virtual FollowLQD that sees only the packets predicted to be accepted,
/// with a safeguard: while fewer than `B/N` bytes are held, every packet that fits is accepted.
///
/// Credence takes a packet while its queue is below LQD's *threshold*. This one takes it while its
/// queue is below the *queue of that FollowLQD*, the denominator of eta (Definition 1). So a packet
/// that only the safeguard accepted is paid back: its queue accepts no other packet until the
/// virtual queue is as long. In the slotted model with at most `N` arrivals in a slot it transmits at
/// least as much as that FollowLQD, that is `LQD / eta` (Lemma 1), and is N-competitive for any
/// predictions (Lemma 2). Nothing is proven of packets of other sizes and continuous time.
///
/// It needs a prediction for every packet, not only for those whose fate depends on it.
#[derive(Clone, Debug)]
pub struct PaybackCredence<S, P> {
    followed: PredictedFollowLqd<S, P>,
}

impl<S: TimeModel + Clone, P: Predictor> PaybackCredence<S, P> {
    /// The policy for a switch; `service` serves the virtual queues and must be of the switch's own
    /// time model.
    pub fn new(spec: &SwitchSpec, victim: Victim, fit: Fit, service: S, predictor: P) -> Self {
        let site = PolicySite { fit, victim, ..PolicySite::new(spec, 0) };
        let followed = PredictedFollowLqd::new(&site, spec.buffer_bytes, service, predictor);
        PaybackCredence { followed }
    }
}

impl<S: TimeModel, P> PaybackCredence<S, P> {
    /// What the queues that it follows have in the shared buffer, bytes.
    pub fn reference(&self) -> &[u32] {
        self.followed.lengths()
    }
}

impl<S: TimeModel, P: Predictor> Policy for PaybackCredence<S, P> {
    fn advance(&mut self, now: u64) {
        self.followed.advance(now);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.followed.arrives(packet, now);
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let queue = packet.queue;
        let after = u64::from(buffer.shared_lengths()[queue]) + u64::from(packet.size_bytes);
        let is_followed = after <= u64::from(self.reference()[queue]);
        let accepts = is_followed || is_safeguarded(buffer);
        if accepts && buffer.fits(packet.size_bytes) { Decision::Accept } else { Decision::Reject }
    }
}

/// Whether fewer bytes than `B/N` are held.
fn is_safeguarded(buffer: &Buffer) -> bool {
    let held = u64::from(buffer.occupancy_bytes());
    held * (buffer.ports() as u64) < u64::from(buffer.capacity_bytes())
}

/// Parameters of [`PaybackCredence`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PaybackCredenceParameters {
    /// Name of the file with the oracle; no drop is ever predicted if there is none.
    pub model: Option<String>,
    /// Probability with which predictions are flipped, from 0 to 1.
    pub flip_probability: f64,
}

impl PolicyParameters for PaybackCredenceParameters {
    fn about(&self) -> About<'_> {
        let title = "Credence, pays back";
        let model = Some((ModelKind::Oracle, &self.model));
        About { title, pushes_out: false, sees: Sees::Queues, model, base: None }
    }

    fn model_mut(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.model)
    }
}

impl PaybackCredenceParameters {
    /// The policy of a switch, with the oracle that `model` names.
    ///
    /// # Errors
    /// If the oracle is missing or invalid, or the probability is out of range.
    pub fn policy<S: TimeModel + Clone>(
        &self,
        mut site: PolicySite<'_, S>,
    ) -> Result<PaybackCredence<S, Box<dyn Predictor + Send>>, BuildError> {
        let file = self.model.as_deref();
        let predictor = site.predictor("payback-credence", file, self.flip_probability)?;
        let PolicySite { spec, fit, victim, service, .. } = site;
        Ok(PaybackCredence::new(spec, victim, fit, service, predictor))
    }
}
