//! A reserve of the buffer for packets that nothing follows (`docs/reserve.md`).
//!
//! A sender notices a dropped packet within a round trip if others of its flow arrive behind it; of the last packets of a flight it
//! notices only by a timer, which costs thousands of times as much. So while the buffer is nearly full, packets that are
//! followed are dropped, and what is left of the buffer is for those that are not. Long messages go on, so their packets are kept out
//! first; who of the others is followed, a model says.

use super::real_queues::RealQueues;
use crate::about::{About, PolicyParameters, Sees};
use crate::{
    Alphas, Asked, Buffer, BuildError, Decision, ModelKind, Packet, Policy, PolicyModel,
    PolicySite, PolicySpec, Predictor, TimeModel,
};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use serde::{Deserialize, Serialize};

/// Drops a packet that its base accepts if its queue holds at least `B/N` and less than the reserve is free, if the packet is of a long
/// message; if less than two thirds of the reserve are free, also if the model predicts that it is followed.
#[derive(Clone, Debug)]
pub struct Reserve<B, P> {
    base: B,
    model: Option<P>,
    /// The model's features, then those of [`LONG`] that it lacks; how many are the model's, and the places of `LONG`.
    real: RealQueues,
    models: usize,
    long: [usize; 2],
    reserve_bytes: u32,
}

/// By these features a message is long: its packet is in a burst, and [`LONG_PACKETS`] of it came before.
const LONG: [&str; 2] = ["flow_burst", "flow_packets"];

/// Packets of a message after which more are expected.
pub const LONG_PACKETS: u32 = 64;

impl<B: Policy, P: Predictor> Reserve<B, P> {
    /// With `share` of the buffer as the reserve, 0 to 1.
    pub fn new(spec: &SwitchSpec, base: B, model: Option<P>, share: f64) -> Self {
        let mut names = model.as_ref().map_or_else(Vec::new, |model| model.features().spelled());
        let models = names.len();
        let long = LONG.map(|name| {
            let found = names.iter().position(|of| of == name);
            found.unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        });
        let features = names.join(",").parse().expect("known features");
        let real = RealQueues::new(spec, features, spec.base_rtt_ns);
        let reserve_bytes = (share * f64::from(spec.buffer_bytes)) as u32;
        Reserve { base, model, real, models, long, reserve_bytes }
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
        let [burst, packets] = self.long.map(|place| features[place]);
        let features = &features[..self.models];
        burst > 0 && packets >= LONG_PACKETS
            || 3 * u64::from(free_bytes) < 2 * u64::from(self.reserve_bytes)
                && self
                    .model
                    .as_mut()
                    .is_some_and(|model| model.predicts_drop(Asked { packet, features }))
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

/// [`Reserve`] as settings describe it.
pub type AnyReserve = Reserve<Box<dyn Policy + Send>, Box<dyn Predictor + Send>>;

/// Parameters of [`Reserve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReserveParameters {
    /// The policy that decides otherwise.
    pub base: Box<PolicySpec>,
    /// Name of the file with the model, trained on labels of followers; only long messages are kept out if there is none.
    pub model: Option<String>,
    /// The share of the buffer that is reserved, 0 to 1; the model is asked about the last two thirds of it.
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
    pub fn policy<S: TimeModel + Clone + Send + 'static>(
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
        let model = match (model, &self.model) {
            (Some(PolicyModel::Predictor(model)), _) => Some(model),
            (None, None) => None,
            _ => return Err(BuildError::NoModel { policy: "reserve", expected: "drop oracle" }),
        };
        if model.as_ref().is_some_and(|model| !model.features().looks_at_flows()) {
            let problem =
                "has no feature of flows, expected a model of followers (docs/reserve.md)";
            return Err(BuildError::parameter("model", problem));
        }
        let base = self.base.build(PolicySite { spec, fit, service, victim, seed, model: None })?;
        Ok(Reserve::new(spec, base, model, self.share))
    }
}
