//! FollowLQD, run virtually on the packets that are predicted to be accepted.

use crate::{
    Asked, FollowLqd, NoObserver, Packet, PolicySite, Predictor, Switch, TimeModel, VirtualLqd,
};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;

/// The FollowLQD whose throughput is the denominator of eta (Credence, Definition 1), and the predictor
/// that leaves packets out of it. A prediction is asked for every packet, with the features of LQD on all
/// packets.
#[derive(Clone, Debug)]
pub(crate) struct PredictedFollowLqd<S, P> {
    /// LQD on all packets, the source of the predictor's features.
    lqd: VirtualLqd<S>,
    follow: Switch<FollowLqd<S>, S>,
    predictor: P,
    values: Vec<u32>,
}

impl<S: TimeModel + Clone, P: Predictor> PredictedFollowLqd<S, P> {
    /// At a site whose features are those of the whole buffer; FollowLQD has `buffer_bytes`.
    pub(crate) fn new(site: &PolicySite<'_>, buffer_bytes: u32, service: S, predictor: P) -> Self {
        let &PolicySite { spec, fit, victim, .. } = site;
        let features = predictor.features();
        let own = SwitchSpec { buffer_bytes, ..spec.clone() };
        let follow = FollowLqd::new(&own, victim, fit, service.clone());
        PredictedFollowLqd {
            values: vec![0; features.len()],
            lqd: VirtualLqd::new(spec, victim, fit, service.clone(), features),
            follow: Switch::new(&own, fit, follow, service),
            predictor,
        }
    }
}

impl<S: TimeModel, P: Predictor> PredictedFollowLqd<S, P> {
    pub(crate) fn advance(&mut self, now: u64) {
        self.lqd.advance(now, |_, _| {});
        self.follow.advance(now, &mut NoObserver);
    }

    pub(crate) fn arrives(&mut self, packet: &Packet, now: u64) {
        self.lqd.observe(packet, now, &mut self.values);
        self.lqd.admit(packet, now, |_, _| {});
        let shares = self.lqd.buffer().shares(packet.queue);
        if !shares || !self.predictor.predicts_drop(Asked { packet, features: &self.values }) {
            self.follow.admit(packet, now, &mut NoObserver);
        }
    }
}

impl<S: TimeModel, P> PredictedFollowLqd<S, P> {
    /// What each of its queues has in the shared buffer, bytes.
    pub(crate) fn lengths(&self) -> &[u32] {
        self.follow.buffer().shared_lengths()
    }
}
