//! Neural Dynamic Threshold (Wang et al., "Learning Buffer Management Policies for Shared Memory
//! Switches", INFOCOM 2022): Dynamic Thresholds whose `alpha` a network sets for each port.

mod port_states;
mod steered;

use super::dynamic_thresholds::DynamicThresholds;
use crate::about::{About, PolicyParameters, Sees};
pub use crate::ndt_network::{
    ACTIONS, ATTRIBUTES, Activations, NdtNetwork, NetworkError, NetworkShape, ONE, WEIGHT_ONE,
};
use crate::{Buffer, BuildError, Decision, ModelKind, Packet, Policy, PolicyModel, PolicySite};
use dropcast_data::SwitchSpec;
pub use port_states::PortStates;
use serde::{Deserialize, Serialize};
pub use steered::{Steered, Steering};

/// `alpha` of the action with the lowest number: 2^-2 (section V-A).
const LOWEST_ALPHA: f64 = 0.25;

/// Keeps each queue of port `i` below `alpha_i * (B - Q)` (equation 1), where a [`NdtNetwork`]
/// occasionally decides on the `alpha_i` of all ports, powers of two from 1/4 to 32.
///
/// When it decides and on which inputs: [`PortStates`]. `alpha` is 1 until the first decision.
#[derive(Clone, Debug)]
pub struct Ndt {
    network: NdtNetwork,
    activations: Activations,
    ports: PortStates,
    decisions: u64,
}

impl Ndt {
    /// The policy of a switch.
    pub fn new(spec: &SwitchSpec, network: NdtNetwork) -> Self {
        Ndt {
            activations: Activations::new(network.shape(), spec.ports()),
            ports: PortStates::new(spec, network.shape().history),
            network,
            decisions: 0,
        }
    }

    /// The current `alpha` of a port.
    pub fn alpha(&self, port: usize) -> f64 {
        self.ports.alpha(port)
    }

    /// Number of the network's decisions.
    pub fn decisions(&self) -> u64 {
        self.decisions
    }

    /// The network's inputs at its last decision: [`NetworkShape::inputs`] numbers per port.
    pub fn observed(&self) -> &[i32] {
        self.ports.observed()
    }
}

impl Policy for Ndt {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        DynamicThresholds::decide_at(self.ports.alpha_of(packet.queue), buffer, packet)
    }

    fn settled(&mut self, buffer: &Buffer, packet: &Packet, accepted: bool, now: u64) {
        if !self.ports.settled(packet, accepted) {
            return;
        }
        self.ports.observe(buffer, now);
        let actions = self.network.act(self.ports.observed(), &mut self.activations);
        for (port, &action) in actions.iter().enumerate() {
            self.ports.set_alpha(port, LOWEST_ALPHA * f64::from(1_u32 << action));
        }
        self.decisions += 1;
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, _: u64) {
        self.ports.departed(buffer, queue, size_bytes);
    }
}

/// Parameters of [`Ndt`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NdtParameters {
    /// Name of the file with the network.
    pub model: Option<String>,
}

impl PolicyParameters for NdtParameters {
    fn about(&self) -> About<'_> {
        let title = "NDT";
        let model = Some((ModelKind::Network, &self.model));
        About { title, pushes_out: false, sees: Sees::Queues, model, base: None }
    }

    fn model_mut(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.model)
    }
}

impl NdtParameters {
    /// The policy of a switch, with the network that `model` names.
    ///
    /// # Errors
    /// If there is none.
    pub fn policy<S>(&self, site: PolicySite<'_, S>) -> Result<Ndt, BuildError> {
        match site.model {
            Some(PolicyModel::Network(network)) => Ok(Ndt::new(site.spec, network)),
            _ => Err(BuildError::NoModel { policy: "ndt", expected: "network" }),
        }
    }
}
