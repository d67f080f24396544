//! Checks that make a run of packet events believable, one event at a time (`docs/events.md`).

use crate::{DropReason, Event, EventKind, SwitchSpec, SwitchSpecs};

/// What is wrong with an event that can be read but cannot be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadEvent {
    /// Time goes backwards.
    #[error(
        "is {time_ns}, before the event above it at {previous_ns}; sort the input by time; of a capture, with reorder_ns (docs/pcap.md)"
    )]
    TimeBackwards {
        /// Time of the event, nanoseconds.
        time_ns: u64,
        /// Time of the last good event, nanoseconds.
        previous_ns: u64,
    },
    /// The switch is not described.
    #[error("is {switch_id}, which the switch description does not have; add it there")]
    UnknownSwitch {
        /// Number of the switch.
        switch_id: u16,
    },
    /// Memory is kept for each queue of a switch.
    #[error("is {switch_id}, which {}", SwitchSpecs::too_many(*queues))]
    TooManyQueues {
        /// Number of the switch.
        switch_id: u16,
        /// Queues of all switches up to this one.
        queues: usize,
    },
    /// The switch has no such port.
    #[error("is {port}, but switch {switch_id} has ports 0 to {}", ports - 1)]
    PortOutOfRange {
        /// Number of the port.
        port: u16,
        /// Number of the switch.
        switch_id: u16,
        /// How many ports the switch has, at least 1.
        ports: u32,
    },
    /// The port has no such queue.
    #[error(
        "is {queue}, but each port of switch {switch_id} has queues 0 to {}",
        queues_per_port - 1
    )]
    QueueOutOfRange {
        /// Number of the queue within its port.
        queue: u8,
        /// Number of the switch.
        switch_id: u16,
        /// How many queues a port has, at least 1.
        queues_per_port: u8,
    },
    /// The packet takes no bytes.
    #[error("is 0, a packet takes at least one byte")]
    SizeZero,
    /// The packet can never fit.
    #[error("is {size_bytes}, more than the whole buffer of {buffer_bytes} bytes")]
    SizeOverBuffer {
        /// Size of the packet, bytes.
        size_bytes: u32,
        /// Size of the switch's buffer, bytes.
        buffer_bytes: u32,
    },
    /// More packets have left the queue than have reached it.
    #[error(
        "is a departure from switch {switch_id}, port {port}, queue {queue}, which holds no packet: \
         every arrival before it has already departed"
    )]
    DepartureWithoutArrival {
        /// Number of the switch.
        switch_id: u16,
        /// Number of the port.
        port: u16,
        /// Number of the queue within its port.
        queue: u8,
    },
    /// A packet is pushed out of a queue that has none.
    #[error(
        "is a push-out from switch {switch_id}, port {port}, queue {queue}, which holds no packet: a \
         packet that is pushed out has arrived before, in a row of its own"
    )]
    PushOutWithoutArrival {
        /// Number of the switch.
        switch_id: u16,
        /// Number of the port.
        port: u16,
        /// Number of the queue within its port.
        queue: u8,
    },
}

impl BadEvent {
    /// The field at fault.
    pub(crate) fn field(&self) -> &'static str {
        match self {
            BadEvent::TimeBackwards { .. } => "time_ns",
            BadEvent::UnknownSwitch { .. } | BadEvent::TooManyQueues { .. } => "switch_id",
            BadEvent::PortOutOfRange { .. } => "port",
            BadEvent::QueueOutOfRange { .. } => "queue",
            BadEvent::SizeZero | BadEvent::SizeOverBuffer { .. } => "size_bytes",
            BadEvent::DepartureWithoutArrival { .. } => "kind",
            BadEvent::PushOutWithoutArrival { .. } => "drop_reason",
        }
    }

    /// A short name that does not change: skipped rows are counted under it.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            BadEvent::TimeBackwards { .. } => "time-backwards",
            BadEvent::UnknownSwitch { .. } => "unknown-switch",
            BadEvent::TooManyQueues { .. } => "too-many-queues",
            BadEvent::PortOutOfRange { .. } => "port-out-of-range",
            BadEvent::QueueOutOfRange { .. } => "queue-out-of-range",
            BadEvent::SizeZero => "size-zero",
            BadEvent::SizeOverBuffer { .. } => "size-over-buffer",
            BadEvent::DepartureWithoutArrival { .. } => "departure-without-arrival",
            BadEvent::PushOutWithoutArrival { .. } => "push-out-without-arrival",
        }
    }
}

/// Checks events in input order. A bad event leaves no trace: the next one is judged as if the
/// bad one had not been there.
///
/// Memory: one counter for each queue that was used.
#[derive(Clone, Debug)]
pub(crate) struct EventChecker {
    specs: SwitchSpecs,
    clock_ns: u64,
    /// `slots[switch_id]` is the place in `switches`, or [`UNSEEN`].
    slots: Vec<u32>,
    switches: Vec<CheckedSwitch>,
    /// Queues of all of them.
    queues: usize,
}

const UNSEEN: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct CheckedSwitch {
    ports: u32,
    queues_per_port: u8,
    buffer_bytes: u32,
    /// Packets by queue that arrived and neither departed nor were dropped; grows as queues are used.
    held: Vec<u64>,
}

impl EventChecker {
    /// A checker of events of these switches, from time 0 on.
    pub(crate) fn new(specs: &SwitchSpecs) -> Self {
        EventChecker {
            specs: specs.clone(),
            clock_ns: 0,
            slots: Vec::new(),
            switches: Vec::new(),
            queues: 0,
        }
    }

    /// Checks the next event.
    ///
    /// # Errors
    /// What is wrong with it, the first of: time order, switch, port, queue, size, departure
    /// without arrival.
    pub(crate) fn check(&mut self, event: &Event) -> Result<(), BadEvent> {
        if event.time_ns < self.clock_ns {
            let (time_ns, previous_ns) = (event.time_ns, self.clock_ns);
            return Err(BadEvent::TimeBackwards { time_ns, previous_ns });
        }
        self.switch(event.switch_id)?.check(event)?;
        self.clock_ns = event.time_ns;
        Ok(())
    }

    fn switch(&mut self, switch_id: u16) -> Result<&mut CheckedSwitch, BadEvent> {
        let id = usize::from(switch_id);
        let slot = match self.slots.get(id) {
            Some(&slot) if slot != UNSEEN => slot,
            _ => self.meet(switch_id)?,
        };
        Ok(&mut self.switches[slot as usize])
    }

    fn meet(&mut self, switch_id: u16) -> Result<u32, BadEvent> {
        let spec = self.specs.get(switch_id).ok_or(BadEvent::UnknownSwitch { switch_id })?;
        let queues = self.queues + spec.queues();
        if queues > SwitchSpecs::MOST_QUEUES {
            return Err(BadEvent::TooManyQueues { switch_id, queues });
        }
        self.queues = queues;
        let slot = u32::try_from(self.switches.len()).expect("there are at most 65,536 switches");
        self.switches.push(CheckedSwitch::new(spec));
        let id = usize::from(switch_id);
        if self.slots.len() <= id {
            self.slots.resize(id + 1, UNSEEN);
        }
        self.slots[id] = slot;
        Ok(slot)
    }
}

impl CheckedSwitch {
    fn new(spec: &SwitchSpec) -> Self {
        CheckedSwitch {
            ports: u32::try_from(spec.ports()).unwrap_or(u32::MAX),
            queues_per_port: spec.queues_per_port,
            buffer_bytes: spec.buffer_bytes,
            held: Vec::new(),
        }
    }

    fn check(&mut self, event: &Event) -> Result<(), BadEvent> {
        let Event { switch_id, port, queue, size_bytes, .. } = *event;
        if u32::from(port) >= self.ports {
            return Err(BadEvent::PortOutOfRange { port, switch_id, ports: self.ports });
        }
        if queue >= self.queues_per_port {
            let queues_per_port = self.queues_per_port;
            return Err(BadEvent::QueueOutOfRange { queue, switch_id, queues_per_port });
        }
        if !event.kind.has_packet() {
            return Ok(());
        }
        if size_bytes == 0 {
            return Err(BadEvent::SizeZero);
        }
        if size_bytes > self.buffer_bytes {
            let buffer_bytes = self.buffer_bytes;
            return Err(BadEvent::SizeOverBuffer { size_bytes, buffer_bytes });
        }
        let index = usize::from(port) * usize::from(self.queues_per_port) + usize::from(queue);
        if self.held.len() <= index {
            self.held.resize(index + 1, 0);
        }
        match event.kind {
            EventKind::Pause | EventKind::Resume => {}
            EventKind::Arrival => self.held[index] += 1,
            EventKind::Drop(reason) if reason != DropReason::PushOut => {}
            EventKind::Departure | EventKind::Drop(_) if self.held[index] > 0 => {
                self.held[index] -= 1;
            }
            EventKind::Departure => {
                return Err(BadEvent::DepartureWithoutArrival { switch_id, port, queue });
            }
            EventKind::Drop(_) => {
                return Err(BadEvent::PushOutWithoutArrival { switch_id, port, queue });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn specs() -> SwitchSpecs {
        let mut spec = SwitchSpec::uniform(3, 1_000_000_000, 4_000, 10_000);
        spec.queues_per_port = 2;
        spec.pushable = vec![true; 2];
        spec.shared = vec![true; 2];
        SwitchSpecs::Each(BTreeMap::from([(0, spec.clone()), (7, spec)]))
    }

    fn event(time_ns: u64, switch_id: u16, port: u16, queue: u8, size_bytes: u32) -> Event {
        let kind = EventKind::Arrival;
        Event { time_ns, flow_hash: 0, size_bytes, switch_id, port, queue, kind, flags: 0 }
    }

    #[test]
    fn each_fault_is_found_and_named() {
        let check = |bad: Event, reason: &str, field: &str, says: &str| {
            let mut checker = EventChecker::new(&specs());
            checker.check(&event(100, 0, 1, 0, 1_000)).unwrap();
            checker.check(&event(100, 7, 1, 0, 1_000)).unwrap();
            let error = checker.check(&bad).unwrap_err();
            assert_eq!((error.reason(), error.field()), (reason, field));
            assert!(error.to_string().contains(says), "{error} should say {says}");
        };
        let departure = |event| Event { kind: EventKind::Departure, ..event };
        check(event(99, 0, 1, 0, 1), "time-backwards", "time_ns", "is 99, before");
        check(event(100, 1, 1, 0, 1), "unknown-switch", "switch_id", "is 1, which");
        check(event(100, 7, 3, 0, 1), "port-out-of-range", "port", "switch 7 has ports 0 to 2");
        check(event(100, 7, 2, 2, 1), "queue-out-of-range", "queue", "has queues 0 to 1");
        check(event(100, 7, 2, 1, 0), "size-zero", "size_bytes", "is 0");
        check(event(100, 7, 2, 1, 4_001), "size-over-buffer", "size_bytes", "of 4000 bytes");
        check(
            Event { kind: EventKind::Pause, ..event(100, 7, 2, 2, 0) },
            "queue-out-of-range",
            "queue",
            "has queues 0 to 1",
        );
        check(
            departure(event(100, 7, 1, 1, 1)),
            "departure-without-arrival",
            "kind",
            "switch 7, port 1, queue 1",
        );
    }

    #[test]
    fn a_bad_event_does_not_move_the_clock_or_fill_a_queue() {
        let mut checker = EventChecker::new(&specs());
        assert!(checker.check(&event(50, 0, 9, 0, 1)).is_err());
        checker.check(&event(10, 0, 0, 0, 1)).unwrap();
        assert!(checker.check(&event(10, 0, 0, 0, 0)).is_err());
        let leave = Event { kind: EventKind::Departure, ..event(10, 0, 0, 0, 1) };
        checker.check(&leave).unwrap();
        assert!(checker.check(&leave).is_err());
        let pause = Event { kind: EventKind::Pause, ..event(10, 0, 0, 0, 0) };
        assert_eq!(checker.check(&pause), Ok(()), "it is about no packet, so it has no size");
        assert!(checker.check(&leave).is_err());
    }

    /// The same rules written the slow way: the whole past is searched for each event.
    fn is_good(past: &[Event], next: &Event) -> bool {
        let count = |kind| {
            let same = |e: &&Event| {
                (e.switch_id, e.port, e.queue) == (next.switch_id, next.port, next.queue)
            };
            past.iter().filter(same).filter(|e| e.kind == kind).count()
        };
        past.iter().all(|e| e.time_ns <= next.time_ns)
            && matches!(next.switch_id, 0 | 7)
            && next.port < 3
            && next.queue < 2
            && (1..=4_000).contains(&next.size_bytes)
            && (next.kind == EventKind::Arrival
                || count(EventKind::Arrival) > count(EventKind::Departure))
    }

    proptest! {
        #[test]
        fn agrees_with_a_search_of_the_whole_past(
            rows in prop::collection::vec((0u64..40, 0u16..9, 0u16..4, 0u8..3, 0u32..4_003, any::<bool>()), 0..60)
        ) {
            let mut checker = EventChecker::new(&specs());
            let mut past = Vec::new();
            for (i, (jitter, switch_id, port, queue, size, leaves)) in rows.into_iter().enumerate() {
                let kind = if leaves { EventKind::Departure } else { EventKind::Arrival };
                let time_ns = i as u64 * 10 + jitter;
                let size = if size < 4_000 { size.min(1) } else { size };
                let next = Event { kind, ..event(time_ns, switch_id * 7 % 14, port, queue, size) };
                let good = is_good(&past, &next);
                prop_assert_eq!(checker.check(&next).is_ok(), good);
                if good {
                    past.push(next);
                }
            }
        }
    }
}
