//! Longest Queue Drop, run beside whatever the real switch does.

use crate::{Buffer, Fit, Lqd, Observer, Packet, Removal, Service, Switch, Victim};
use dropcast_data::{Outcome, SwitchSpec};
use dropcast_features::{Averages, FeatureSet};

/// A switch that runs LQD, with the moving averages that features need.
#[derive(Clone, Debug)]
pub struct VirtualLqd<S> {
    switch: Switch<Lqd, S>,
    averages: Averages,
}

impl<S: Service> VirtualLqd<S> {
    /// An empty switch; averages have the base RTT as time constant.
    pub fn new(spec: &SwitchSpec, victim: Victim, fit: Fit, service: S) -> Self {
        VirtualLqd {
            switch: Switch::new(spec, fit, Lqd::new(victim), service),
            averages: Averages::new(spec.queues(), spec.base_rtt_ns),
        }
    }

    /// The packets LQD would hold now.
    pub fn buffer(&self) -> &Buffer {
        self.switch.buffer()
    }

    /// Its service, to tell it what was observed.
    pub fn service_mut(&mut self) -> &mut S {
        self.switch.service_mut()
    }

    /// Applies the departures up to and including `now`; `left` is told the number and outcome of
    /// each packet.
    pub fn advance(&mut self, now: u64, left: impl FnMut(u64, Outcome)) {
        self.switch.advance(now, &mut Watch { averages: &mut self.averages, left });
    }

    /// The features of a packet that arrives now for `queue`, before it is added.
    pub fn observe(&self, set: &FeatureSet, queue: usize, values: &mut [u32]) {
        set.observe(self.switch.buffer(), &self.averages, queue, values);
    }

    /// A packet arrives at `now`, up to which the queues were advanced. Returns whether LQD
    /// accepts it; `left` is told of packets that are pushed out for it.
    pub fn admit(&mut self, packet: &Packet, now: u64, left: impl FnMut(u64, Outcome)) -> bool {
        self.switch.admit(packet, now, &mut Watch { averages: &mut self.averages, left })
    }
}

struct Watch<'a, F> {
    averages: &'a mut Averages,
    left: F,
}

impl<F: FnMut(u64, Outcome)> Observer for Watch<'_, F> {
    fn removed(&mut self, removal: &Removal, buffer: &Buffer) {
        use dropcast_features::BufferView;
        let queue = removal.queue;
        let (queue_bytes, occupancy) = (buffer.queue_bytes(queue), buffer.occupancy_bytes());
        self.averages.removed(queue, queue_bytes, occupancy, removal.time);
        (self.left)(removal.packet.id, removal.outcome);
    }
}
