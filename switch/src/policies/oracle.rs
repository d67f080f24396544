//! An oracle over any base policy.
//!
//! Credence ties its oracle to FollowLQD's thresholds, which take a virtual LQD to keep. Here the base is any
//! policy that the switch has, usually Dynamic Thresholds, and the oracle sees the switch's own queues. Credence
//! is the instance whose base is Credence without a model, that is FollowLQD with the safeguard, and whose oracle sees
//! virtual LQD's queues.

use super::real_queues::{FeatureSource, RealQueues};
use crate::about::{About, PolicyParameters, Sees};
use crate::policy_site::of_queues;
use crate::{
    Alphas, Asked, Buffer, BuildError, Decision, LineRate, ModelKind, Packet, Policy, PolicyModel,
    PolicySite, PolicySpec, Predictor, TimeModel, VirtualLqd,
};
use dropcast_data::SwitchSpec;
use dropcast_features::{BufferView, FeatureSet};
use serde::{Deserialize, Serialize};

/// Accepts a packet iff the base policy accepts it and no drop is predicted; while the longest queue is
/// below `B/N`, no prediction is asked for (Credence, Algorithm 1, line 7).
#[derive(Clone, Debug)]
pub struct Oracle<B, P, S = LineRate> {
    base: B,
    predictor: P,
    /// The switch's own queues.
    real: RealQueues,
    virtual_lqd: Option<Virtual<S>>,
}

/// Virtual LQD, in place of the switch's own queues, and its features of the packet that arrives.
#[derive(Clone, Debug)]
struct Virtual<S> {
    lqd: VirtualLqd<S>,
    values: Vec<u32>,
}

impl<B: Policy, P: Predictor> Oracle<B, P> {
    /// Over `base`; `time_constant_ns` takes the place of the base RTT in the predictor's features.
    pub fn new(spec: &SwitchSpec, base: B, predictor: P, time_constant_ns: u64) -> Self {
        Oracle::seeing(spec, base, predictor, time_constant_ns, None)
    }
}

impl<B: Policy, P: Predictor, S: TimeModel> Oracle<B, P, S> {
    /// The same with the features of a virtual LQD that has observed nothing.
    pub fn over_virtual_lqd(
        spec: &SwitchSpec,
        base: B,
        predictor: P,
        lqd: impl FnOnce(FeatureSet) -> VirtualLqd<S>,
    ) -> Self {
        let features = predictor.features();
        let values = vec![0; features.len()];
        let seen = Virtual { lqd: lqd(features), values };
        Oracle::seeing(spec, base, predictor, spec.base_rtt_ns, Some(seen))
    }

    fn seeing(
        spec: &SwitchSpec,
        base: B,
        predictor: P,
        time_constant_ns: u64,
        virtual_lqd: Option<Virtual<S>>,
    ) -> Self {
        let own = if virtual_lqd.is_some() { FeatureSet::none() } else { predictor.features() };
        let real = RealQueues::new(spec, own, time_constant_ns);
        Oracle { base, predictor, real, virtual_lqd }
    }

    /// Whether a packet that the base accepts is dropped.
    fn drops(&mut self, buffer: &Buffer, packet: &Packet) -> bool {
        let (longest, capacity) = (buffer.longest_queue_bytes(), buffer.capacity_bytes());
        if u64::from(longest) * (buffer.ports() as u64) < u64::from(capacity) {
            return false;
        }
        let features = match &self.virtual_lqd {
            Some(seen) => seen.values.as_slice(),
            None => self.real.observe(buffer, packet),
        };
        self.predictor.predicts_drop(Asked { packet, features })
    }
}

impl<B: Policy, P: Predictor, S: TimeModel> Policy for Oracle<B, P, S> {
    fn advance(&mut self, now: u64) {
        self.base.advance(now);
        if let Some(Virtual { lqd, .. }) = &mut self.virtual_lqd {
            lqd.advance(now, |_, _| {});
        }
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.base.arrives(packet, now);
        self.real.arrives(packet, now);
        if let Some(Virtual { lqd, values }) = &mut self.virtual_lqd {
            lqd.observe(packet, now, values);
            lqd.admit(packet, now, |_, _| {});
        }
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        let decision = self.base.decide(buffer, packet, now);
        let is_dropped = decision == Decision::Accept && self.drops(buffer, packet);
        if is_dropped { Decision::Reject } else { decision }
    }

    fn settled(&mut self, buffer: &Buffer, packet: &Packet, accepted: bool, now: u64) {
        self.real.settled(buffer, packet, now);
        self.base.settled(buffer, packet, accepted, now);
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        self.real.departed(buffer, queue, time);
        self.base.departed(buffer, queue, size_bytes, time);
    }
}

/// The untrained rule: predicts a drop if the level, projected [`horizon_ns`](OracleParameters::horizon_ns)
/// ahead, reaches the buffer. The level is what the buffer would hold if every queue were cut down to the
/// length of the packet's; LQD drops the packet when it reaches the buffer.
#[derive(Clone, Copy, Debug)]
pub struct LevelAhead {
    /// Size of the buffer.
    pub buffer_bytes: u32,
}

impl LevelAhead {
    /// `level_in_quarter_rtt` looks a quarter of its time constant ahead.
    const TIME_CONSTANTS: u64 = 4;

    /// The time constant with which the feature looks `horizon_ns` ahead.
    pub fn time_constant_ns(horizon_ns: u64) -> u64 {
        horizon_ns.saturating_mul(Self::TIME_CONSTANTS)
    }
}

impl Predictor for LevelAhead {
    fn features(&self) -> FeatureSet {
        "level_in_quarter_rtt".parse().expect("a known feature")
    }

    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool {
        asked.features[0] >= self.buffer_bytes
    }
}

/// The time in which all ports of a switch send a full buffer, `B / sum(C)`, ns, at least 1: with equal ports, the
/// time in which a port sends an equal share of it.
pub fn drain_time_ns(spec: &SwitchSpec) -> u64 {
    let rate_bps: u128 = spec.line_rate_bps.iter().map(|&rate| u128::from(rate)).sum();
    let bits_ns = u128::from(spec.buffer_bytes) * 8_000_000_000;
    u64::try_from(bits_ns / rate_bps.max(1)).unwrap_or(u64::MAX).max(1)
}

/// [`Oracle`] as settings describe it.
pub type AnyOracle<S = LineRate> = Oracle<Box<dyn Policy + Send>, Box<dyn Predictor + Send>, S>;

/// Parameters of [`Oracle`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OracleParameters {
    /// The policy that it filters.
    pub base: Box<PolicySpec>,
    /// Name of the file with the oracle; the untrained rule ([`LevelAhead`]) if there is none.
    pub model: Option<String>,
    /// Whose features the model sees; the untrained rule sees the switch's own queues.
    pub features: FeatureSource,
    /// How far ahead the untrained rule looks, ns; [`drain_time_ns`] if not given.
    pub horizon_ns: Option<u64>,
}

impl Default for OracleParameters {
    fn default() -> Self {
        let alpha = Alphas::try_from(16.0).expect("16 is positive");
        let base = Box::new(PolicySpec::dt(alpha));
        OracleParameters {
            base,
            model: None,
            features: FeatureSource::RealQueues,
            horizon_ns: None,
        }
    }
}

impl PolicyParameters for OracleParameters {
    fn about(&self) -> About<'_> {
        let title = "Oracle";
        let model = Some((ModelKind::Oracle, &self.model));
        About { title, pushes_out: false, sees: Sees::Queues, model, base: Some(&self.base) }
    }

    fn model_mut(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.model)
    }
}

impl OracleParameters {
    /// The policy of a switch, with the oracle that `model` names.
    ///
    /// # Errors
    /// If the oracle is missing or invalid, the base cannot be built, pushes packets out, has a model or is an oracle itself, the
    /// horizon is 0 or given beside a model, or the untrained rule is to see virtual LQD's features.
    pub fn policy<S: TimeModel + Clone + Send + 'static>(
        &self,
        site: PolicySite<'_, S>,
    ) -> Result<AnyOracle<S>, BuildError> {
        let PolicySite { spec, fit, service, victim, seed, model } = site;
        self.base.check_drop_tail_base()?;
        if self.base.model().is_some() || matches!(*self.base, PolicySpec::Oracle(_)) {
            let why = "asks an oracle of its own, expected a policy without one";
            return Err(BuildError::parameter("base", format!("{} {why}", self.base.name())));
        }
        let sees_virtual_lqd = self.features == FeatureSource::VirtualLqd;
        if sees_virtual_lqd && model.is_none() {
            let problem = "virtual-lqd, but the untrained rule is of the switch's own queues";
            return Err(BuildError::parameter("features", problem));
        }
        let (predictor, time_constant_ns): (Box<dyn Predictor + Send>, u64) =
            match (model, &self.model, self.horizon_ns) {
                (Some(_), _, Some(_)) => {
                    let problem = "is of the untrained rule; leave it out, or leave out model";
                    return Err(BuildError::parameter("horizon_ns", problem));
                }
                (Some(PolicyModel::Predictor(predictor)), _, None) => {
                    (of_queues(predictor)?, spec.base_rtt_ns)
                }
                (None, None, Some(0)) => {
                    return Err(BuildError::parameter("horizon_ns", "is 0, expected at least 1"));
                }
                (None, None, horizon_ns) => {
                    let horizon_ns = horizon_ns.unwrap_or_else(|| drain_time_ns(spec));
                    let rule = LevelAhead { buffer_bytes: spec.buffer_bytes };
                    (Box::new(rule), LevelAhead::time_constant_ns(horizon_ns))
                }
                _ => return Err(BuildError::NoModel { policy: "oracle", expected: "drop oracle" }),
            };
        let virtual_service = service.clone();
        let base = self.base.build(PolicySite { spec, fit, service, victim, seed, model: None })?;
        Ok(if sees_virtual_lqd {
            Oracle::over_virtual_lqd(spec, base, predictor, |features| {
                VirtualLqd::new(spec, victim, fit, virtual_service, features)
            })
        } else {
            Oracle::seeing(spec, base, predictor, time_constant_ns, None)
        })
    }
}
