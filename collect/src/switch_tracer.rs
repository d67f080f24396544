//! Virtual LQD at one switch.

use crate::waiting::{Row, Waiting, half};
use dropcast_data::{
    CollectSettings, Departures, DropReason, Event, EventKind, Outcome, SwitchSpec,
};
use dropcast_features::{Feature, FeatureSet};
use dropcast_switch::{Fit, LineRate, Observed, Packet, VirtualLqd};

/// One switch's virtual queues, with one of the two ways to drain them.
#[derive(Debug)]
pub(crate) struct SwitchTracer {
    spec: SwitchSpec,
    queues: Queues,
}

#[derive(Debug)]
enum Queues {
    Observed(Box<VirtualLqd<Observed>>),
    LineRate(Box<VirtualLqd<LineRate>>),
}

impl SwitchTracer {
    pub(crate) fn new(spec: SwitchSpec, settings: CollectSettings, features: FeatureSet) -> Self {
        let fit = if settings.strict_fit { Fit::Strict } else { Fit::Exact };
        let victim = settings.victim;
        let queues = match settings.departures {
            Departures::Observed => {
                let service = Observed::new(spec.queues());
                Queues::Observed(Box::new(VirtualLqd::new(&spec, victim, fit, service, features)))
            }
            Departures::LineRate => {
                let service = LineRate::new(&spec);
                Queues::LineRate(Box::new(VirtualLqd::new(&spec, victim, fit, service, features)))
            }
        };
        SwitchTracer { spec, queues }
    }

    pub(crate) fn has_queue(&self, event: &Event) -> bool {
        usize::from(event.port) < self.spec.ports() && event.queue < self.spec.queues_per_port
    }

    /// Processes an event of this switch, for an existing queue. Returns whether its packet is known;
    /// that which a push-out is about may not be.
    pub(crate) fn event(&mut self, event: &Event, waiting: &mut Waiting) -> bool {
        let queue = self.spec.queue_index(event.port, event.queue);
        match (event.kind, &mut self.queues) {
            (EventKind::Drop(DropReason::PushOut), _) => return waiting.push_out(event),
            (EventKind::Arrival | EventKind::Drop(_), Queues::Observed(lqd)) => {
                arrival(lqd, event, queue, waiting);
            }
            (EventKind::Arrival | EventKind::Drop(_), Queues::LineRate(lqd)) => {
                lqd.advance(event.time_ns, |row, outcome| waiting.resolve(row, outcome));
                arrival(lqd, event, queue, waiting);
            }
            (EventKind::Departure, Queues::Observed(lqd)) => {
                lqd.service_mut().departed(queue, event.size_bytes, event.time_ns);
                lqd.advance(event.time_ns, |row, outcome| waiting.resolve(row, outcome));
            }
            (EventKind::Departure, Queues::LineRate(_)) => {}
        }
        true
    }

    /// Serves the queues up to `now_ns`, if they drain at line rate.
    pub(crate) fn advance(&mut self, now_ns: u64, waiting: &mut Waiting) {
        if let Queues::LineRate(lqd) = &mut self.queues {
            lqd.advance(now_ns, |row, outcome| waiting.resolve(row, outcome));
        }
    }

    /// Ends the input: every packet still held is transmitted.
    pub(crate) fn drain(&self, waiting: &mut Waiting) {
        let buffer = match &self.queues {
            Queues::Observed(lqd) => lqd.buffer(),
            Queues::LineRate(lqd) => lqd.buffer(),
        };
        for packet in buffer.packets() {
            waiting.resolve(packet.id, Outcome::Departed);
        }
    }
}

/// Records the features of an arriving packet, then passes it to LQD.
fn arrival<S: dropcast_switch::Service>(
    lqd: &mut VirtualLqd<S>,
    event: &Event,
    queue: usize,
    waiting: &mut Waiting,
) {
    let mut values = [0; Feature::ALL.len()];
    lqd.observe(queue, &mut values);
    let packet = Packet::new(waiting.next_number(), queue, event.size_bytes);
    waiting.push(Row {
        time_ns: event.time_ns,
        size_bytes: event.size_bytes,
        switch_id: event.switch_id,
        port: event.port,
        queue: event.queue,
        real_drop: match event.kind {
            EventKind::Drop(reason) => Some(reason),
            EventKind::Arrival | EventKind::Departure => None,
        },
        flow: half(event.flow_hash),
        values,
    });
    let accepted = lqd.admit(&packet, event.time_ns, |row, outcome| waiting.resolve(row, outcome));
    if !accepted {
        waiting.resolve(packet.id, Outcome::Rejected);
    }
}
