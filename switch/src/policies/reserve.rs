//! A reserve of the buffer for packets that nothing follows (`docs/reserve.md`).
//!
//! A sender notices a dropped packet within a round trip if others of its flow arrive behind it; of the last packets of a flight it
//! notices only by a timer, which costs thousands of times as much. So while the buffer is nearly full, packets that are
//! followed are dropped, and what is left of the buffer is for those that are not.

use super::real_queues::RealQueues;
use crate::about::{About, PolicyParameters, Sees};
use crate::{
    Alphas, Asked, Buffer, BuildError, Decision, ModelKind, Packet, Policy, PolicyModel,
    PolicySite, PolicySpec, Predictor, Service,
};
use dropcast_data::SwitchSpec;
use dropcast_features::{BufferView, FeatureSet};
use serde::{Deserialize, Serialize};

/// Drops a packet that its base accepts if it is predicted to be followed, less than the reserve is free, and its queue holds at least `B/N`.
#[derive(Clone, Debug)]
pub struct Reserve<B, P> {
    base: B,
    predictor: P,
    real: RealQueues,
    reserve_bytes: u32,
}

impl<B: Policy, P: Predictor> Reserve<B, P> {
    /// With `share` of the buffer as the reserve, 0 to 1.
    pub fn new(spec: &SwitchSpec, base: B, predictor: P, share: f64) -> Self {
        let real = RealQueues::new(spec, predictor.features(), spec.base_rtt_ns);
        let reserve_bytes = (share * f64::from(spec.buffer_bytes)) as u32;
        Reserve { base, predictor, real, reserve_bytes }
    }

    /// Whether a packet that the base accepts is dropped.
    fn drops(&mut self, buffer: &Buffer, packet: &Packet) -> bool {
        let (own, capacity) = (buffer.shared_lengths()[packet.queue], buffer.capacity_bytes());
        let free_bytes = capacity - buffer.occupancy_bytes();
        if packet.flow_hash == 0
            || free_bytes >= self.reserve_bytes
            || u64::from(own) * (buffer.ports() as u64) < u64::from(capacity)
        {
            return false;
        }
        let features = self.real.observe(buffer, packet);
        self.predictor.predicts_drop(Asked { packet, features })
    }
}

impl<B: Policy, P: Predictor> Policy for Reserve<B, P> {
    fn advance(&mut self, now: u64) {
        self.base.advance(now);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.base.arrives(packet, now);
        self.real.arrives(packet, now);
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

/// The untrained rule: a packet is followed if it is in a burst, and its flow's message had at least
/// [`LONG_PACKETS`](Self::LONG_PACKETS) before it. Long messages go on.
#[derive(Clone, Copy, Debug)]
pub struct LongMessages;

impl LongMessages {
    /// Packets of a message after which more are expected.
    pub const LONG_PACKETS: u32 = 64;
}

impl Predictor for LongMessages {
    fn features(&self) -> FeatureSet {
        "flow_burst,flow_packets".parse().expect("known features")
    }

    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool {
        asked.features[0] > 0 && asked.features[1] >= Self::LONG_PACKETS
    }
}

/// [`Reserve`] as settings describe it.
pub type AnyReserve = Reserve<Box<dyn Policy + Send>, Box<dyn Predictor + Send>>;

/// Parameters of [`Reserve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReserveParameters {
    /// The policy that decides otherwise.
    pub base: Box<PolicySpec>,
    /// Name of the file with the oracle, trained on labels of followers; the untrained rule ([`LongMessages`]) if there is none.
    pub model: Option<String>,
    /// The share of the buffer that is reserved, 0 to 1.
    pub share: f64,
}

impl Default for ReserveParameters {
    fn default() -> Self {
        let alpha = Alphas::try_from(16.0).expect("16 is positive");
        ReserveParameters { base: Box::new(PolicySpec::dt(alpha)), model: None, share: 0.15 }
    }
}

impl PolicyParameters for ReserveParameters {
    fn about(&self) -> About<'_> {
        let title = "Reserve";
        let model = Some((ModelKind::Oracle, &self.model));
        About { title, pushes_out: false, sees: Sees::Flows, model, base: Some(&self.base) }
    }

    fn model_mut(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.model)
    }
}

impl ReserveParameters {
    /// The policy of a switch, with the oracle that `model` names.
    ///
    /// # Errors
    /// If the oracle is missing, the base cannot be built, pushes packets out or has a model, or the share is no share.
    pub fn policy<S: Service + Clone + Send + 'static>(
        &self,
        site: PolicySite<'_, S>,
    ) -> Result<AnyReserve, BuildError> {
        self.base.check_drop_tail_base()?;
        if self.base.model().is_some() {
            let why = "has a model, expected a policy without one";
            return Err(BuildError::parameter("base", format!("{} {why}", self.base.name())));
        }
        if !(0.0..=1.0).contains(&self.share) {
            let problem = format!("is {}, expected 0 to 1", self.share);
            return Err(BuildError::parameter("share", problem));
        }
        let PolicySite { spec, fit, service, victim, seed, model } = site;
        let predictor: Box<dyn Predictor + Send> = match (model, &self.model) {
            (Some(PolicyModel::Predictor(predictor)), _) => predictor,
            (None, None) => Box::new(LongMessages),
            _ => return Err(BuildError::NoModel { policy: "reserve", expected: "drop oracle" }),
        };
        if !predictor.features().looks_at_flows() {
            let problem =
                "has no feature of flows, expected a model of followers (docs/reserve.md)";
            return Err(BuildError::parameter("model", problem));
        }
        let base = self.base.build(PolicySite { spec, fit, service, victim, seed, model: None })?;
        Ok(Reserve::new(spec, base, predictor, self.share))
    }
}
