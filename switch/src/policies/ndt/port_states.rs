//! What NDT observes of ports, and when it decides.

use crate::ndt_network::{ACTIONS, ATTRIBUTES, ONE};
use crate::{Buffer, Packet};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;

/// The states of a switch's ports (NDT, section III), and the cumulative events that ask for a
/// decision (section IV-B, equation 5):
///
/// ```text
/// v_ex = v_eq + v_dp - v_dq >= beta = B/N       bytes added, dropped and departed
/// ```
///
/// for some port. `v_ex` never falls below 0, and starts from 0 at each decision, for all ports. As a
/// safeguard a decision is also due when a port has dropped `gamma = beta` since the last one, but
/// only once until a port exceeds `beta` again.
///
/// A port is observed as [`ATTRIBUTES`] numbers in units of 1/[`ONE`], from 0 to 8 [`ONE`]:
/// 1. bytes it holds, as a share of the buffer;
/// 2. bytes added since the last decision, as a share of the buffer;
/// 3. bytes dropped since then, as a share of the buffer;
/// 4. its `alpha` as `(log2(alpha) + 2) / 8`: the number of NDT's action, 0 to 7, as a share of 8;
/// 5. the time since then, as a share of the slowest port's time to transmit B/N;
///
/// at this decision and at those before, this one first. Before the first decision all are 0.
#[derive(Clone, Debug)]
pub struct PortStates {
    history: usize,
    buffer_bytes: u64,
    queues_per_port: usize,
    trigger_bytes: u64,
    fair_drain_ns: u64,
    ports: Vec<Port>,
    /// For each port in turn, [`ATTRIBUTES`] numbers per decision.
    observed: Vec<i32>,
    decided_ns: u64,
    /// Whether the safeguard asked for a decision since the last regular one.
    safeguard_used: bool,
}

#[derive(Clone, Copy, Debug)]
struct Port {
    alpha: f64,
    added_bytes: u64,
    dropped_bytes: u64,
    excess_bytes: u64,
}

impl PortStates {
    /// Those of an empty switch whose `alpha` are 1; `history` decisions are remembered, at least 1.
    pub fn new(spec: &SwitchSpec, history: usize) -> Self {
        let ports = spec.ports();
        let port = Port { alpha: 1.0, added_bytes: 0, dropped_bytes: 0, excess_bytes: 0 };
        PortStates {
            history,
            buffer_bytes: u64::from(spec.buffer_bytes),
            queues_per_port: usize::from(spec.queues_per_port),
            trigger_bytes: (u64::from(spec.buffer_bytes) / ports as u64).max(1),
            fair_drain_ns: (spec.drain_ns() / ports as u64).max(1),
            ports: vec![port; ports],
            observed: vec![0; ports * ATTRIBUTES * history],
            decided_ns: 0,
            safeguard_used: false,
        }
    }

    /// Number of ports.
    pub fn ports(&self) -> usize {
        self.ports.len()
    }

    /// The current `alpha` of a port.
    pub fn alpha(&self, port: usize) -> f64 {
        self.ports[port].alpha
    }

    /// The current `alpha` of a queue's port.
    pub fn alpha_of(&self, queue: usize) -> f64 {
        self.alpha(queue / self.queues_per_port)
    }

    /// Sets the `alpha` of a port.
    pub(crate) fn set_alpha(&mut self, port: usize, alpha: f64) {
        self.ports[port].alpha = alpha;
    }

    /// The last observation and those before: [`ATTRIBUTES`] numbers per decision, port by port.
    pub fn observed(&self) -> &[i32] {
        &self.observed
    }

    /// A packet was added or dropped; returns whether a decision is due.
    pub fn settled(&mut self, packet: &Packet, accepted: bool) -> bool {
        let port = &mut self.ports[packet.queue / self.queues_per_port];
        let size_bytes = u64::from(packet.size_bytes);
        port.excess_bytes += size_bytes;
        if accepted {
            port.added_bytes += size_bytes;
        } else {
            port.dropped_bytes += size_bytes;
        }
        let is_regular = port.excess_bytes >= self.trigger_bytes;
        let is_safeguard = port.dropped_bytes >= self.trigger_bytes && !self.safeguard_used;
        if is_regular || is_safeguard {
            self.safeguard_used = !is_regular;
        }
        is_regular || is_safeguard
    }

    /// A packet left a queue.
    pub fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32) {
        if buffer.shares(queue) {
            let port = &mut self.ports[queue / self.queues_per_port];
            port.excess_bytes = port.excess_bytes.saturating_sub(u64::from(size_bytes));
        }
    }

    /// Observes the ports for a decision now, and counts from 0 again.
    pub fn observe(&mut self, buffer: &Buffer, now: u64) {
        let numbers = ATTRIBUTES * self.history;
        let elapsed = scaled(now - self.decided_ns.min(now), self.fair_drain_ns);
        let part = |bytes| scaled(bytes, self.buffer_bytes);
        for (index, port) in self.ports.iter_mut().enumerate() {
            let queues = index * self.queues_per_port..(index + 1) * self.queues_per_port;
            let held = buffer.shared_lengths()[queues].iter().map(|&bytes| u64::from(bytes)).sum();
            let seen = &mut self.observed[index * numbers..(index + 1) * numbers];
            seen.copy_within(..numbers - ATTRIBUTES, ATTRIBUTES);
            seen[..ATTRIBUTES].copy_from_slice(&[
                part(held),
                part(port.added_bytes),
                part(port.dropped_bytes),
                observed_alpha(port.alpha),
                elapsed,
            ]);
            *port = Port { added_bytes: 0, dropped_bytes: 0, excess_bytes: 0, ..*port };
        }
        self.decided_ns = now;
    }
}

/// `(log2(alpha) + 2) / 8` in units of 1/[`ONE`], from 0 to 8.
fn observed_alpha(alpha: f64) -> i32 {
    let units = (alpha.log2() + 2.0) * f64::from(ONE / i32::from(ACTIONS));
    units.round().clamp(0.0, f64::from(8 * ONE)) as i32
}

/// `value / unit` in units of 1/[`ONE`], 8 at most.
fn scaled(value: u64, unit: u64) -> i32 {
    let most = unit.saturating_mul(8);
    let scaled = u128::from(value.min(most)) * ONE as u128 / u128::from(unit);
    // 8 * ONE at most.
    scaled as i32
}
