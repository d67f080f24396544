//! Credence, the drop-tail policy with predictions (Credence, Algorithm 1).

use super::follow_lqd::situation;
use crate::{Buffer, Decision, Fit, Packet, Policy, Service, Victim, VirtualLqd};
use dropcast_data::SwitchSpec;
use dropcast_features::FeatureSet;
use dropcast_oracle::DropOracle;

/// What a predictor is asked: a packet, and the features of its arrival.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// Its features at the virtual LQD before it was added, in the order of the predictor's set.
    pub features: &'a [u32],
}

/// Predicts which packets LQD would drop. Asked only about packets whose fate depends on it.
pub trait Predictor {
    /// The features it wants to see.
    fn features(&self) -> FeatureSet;

    /// Whether LQD is predicted to drop the packet.
    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool;
}

/// Predictions made beforehand, one per packet number.
#[derive(Clone, Debug, Default)]
pub struct Recorded<F>(
    /// Whether packet number `id` is predicted to be dropped.
    pub F,
);

impl<F: FnMut(u64) -> bool> Predictor for Recorded<F> {
    fn features(&self) -> FeatureSet {
        FeatureSet::none()
    }

    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool {
        (self.0)(asked.packet.id)
    }
}

/// An oracle that is asked as packets arrive.
#[derive(Clone, Debug)]
pub struct Live<O> {
    /// The features the oracle was trained with, in its order.
    pub features: FeatureSet,
    /// The oracle.
    pub oracle: O,
}

impl<O: DropOracle> Predictor for Live<O> {
    fn features(&self) -> FeatureSet {
        self.features.clone()
    }

    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool {
        self.oracle.predicts_drop(asked.features)
    }
}

/// FollowLQD's thresholds, a prediction for each packet below them, and a safeguard: while the
/// longest queue is below `B/N`, every packet that fits is accepted.
///
/// `N` is the number of ports. The paper's model has one queue per port and unit packets, where
/// a longest queue below `B/N` implies that the packet fits; elsewhere that is checked.
#[derive(Clone, Debug)]
pub struct Credence<S, P> {
    lqd: VirtualLqd<S>,
    predictor: P,
    values: Vec<u32>,
}

impl<S: Service, P: Predictor> Credence<S, P> {
    /// Credence for a switch; `service` serves the virtual queues and must be of the switch's own
    /// time model.
    pub fn new(spec: &SwitchSpec, victim: Victim, fit: Fit, service: S, predictor: P) -> Self {
        let features = predictor.features();
        Credence {
            values: vec![0; features.len()],
            lqd: VirtualLqd::new(spec, victim, fit, service, features),
            predictor,
        }
    }

    /// Thresholds by queue, bytes.
    pub fn thresholds(&self) -> &[u32] {
        self.lqd.buffer().lengths()
    }
}

impl<S: Service, P: Predictor> Policy for Credence<S, P> {
    fn advance(&mut self, now: u64) {
        self.lqd.advance(now, |_, _| {});
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.lqd.observe(packet.queue, &mut self.values);
        self.lqd.admit(packet, now, |_, _| {});
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let asked = Asked { packet, features: &self.values };
        let verdict = situation(buffer, self.lqd.buffer().lengths(), packet)
            .decide(|| self.predictor.predicts_drop(asked));
        if verdict.accepts() { Decision::Accept } else { Decision::Reject }
    }
}
