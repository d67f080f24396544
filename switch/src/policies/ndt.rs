//! Neural Dynamic Threshold (Wang et al., "Learning Buffer Management Policies for Shared Memory
//! Switches", INFOCOM 2022): Dynamic Thresholds whose `alpha` a network sets for each port.

pub(crate) mod network;

use super::dynamic_thresholds::{decide_below, free_bytes};
use crate::{Buffer, BuildError, Decision, Packet, Policy, PolicyModel, PolicySite};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
pub use network::{
    ACTIONS, ATTRIBUTES, Activations, Network, NetworkError, NetworkShape, ONE, WEIGHT_ONE,
};
use serde::{Deserialize, Serialize};

/// `alpha` of the action with the lowest number: 2^-2 (section V-A).
const LOWEST_ALPHA: f64 = 0.25;

/// Keeps each queue of port `i` below `alpha_i * (B - Q)` (equation 1), where a [`Network`]
/// occasionally decides on the `alpha_i` of all ports, powers of two from 1/4 to 32.
///
/// It decides as soon as for some port (section IV-B, equation 5)
///
/// ```text
/// v_ex = v_eq + v_dp - v_dq >= beta = B/N       bytes added, dropped and departed
/// ```
///
/// `v_ex` never falls below 0, and starts from 0 at each decision, for all ports. As a safeguard it
/// also decides when a port has dropped `gamma = beta` since the last decision, but only once until
/// a port exceeds `beta` again.
///
/// The network's inputs for a port (section III) are in units of 1/[`ONE`], from 0 to 8 [`ONE`]:
/// 1. bytes it holds, as a share of the buffer;
/// 2. bytes added since the last decision, as a share of the buffer;
/// 3. bytes dropped since then, as a share of the buffer;
/// 4. its last action, 0 to 7, as a share of 8;
/// 5. the time since then, as a share of the slowest port's time to transmit B/N;
///
/// at this decision and at those before ([`NetworkShape::history`]), this one first. Before the
/// first decision they are 0, and so are past actions, and `alpha` is 1.
#[derive(Clone, Debug)]
pub struct Ndt {
    network: Network,
    activations: Activations,
    buffer_bytes: u64,
    queues_per_port: usize,
    trigger_bytes: u64,
    fair_drain_ns: u64,
    ports: Vec<Port>,
    /// The network's inputs: for each port in turn, [`ATTRIBUTES`] numbers per decision.
    observed: Vec<i32>,
    decided_ns: u64,
    decisions: u64,
    /// Whether the safeguard made a decision since the last regular one.
    safeguard_used: bool,
}

#[derive(Clone, Copy, Debug)]
struct Port {
    alpha: f64,
    action: u8,
    added_bytes: u64,
    dropped_bytes: u64,
    excess_bytes: u64,
}

impl Ndt {
    /// The policy of a switch.
    pub fn new(spec: &SwitchSpec, network: Network) -> Self {
        let ports = spec.ports();
        let port =
            Port { alpha: 1.0, action: 0, added_bytes: 0, dropped_bytes: 0, excess_bytes: 0 };
        Ndt {
            activations: Activations::new(network.shape(), ports),
            observed: vec![0; ports * network.shape().inputs()],
            network,
            buffer_bytes: u64::from(spec.buffer_bytes),
            queues_per_port: usize::from(spec.queues_per_port),
            trigger_bytes: (u64::from(spec.buffer_bytes) / ports as u64).max(1),
            fair_drain_ns: (spec.drain_ns() / ports as u64).max(1),
            ports: vec![port; ports],
            decided_ns: 0,
            decisions: 0,
            safeguard_used: false,
        }
    }

    /// The current `alpha` of a port.
    pub fn alpha(&self, port: usize) -> f64 {
        self.ports[port].alpha
    }

    /// Number of the network's decisions.
    pub fn decisions(&self) -> u64 {
        self.decisions
    }

    /// The network's inputs at its last decision: [`NetworkShape::inputs`] numbers per port.
    pub fn observed(&self) -> &[i32] {
        &self.observed
    }

    fn port(&self, queue: usize) -> usize {
        queue / self.queues_per_port
    }

    fn decide_alphas(&mut self, buffer: &Buffer, now: u64) {
        self.observe(buffer, now);
        let actions = self.network.act(&self.observed, &mut self.activations);
        for (port, &action) in self.ports.iter_mut().zip(actions) {
            let alpha = LOWEST_ALPHA * f64::from(1_u32 << action);
            *port = Port { alpha, action, added_bytes: 0, dropped_bytes: 0, excess_bytes: 0 };
        }
        self.decided_ns = now;
        self.decisions += 1;
    }

    /// Prepends the current observation to the earlier ones.
    fn observe(&mut self, buffer: &Buffer, now: u64) {
        let inputs = self.network.shape().inputs();
        let elapsed = scaled(now - self.decided_ns.min(now), self.fair_drain_ns);
        let part = |bytes| scaled(bytes, self.buffer_bytes);
        for (index, port) in self.ports.iter().enumerate() {
            let queues = index * self.queues_per_port..(index + 1) * self.queues_per_port;
            let held = buffer.shared_lengths()[queues].iter().map(|&bytes| u64::from(bytes)).sum();
            let seen = &mut self.observed[index * inputs..(index + 1) * inputs];
            seen.copy_within(..inputs - ATTRIBUTES, ATTRIBUTES);
            seen[..ATTRIBUTES].copy_from_slice(&[
                part(held),
                part(port.added_bytes),
                part(port.dropped_bytes),
                i32::from(port.action) * ONE / i32::from(ACTIONS),
                elapsed,
            ]);
        }
    }
}

/// `value / unit` in units of 1/[`ONE`], 8 at most.
fn scaled(value: u64, unit: u64) -> i32 {
    let most = unit.saturating_mul(8);
    let scaled = u128::from(value.min(most)) * ONE as u128 / u128::from(unit);
    // 8 * ONE at most.
    scaled as i32
}

impl Policy for Ndt {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let alpha = self.ports[self.port(packet.queue)].alpha;
        decide_below(buffer, packet, alpha * free_bytes(buffer))
    }

    fn settled(&mut self, buffer: &Buffer, packet: &Packet, accepted: bool, now: u64) {
        let index = self.port(packet.queue);
        let port = &mut self.ports[index];
        let size_bytes = u64::from(packet.size_bytes);
        port.excess_bytes += size_bytes;
        if accepted {
            port.added_bytes += size_bytes;
        } else {
            port.dropped_bytes += size_bytes;
        }
        if port.excess_bytes >= self.trigger_bytes {
            self.safeguard_used = false;
            self.decide_alphas(buffer, now);
        } else if port.dropped_bytes >= self.trigger_bytes && !self.safeguard_used {
            self.safeguard_used = true;
            self.decide_alphas(buffer, now);
        }
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, _: u64) {
        if buffer.shares(queue) {
            let index = self.port(queue);
            let port = &mut self.ports[index];
            port.excess_bytes = port.excess_bytes.saturating_sub(u64::from(size_bytes));
        }
    }
}

/// Parameters of [`Ndt`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NdtParameters {
    /// Name of the file with the network.
    pub model: Option<String>,
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
