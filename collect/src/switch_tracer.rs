//! Virtual LQD at one switch.

use crate::error::CollectError;
use crate::waiting::Waiting;
use dropcast_data::{
    CollectSettings, Departures, DropReason, Event, EventKind, Outcome, Pause, PauseChange,
    SwitchSpec,
};
use dropcast_features::FeatureSet;
use dropcast_switch::{Fit, LineRate, Observed, Packet, TimeModel, VirtualLqd};
use std::collections::BTreeMap;

/// One switch's virtual queues, with one of the two ways to drain them.
#[derive(Debug)]
pub(crate) struct SwitchTracer {
    spec: SwitchSpec,
    queues: Queues,
    /// Paused queues, and since when.
    paused_since: BTreeMap<usize, u64>,
    has_arrivals: bool,
    has_departures: bool,
    last_time_ns: u64,
}

/// What events show besides rows.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Pauses that have ended.
    pub(crate) pauses: Vec<Pause>,
    /// Push-outs at the real switch whose packet was not found.
    pub(crate) unmatched_push_outs: u64,
}

#[derive(Debug)]
enum Queues {
    Observed(Box<VirtualLqd<Observed>>),
    LineRate(Box<VirtualLqd<LineRate>>),
}

impl SwitchTracer {
    pub(crate) fn new(spec: SwitchSpec, settings: CollectSettings, features: FeatureSet) -> Self {
        let fit = Fit::of(&settings);
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
        SwitchTracer {
            spec,
            queues,
            paused_since: BTreeMap::new(),
            has_arrivals: false,
            has_departures: false,
            last_time_ns: 0,
        }
    }

    /// Processes consecutive events of this switch. `own` has their values of the user's own columns.
    ///
    /// # Errors
    /// If an event is for a queue that the switch does not have, or queues are paused too often.
    pub(crate) fn trace(
        &mut self,
        events: &[Event],
        own: &[u32],
        waiting: &mut Waiting,
        findings: &mut Findings,
    ) -> Result<(), CollectError> {
        let SwitchTracer { spec, queues, paused_since, has_arrivals, has_departures, last_time_ns } =
            self;
        *last_time_ns = events.last().map_or(*last_time_ns, |last| last.time_ns);
        match queues {
            Queues::Observed(lqd) => {
                let mut kinds = events.iter().map(|event| event.kind);
                *has_arrivals |= kinds.clone().any(EventKind::is_arrival);
                *has_departures |= kinds.any(|kind| kind == EventKind::Departure);
                trace(lqd, spec, paused_since, events, own, waiting, findings)
            }
            Queues::LineRate(lqd) => trace(lqd, spec, paused_since, events, own, waiting, findings),
        }
    }

    /// Whether packets came, and no departures that would drain the queues.
    pub(crate) fn is_undrained(&self) -> bool {
        matches!(self.queues, Queues::Observed(_)) && self.has_arrivals && !self.has_departures
    }

    /// The pauses that have not ended, as if they ended right after the last event.
    pub(crate) fn open_pauses(&self, switch_id: u16) -> impl Iterator<Item = Pause> {
        let (queues, now_ns) = (usize::from(self.spec.queues_per_port), self.last_time_ns);
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

/// How virtual queues drain.
trait Drain: TimeModel + Sized {
    /// A packet arrives at `now_ns`: the queues are served up to then, if the service knows how.
    fn serve(lqd: &mut VirtualLqd<Self>, now_ns: u64, waiting: &mut Waiting);

    /// A packet departed from `queue` of the real switch.
    fn departed(lqd: &mut VirtualLqd<Self>, queue: usize, event: &Event, waiting: &mut Waiting);

    /// A queue is paused or resumed.
    fn will_change(&mut self, change: PauseChange);
}

impl Drain for LineRate {
    #[inline(always)]
    fn serve(lqd: &mut VirtualLqd<Self>, now_ns: u64, waiting: &mut Waiting) {
        lqd.advance(now_ns, |row, outcome| waiting.resolve(row, outcome));
    }

    #[inline(always)]
    fn departed(_: &mut VirtualLqd<Self>, _: usize, _: &Event, _: &mut Waiting) {}

    fn will_change(&mut self, change: PauseChange) {
        LineRate::will_change(self, change);
    }
}

impl Drain for Observed {
    #[inline(always)]
    fn serve(_: &mut VirtualLqd<Self>, _: u64, _: &mut Waiting) {}

    #[inline(always)]
    fn departed(lqd: &mut VirtualLqd<Self>, queue: usize, event: &Event, waiting: &mut Waiting) {
        lqd.service_mut().departed(queue, event.size_bytes, event.time_ns);
        lqd.advance(event.time_ns, |row, outcome| waiting.resolve(row, outcome));
    }

    /// Observed departures reflect the pause already.
    fn will_change(&mut self, _: PauseChange) {}
}

/// [`SwitchTracer::trace`] with one of the two ways to drain the queues.
fn trace<S: Drain>(
    lqd: &mut VirtualLqd<S>,
    spec: &SwitchSpec,
    paused_since: &mut BTreeMap<usize, u64>,
    events: &[Event],
    own: &[u32],
    waiting: &mut Waiting,
    findings: &mut Findings,
) -> Result<(), CollectError> {
    let columns = own.len() / events.len().max(1);
    for (row, event) in events.iter().enumerate() {
        let &Event { time_ns, switch_id, port, queue, .. } = event;
        if usize::from(port) >= spec.ports() || queue >= spec.queues_per_port {
            return Err(CollectError::UnknownQueue { time_ns, switch_id, port, queue });
        }
        let at = spec.queue_index(port, queue);
        let values = &own[row * columns..][..columns];
        match event.kind {
            EventKind::Drop(DropReason::PushOut) => {
                findings.unmatched_push_outs += u64::from(!waiting.push_out(event));
            }
            EventKind::Arrival | EventKind::Drop(_) => {
                S::serve(lqd, time_ns, waiting);
                arrival(lqd, event, values, at, waiting);
            }
            EventKind::Departure => S::departed(lqd, at, event, waiting),
            EventKind::Pause | EventKind::Resume => {
                let is_paused = event.kind == EventKind::Pause;
                // What begins in this very nanosecond may have begun already.
                let change =
                    PauseChange { time_ns: time_ns.saturating_add(1), queue: at, is_paused };
                if is_paused != paused_since.contains_key(&at) {
                    lqd.service_mut().will_change(change);
                    findings.pauses.extend(ended_pause(paused_since, event, change));
                }
                if findings.pauses.len() > Pause::MOST {
                    return Err(CollectError::TooManyPauses { time_ns });
                }
            }
        }
    }
    Ok(())
}

/// Keeps when a pause begins. Returns the pause that ends, if it took any time.
fn ended_pause(
    paused_since: &mut BTreeMap<usize, u64>,
    event: &Event,
    change: PauseChange,
) -> Option<Pause> {
    let PauseChange { time_ns: until_ns, queue, is_paused } = change;
    if is_paused {
        paused_since.insert(queue, until_ns);
        return None;
    }
    let from_ns = paused_since.remove(&queue)?;
    let &Event { switch_id, port, queue, .. } = event;
    (from_ns < until_ns).then_some(Pause { from_ns, until_ns, switch_id, port, queue })
}

/// Records the features of an arriving packet and the user's own, then passes it to LQD.
#[inline(always)]
fn arrival<S: TimeModel>(
    lqd: &mut VirtualLqd<S>,
    event: &Event,
    own: &[u32],
    queue: usize,
    waiting: &mut Waiting,
) {
    let number = waiting.next_number();
    let packet =
        Packet { flow_hash: event.flow_hash, ..Packet::new(number, queue, event.size_bytes) };
    lqd.observe(&packet, event.time_ns, waiting.add(event, own));
    let accepted = lqd.admit(&packet, event.time_ns, |row, outcome| waiting.resolve(row, outcome));
    if !accepted {
        waiting.resolve(packet.id, Outcome::Rejected);
    }
}
