//! FollowMax: two virtual drop-tail switches share the buffer, and each queue follows the longer of
//! theirs (`lab/notes/theory.md`).

use super::predicted_follow_lqd::PredictedFollowLqd;
use crate::about::{About, PolicyParameters, Sees};
use crate::{
    Buffer, BuildError, Decision, Fit, Harmonic, ModelKind, NoObserver, Packet, Policy, PolicySite,
    Predictor, Switch, TimeModel, Victim,
};
use dropcast_data::SwitchSpec;
use serde::{Deserialize, Serialize};

/// Follows `max(a, h)`: `a` are the queues of a virtual FollowLQD on the packets that are predicted to be
/// accepted, `h` those of a virtual Harmonic on all packets. Their buffers add up to the switch's.
///
/// In the slotted model its queues *are* `max(a, h)` at all times, however many packets arrive in a slot:
/// so in every slot it transmits at least what either does. With right predictions it is as good as LQD
/// with the buffer of `a`; with any predictions as good as Harmonic with that of `h`. Packets of other
/// sizes in continuous time leave the three switches at different times: there it keeps a queue within
/// `max(a, h)` where it can, and nothing is proven.
#[derive(Clone, Debug)]
pub struct FollowMax<S, P> {
    followed: PredictedFollowLqd<S, P>,
    robust: Switch<Harmonic, S>,
}

impl<S: TimeModel + Clone, P: Predictor> FollowMax<S, P> {
    /// The policy for a switch, `harmonic_bytes` of whose buffer are Harmonic's; `service` serves the
    /// virtual queues and must be of the switch's own time model.
    ///
    /// # Panics
    /// If `harmonic_bytes` exceed the buffer.
    pub fn new(
        spec: &SwitchSpec,
        victim: Victim,
        fit: Fit,
        service: S,
        predictor: P,
        harmonic_bytes: u32,
    ) -> Self {
        let follow_bytes =
            spec.buffer_bytes.checked_sub(harmonic_bytes).expect("a part of the buffer");
        let site = PolicySite { fit, victim, ..PolicySite::new(spec, 0) };
        let own = SwitchSpec { buffer_bytes: harmonic_bytes, ..spec.clone() };
        FollowMax {
            followed: PredictedFollowLqd::new(&site, follow_bytes, service.clone(), predictor),
            robust: Switch::new(&own, fit, Harmonic::default(), service),
        }
    }
}

impl<S: TimeModel, P> FollowMax<S, P> {
    /// What the queues of FollowLQD and of Harmonic have in their shared buffers, bytes.
    fn references(&self) -> [&[u32]; 2] {
        [self.followed.lengths(), self.robust.buffer().shared_lengths()]
    }
}

impl<S: TimeModel, P: Predictor> Policy for FollowMax<S, P> {
    fn advance(&mut self, now: u64) {
        self.followed.advance(now);
        self.robust.advance(now, &mut NoObserver);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.followed.arrives(packet, now);
        self.robust.admit(packet, now, &mut NoObserver);
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let queue = packet.queue;
        let [follow, robust] = self.references();
        let limit = u64::from(follow[queue].max(robust[queue]));
        let after = u64::from(buffer.shared_lengths()[queue]) + u64::from(packet.size_bytes);
        let accepts = after <= limit && buffer.fits(packet.size_bytes);
        if accepts { Decision::Accept } else { Decision::Reject }
    }
}

/// Parameters of [`FollowMax`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FollowMaxParameters {
    /// Name of the file with the oracle; no drop is ever predicted if there is none.
    pub model: Option<String>,
    /// Probability with which predictions are flipped, from 0 to 1.
    pub flip_probability: f64,
    /// The part of the buffer that is Harmonic's, above 0 and below 1; the rest is FollowLQD's.
    pub harmonic_share: f64,
}

impl Default for FollowMaxParameters {
    fn default() -> Self {
        FollowMaxParameters { model: None, flip_probability: 0.0, harmonic_share: 0.25 }
    }
}

impl PolicyParameters for FollowMaxParameters {
    fn about(&self) -> About<'_> {
        let title = "FollowMax";
        let model = Some((ModelKind::Oracle, &self.model));
        About { title, pushes_out: false, sees: Sees::Queues, model, base: None }
    }

    fn model_mut(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.model)
    }
}

impl FollowMaxParameters {
    /// The policy of a switch, with the oracle that `model` names.
    ///
    /// # Errors
    /// If the oracle is missing or invalid, or a number is out of range.
    pub fn policy<S: TimeModel + Clone>(
        &self,
        mut site: PolicySite<'_, S>,
    ) -> Result<FollowMax<S, Box<dyn Predictor + Send>>, BuildError> {
        let share = self.harmonic_share;
        // `NaN` is not above 0.
        if !(share > 0.0 && share < 1.0) {
            let problem = format!("is {share}, expected a number between 0 and 1");
            return Err(BuildError::parameter("harmonic_share", problem));
        }
        let predictor =
            site.predictor("follow-max", self.model.as_deref(), self.flip_probability)?;
        let PolicySite { spec, fit, victim, service, .. } = site;
        // Below the buffer, as the share is below 1.
        let bytes = (f64::from(spec.buffer_bytes) * share) as u32;
        Ok(FollowMax::new(spec, victim, fit, service, predictor, bytes))
    }
}
