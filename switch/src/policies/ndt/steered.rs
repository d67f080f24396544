//! Dynamic Thresholds whose `alpha` somebody outside the switch sets.

use super::port_states::PortStates;
use crate::ndt_network::ATTRIBUTES;
use crate::{Buffer, Decision, DynamicThresholds, Packet, Policy};
use dropcast_data::SwitchSpec;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The hand on a [`Steered`] policy: reads the states of its ports and sets their `alpha`.
#[derive(Clone, Debug)]
pub struct Steering(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    ports: PortStates,
    /// Whether cumulative events ask for decisions.
    by_events: bool,
    is_due: bool,
}

impl Steering {
    /// That of a switch whose `alpha` are 1. Observations go `history` decisions back. With
    /// `by_events`, cumulative events ask for decisions; else its holder does.
    pub fn new(spec: &SwitchSpec, history: usize, by_events: bool) -> Self {
        let ports = PortStates::new(spec, history);
        Steering(Arc::new(Mutex::new(State { ports, by_events, is_due: false })))
    }

    /// The policy that it steers.
    pub fn policy(&self) -> Steered {
        Steered(self.clone())
    }

    /// Whether cumulative events have asked for a decision since the last one.
    pub fn is_due(&self) -> bool {
        self.state().is_due
    }

    /// Observes the ports now, without cumulative events.
    pub fn observe(&self, buffer: &Buffer, now: u64) {
        self.state().ports.observe(buffer, now);
    }

    /// Sets the `alpha` of each port, in order: the decision. Those of further ports remain.
    pub fn decide(&self, alphas: &[f64]) {
        let mut state = self.state();
        let ports = state.ports.ports();
        for (port, &alpha) in alphas.iter().enumerate().take(ports) {
            state.ports.set_alpha(port, alpha);
        }
        state.is_due = false;
    }

    /// Number of ports.
    pub fn ports(&self) -> usize {
        self.state().ports.ports()
    }

    /// What was observed for the decision that is due, and for those before ([`PortStates`]):
    /// [`ATTRIBUTES`] numbers per decision, port by port.
    pub fn observed(&self) -> Vec<i32> {
        let observed = self.state().ports.observed().to_vec();
        debug_assert!(observed.len().is_multiple_of(ATTRIBUTES));
        observed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps each queue of port `i` below `alpha_i * (B - Q)`, with the `alpha` of its [`Steering`].
#[derive(Clone, Debug)]
pub struct Steered(Steering);

impl Policy for Steered {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let alpha = self.0.state().ports.alpha_of(packet.queue);
        DynamicThresholds::decide_at(alpha, buffer, packet)
    }

    fn settled(&mut self, buffer: &Buffer, packet: &Packet, accepted: bool, now: u64) {
        let mut state = self.0.state();
        // A decision that waits is not asked for again.
        if state.ports.settled(packet, accepted) && state.by_events && !state.is_due {
            state.ports.observe(buffer, now);
            state.is_due = true;
        }
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, _: u64) {
        self.0.state().ports.departed(buffer, queue, size_bytes);
    }
}
