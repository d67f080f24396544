//! Early drops in bursts, so that senders are in recovery when their tails are dropped (`docs/policies.md`).

mod bursts;

use super::oracle::drain_time_ns;
use crate::about::{About, PolicyParameters, Sees};
use crate::{
    Alphas, Buffer, BuildError, Decision, Packet, Policy, PolicySite, PolicySpec, Service,
};
use bursts::{Arriving, BurstParameters, EarlyDrops, MOST_BURST_FLOWS};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use serde::{Deserialize, Serialize};

/// Drops some packets of bursts that another policy accepts.
#[derive(Clone, Debug)]
pub struct SpareTails<B> {
    base: B,
    early: EarlyDrops,
}

impl<B: Policy> Policy for SpareTails<B> {
    fn advance(&mut self, now: u64) {
        self.base.advance(now);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.base.arrives(packet, now);
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        let decision = self.base.decide(buffer, packet, now);
        let arriving = Arriving {
            flow_hash: packet.flow_hash,
            queue: packet.queue,
            size_bytes: packet.size_bytes,
            queue_bytes: buffer.shared_lengths()[packet.queue],
            occupancy_bytes: buffer.occupancy_bytes(),
        };
        let base_accepts = decision == Decision::Accept;
        if self.early.accepts(&arriving, base_accepts, now) == base_accepts {
            decision
        } else {
            Decision::Reject
        }
    }

    fn settled(&mut self, buffer: &Buffer, packet: &Packet, accepted: bool, now: u64) {
        self.base.settled(buffer, packet, accepted, now);
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        self.base.departed(buffer, queue, size_bytes, time);
    }
}

/// [`SpareTails`] as settings describe it.
pub type AnySpareTails = SpareTails<Box<dyn Policy + Send>>;

/// Parameters of [`SpareTails`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpareTailsParameters {
    /// The policy that decides otherwise.
    pub base: Box<PolicySpec>,
    /// So many new flows of a queue within the window are a burst: 1 to 8.
    pub burst_flows: usize,
    /// The window, ns; four times [`drain_time_ns`] if not given.
    pub window_ns: Option<u32>,
    /// The share of the buffer, 0 to 1, that must be held.
    pub least_held: f64,
    /// A flow is new after a silence longer than this, ns. Longer than a timeout, or a repeated packet is a flow's first.
    pub silence_ns: u32,
    /// Slots of the flow table; a power of two.
    pub flows: usize,
}

impl Default for SpareTailsParameters {
    fn default() -> Self {
        let alpha = Alphas::try_from(8.0).expect("8 is positive");
        SpareTailsParameters {
            base: Box::new(PolicySpec::dt(alpha)),
            burst_flows: 4,
            window_ns: None,
            least_held: 0.25,
            silence_ns: 100_000_000,
            flows: 1 << 16,
        }
    }
}

impl PolicyParameters for SpareTailsParameters {
    fn about(&self) -> About<'_> {
        let title = "Spare Tails";
        About { title, pushes_out: false, sees: Sees::Flows, model: None, base: Some(&self.base) }
    }
}

impl SpareTailsParameters {
    /// The policy of a switch.
    ///
    /// # Errors
    /// If the base cannot be built, pushes packets out or has a model, or a parameter is out of range.
    pub fn policy<S: Service + Clone + Send + 'static>(
        &self,
        site: PolicySite<'_, S>,
    ) -> Result<AnySpareTails, BuildError> {
        self.base.check_drop_tail_base()?;
        if self.base.model().is_some() {
            let why = "has a model, expected a policy without one";
            return Err(BuildError::parameter("base", format!("{} {why}", self.base.name())));
        }
        let parameters = self.at(site.spec)?;
        let early = EarlyDrops::new(parameters, site.spec.queues(), self.flows)?;
        Ok(SpareTails { early, base: self.base.build(site)? })
    }

    /// The parameters at a switch.
    fn at(&self, spec: &SwitchSpec) -> Result<BurstParameters, BuildError> {
        if !(1..=MOST_BURST_FLOWS).contains(&self.burst_flows) {
            let problem = format!("is {}, expected 1 to {MOST_BURST_FLOWS}", self.burst_flows);
            return Err(BuildError::parameter("burst_flows", problem));
        }
        if !(0.0..=1.0).contains(&self.least_held) {
            let problem = format!("is {}, expected 0 to 1", self.least_held);
            return Err(BuildError::parameter("least_held", problem));
        }
        if self.window_ns == Some(0) {
            return Err(BuildError::parameter("window_ns", "is 0, expected at least 1".to_owned()));
        }
        let default_ns = drain_time_ns(spec).saturating_mul(4).min(u32::MAX.into());
        Ok(BurstParameters {
            buffer_bytes: spec.buffer_bytes,
            ports: spec.ports(),
            window_ns: self.window_ns.map_or(default_ns, u64::from),
            burst_flows: self.burst_flows,
            silence_ns: self.silence_ns.into(),
            least_held_bytes: (self.least_held * f64::from(spec.buffer_bytes)) as u32,
        })
    }
}
