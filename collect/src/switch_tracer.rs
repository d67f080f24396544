//! Virtual LQD at one switch.

use crate::waiting::Waiting;
use dropcast_data::{
    CollectSettings, Departures, DropReason, Event, EventKind, Outcome, Pause, PauseChange,
    SwitchSpec,
};
use dropcast_features::FeatureSet;
use dropcast_switch::{Fit, LineRate, Observed, Packet, VirtualLqd};
use std::collections::BTreeMap;

/// One switch's virtual queues, with one of the two ways to drain them.
#[derive(Debug)]
pub(crate) struct SwitchTracer {
    spec: SwitchSpec,
    queues: Queues,
    /// Paused queues, and since when.
    paused_since: BTreeMap<usize, u64>,
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
        SwitchTracer { spec, queues, paused_since: BTreeMap::new() }
    }

    pub(crate) fn has_queue(&self, event: &Event) -> bool {
        usize::from(event.port) < self.spec.ports() && event.queue < self.spec.queues_per_port
    }

    /// Processes an event of this switch, for an existing queue. Returns whether its packet is known;
    /// that which a push-out is about may not be.
    #[inline(always)]
    pub(crate) fn event(&mut self, event: &Event, own: &[u32], waiting: &mut Waiting) -> bool {
        let queue = self.spec.queue_index(event.port, event.queue);
        match (event.kind, &mut self.queues) {
            (EventKind::Drop(DropReason::PushOut), _) => return waiting.push_out(event),
            (EventKind::Arrival | EventKind::Drop(_), Queues::Observed(lqd)) => {
                arrival(lqd, event, own, queue, waiting);
            }
            (EventKind::Arrival | EventKind::Drop(_), Queues::LineRate(lqd)) => {
                lqd.advance(event.time_ns, |row, outcome| waiting.resolve(row, outcome));
                arrival(lqd, event, own, queue, waiting);
            }
            (EventKind::Departure, Queues::Observed(lqd)) => {
                lqd.service_mut().departed(queue, event.size_bytes, event.time_ns);
                lqd.advance(event.time_ns, |row, outcome| waiting.resolve(row, outcome));
            }
            (EventKind::Departure, Queues::LineRate(_)) => {}
            (EventKind::Pause | EventKind::Resume, _) => {
                unreachable!("the tracer passes pauses to pause()")
            }
        }
        true
    }

    /// Begins or ends a pause. Returns the pause that ends.
    pub(crate) fn pause(&mut self, event: &Event) -> Option<Pause> {
        let queue = self.spec.queue_index(event.port, event.queue);
        let is_paused = event.kind == EventKind::Pause;
        if is_paused == self.paused_since.contains_key(&queue) {
            return None;
        }
        // What begins in this very nanosecond may have begun already.
        let time_ns = event.time_ns.saturating_add(1);
        if let Queues::LineRate(lqd) = &mut self.queues {
            lqd.service_mut().will_change(PauseChange { time_ns, queue, is_paused });
        }
        if is_paused {
            self.paused_since.insert(queue, time_ns);
            return None;
        }
        let from_ns = self.paused_since.remove(&queue)?;
        let pause = Pause {
            from_ns,
            until_ns: time_ns,
            switch_id: event.switch_id,
            port: event.port,
            queue: event.queue,
        };
        (from_ns < time_ns).then_some(pause)
    }

    /// The pauses that have not ended, as if they ended right after `now_ns`.
    pub(crate) fn open_pauses(&self, switch_id: u16, now_ns: u64) -> impl Iterator<Item = Pause> {
        let queues = usize::from(self.spec.queues_per_port);
        self.paused_since.iter().map(move |(&queue, &from_ns)| Pause {
            from_ns,
            until_ns: now_ns.max(from_ns).saturating_add(1),
            switch_id,
            port: (queue / queues) as u16,
            queue: (queue % queues) as u8,
        })
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

/// Records the features of an arriving packet and the user's own, then passes it to LQD.
#[inline(always)]
fn arrival<S: dropcast_switch::Service>(
    lqd: &mut VirtualLqd<S>,
    event: &Event,
    own: &[u32],
    queue: usize,
    waiting: &mut Waiting,
) {
    let packet = Packet::new(waiting.next_number(), queue, event.size_bytes);
    lqd.observe(queue, waiting.add(event, own));
    let accepted = lqd.admit(&packet, event.time_ns, |row, outcome| waiting.resolve(row, outcome));
    if !accepted {
        waiting.resolve(packet.id, Outcome::Rejected);
    }
}
