//! Longest Queue Drop, run virtually beside the real switch.

use crate::{Buffer, Fit, Lqd, Observer, Packet, Removal, Switch, TimeModel, Victim};
use dropcast_data::{Outcome, SwitchSpec};
use dropcast_features::{FeatureSet, History};

/// A switch that runs LQD, with the memory of features.
#[derive(Clone, Debug)]
pub struct VirtualLqd<S> {
    switch: Switch<Lqd, S>,
    features: FeatureSet,
    history: History,
}

impl<S: TimeModel> VirtualLqd<S> {
    /// An empty switch that records these features; their time constant is the base RTT.
    pub fn new(
        spec: &SwitchSpec,
        victim: Victim,
        fit: Fit,
        service: S,
        features: FeatureSet,
    ) -> Self {
        let mut switch = Switch::new(spec, fit, Lqd::new(victim), service);
        if features.looks_at_all_queues() {
            switch.keep_backlog();
        }
        VirtualLqd { switch, history: history(spec, &features, spec.base_rtt_ns), features }
    }

    /// The packets that LQD would hold now.
    pub fn buffer(&self) -> &Buffer {
        self.switch.buffer()
    }

    /// Its service, to pass it what was observed.
    pub fn service_mut(&mut self) -> &mut S {
        self.switch.service_mut()
    }

    /// Applies the departures up to and including `now`; calls `left` with the number and outcome
    /// of each packet.
    #[inline(always)]
    pub fn advance(&mut self, now: u64, left: impl FnMut(u64, Outcome)) {
        self.switch.advance(now, &mut Watch { history: &mut self.history, left });
    }

    /// Writes the features of a packet that arrives at `now`, once and before it is added, to the first of
    /// `values` and returns these.
    #[inline(always)]
    pub fn observe<'a>(&mut self, packet: &Packet, now: u64, values: &'a mut [u32]) -> &'a [u32] {
        self.history.flow_arrives(packet.flow_hash, now);
        self.features.observe(self.switch.buffer(), &self.history, packet.queue, values);
        &values[..self.features.len()]
    }

    /// A packet arrives at `now`; the queues must be advanced to `now`. Returns whether LQD accepts
    /// it; calls `left` for packets pushed out for it.
    #[inline(always)]
    pub fn admit(&mut self, packet: &Packet, now: u64, left: impl FnMut(u64, Outcome)) -> bool {
        let watch = &mut Watch { history: &mut self.history, left };
        let accepted = self.switch.admit(packet, now, watch);
        self.history.arrived(self.switch.buffer(), packet.queue, packet.size_bytes, now);
        accepted
    }
}

/// The memory of these features for an empty switch, with this time constant.
pub(crate) fn history(spec: &SwitchSpec, features: &FeatureSet, time_constant_ns: u64) -> History {
    let queues_per_port = usize::from(spec.queues_per_port);
    let line_rate_bps = (0..spec.queues()).map(|queue| spec.line_rate_bps[queue / queues_per_port]);
    features.history(line_rate_bps, time_constant_ns)
}

struct Watch<'a, F> {
    history: &'a mut History,
    left: F,
}

impl<F: FnMut(u64, Outcome)> Observer for Watch<'_, F> {
    #[inline(always)]
    fn removed(&mut self, removal: &Removal, buffer: &Buffer) {
        self.history.removed(buffer, removal.queue, removal.time);
        (self.left)(removal.packet.id, removal.outcome);
    }
}
