//! Credence, the drop-tail policy with predictions (Credence, Algorithm 1).

use super::follow_lqd::situation;
use super::oracle::Oracle;
use super::real_queues::FeatureSource;
use crate::about::{About, PolicyParameters, Sees};
use crate::{
    AlwaysAccept, Asked, Buffer, BuildError, Decision, Fit, ModelKind, Packet, Policy, PolicySite,
    Predictor, TimeModel, Victim, VirtualLqd,
};
use dropcast_data::{Outcome, SwitchSpec};
use dropcast_runtime::{DriftMonitor, DriftRule, Situation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// FollowLQD's thresholds, a prediction for each packet below them, and a safeguard: while the
/// longest queue is below `B/N`, every packet that fits is accepted.
///
/// `N` is the number of ports. The paper's model has one queue per port and unit packets, where a
/// longest queue below `B/N` implies that the packet fits; otherwise that is checked.
#[derive(Clone, Debug)]
pub struct CredencePolicy<S, P> {
    lqd: VirtualLqd<S>,
    predictor: P,
    /// If it falls back to accepting every packet while predictions are wrong.
    fallback: Option<Fallback>,
    slack_bytes: u32,
    values: Vec<u32>,
}

/// The precision of predicted drops, and the packets that measure it.
#[derive(Clone, Debug, Default)]
struct Fallback {
    monitor: DriftMonitor,
    /// Packets of virtual LQD whose drop was predicted.
    predicted: BTreeSet<u64>,
    /// Whether LQD rejected the arriving packet.
    is_rejected: bool,
}

impl Fallback {
    /// A packet left virtual LQD.
    fn left(&mut self, id: u64, outcome: Outcome) {
        if self.predicted.remove(&id) && outcome == Outcome::PushedOut {
            self.monitor.confirmed();
        }
    }

    /// A drop is predicted for a packet that has arrived at virtual LQD; returns whether to follow
    /// the prediction.
    fn follows(&mut self, id: u64) -> bool {
        let is_followed = self.monitor.predicted();
        if self.is_rejected {
            self.monitor.confirmed();
        } else {
            self.predicted.insert(id);
        }
        is_followed
    }
}

impl<S: TimeModel, P: Predictor> CredencePolicy<S, P> {
    /// Credence for a switch, with the features of virtual LQD; `service` serves the virtual queues
    /// and must be of the switch's own time model.
    pub fn new(spec: &SwitchSpec, victim: Victim, fit: Fit, service: S, predictor: P) -> Self {
        let features = predictor.features();
        CredencePolicy {
            values: vec![0; features.len()],
            lqd: VirtualLqd::new(spec, victim, fit, service, features),
            fallback: None,
            slack_bytes: spec.slack_bytes,
            predictor,
        }
    }

    /// The same, but with this slack instead of the description's ([`SwitchSpec::slack_bytes`]).
    #[must_use]
    pub fn with_slack(self, slack_bytes: u32) -> Self {
        CredencePolicy { slack_bytes, ..self }
    }

    /// The same, but it accepts every packet below its threshold while predictions are wrong too
    /// often ([`DriftMonitor`]). Packets need distinct numbers.
    #[must_use]
    pub fn falling_back(self, rule: DriftRule) -> Self {
        let monitor = DriftMonitor::new(rule);
        CredencePolicy { fallback: Some(Fallback { monitor, ..Fallback::default() }), ..self }
    }

    /// The precision of predicted drops, if it is measured.
    pub fn drift(&self) -> Option<&DriftMonitor> {
        self.fallback.as_ref().map(|fallback| &fallback.monitor)
    }

    /// Thresholds by queue, bytes.
    pub fn thresholds(&self) -> &[u32] {
        self.lqd.buffer().shared_lengths()
    }

    /// The packets that LQD would hold now.
    pub fn virtual_buffer(&self) -> &Buffer {
        self.lqd.buffer()
    }

    /// The predictor.
    pub fn predictor(&self) -> &P {
        &self.predictor
    }
}

impl<S: TimeModel, P: Predictor> Policy for CredencePolicy<S, P> {
    fn advance(&mut self, now: u64) {
        match &mut self.fallback {
            Some(fallback) => self.lqd.advance(now, |id, outcome| fallback.left(id, outcome)),
            None => self.lqd.advance(now, |_, _| {}),
        }
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.lqd.observe(packet, now, &mut self.values);
        match &mut self.fallback {
            Some(fallback) => {
                let accepted =
                    self.lqd.admit(packet, now, |id, outcome| fallback.left(id, outcome));
                fallback.is_rejected = !accepted;
            }
            None => {
                self.lqd.admit(packet, now, |_, _| {});
            }
        }
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let CredencePolicy { lqd, predictor, fallback, slack_bytes, values } = self;
        let threshold_bytes = lqd.buffer().shared_lengths()[packet.queue];
        let situation = situation(buffer, threshold_bytes, packet);
        let verdict = Situation { slack_bytes: *slack_bytes, ..situation }.decide(|| {
            predictor.predicts_drop(Asked { packet, features: values })
                && fallback.as_mut().is_none_or(|fallback| fallback.follows(packet.id))
        });
        if verdict.accepts() { Decision::Accept } else { Decision::Reject }
    }
}

/// Parameters of [`CredencePolicy`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CredenceParameters {
    /// Name of the file with the oracle; no drop is ever predicted if there is none.
    pub model: Option<String>,
    /// Whose features the oracle sees.
    pub features: FeatureSource,
    /// Probability with which predictions are flipped, from 0 to 1.
    pub flip_probability: f64,
    /// Whether it accepts every packet below its threshold while predictions are wrong too often
    /// ([`DriftMonitor`]).
    pub fallback: bool,
    /// How much longer than its threshold a queue may become, bytes, if not as the switch's description
    /// says ([`SwitchSpec::slack_bytes`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack_bytes: Option<u32>,
}

impl PolicyParameters for CredenceParameters {
    fn about(&self) -> About<'_> {
        let title = "Credence";
        let model = Some((ModelKind::Oracle, &self.model));
        About { title, pushes_out: false, sees: Sees::Queues, model, base: None }
    }

    fn model_mut(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.model)
    }
}

impl CredenceParameters {
    /// The policy of a switch, with the oracle that `model` names.
    ///
    /// # Errors
    /// If the oracle is missing or invalid, the probability is out of range, or a fallback is asked for with features of the
    /// switch's own queues.
    pub fn policy<S: TimeModel + Clone + Send + 'static>(
        &self,
        mut site: PolicySite<'_, S>,
    ) -> Result<Box<dyn Policy + Send>, BuildError> {
        let predictor = site.predictor("credence", self.model.as_deref(), self.flip_probability)?;
        let PolicySite { spec, fit, victim, service, .. } = site;
        let slack_bytes = self.slack_bytes.unwrap_or(spec.slack_bytes);
        Ok(match (self.features, self.fallback) {
            (FeatureSource::VirtualLqd, is_falling_back) => {
                let policy = CredencePolicy::new(spec, victim, fit, service, predictor);
                let policy = policy.with_slack(slack_bytes);
                if is_falling_back {
                    Box::new(policy.falling_back(DriftRule::default()))
                } else {
                    Box::new(policy)
                }
            }
            (FeatureSource::RealQueues, false) => {
                let base = CredencePolicy::new(spec, victim, fit, service, AlwaysAccept);
                let base = base.with_slack(slack_bytes);
                Box::new(Oracle::new(spec, base, predictor, spec.base_rtt_ns))
            }
            (FeatureSource::RealQueues, true) => {
                let problem = "is of predictions with virtual LQD's features, not real-queues";
                return Err(BuildError::parameter("fallback", problem));
            }
        })
    }
}
