//! The tracer against a slow, obvious second implementation, on random small traces.

use dropcast_collect::{CollectError, Tracer, trace};
use dropcast_data::{
    CollectSettings, Departures, DropReason, Event, EventBatch, EventKind, LabelledBatch, Outcome,
    Scheduler, SwitchSpec, SwitchSpecs, Victim,
};
use dropcast_features::FeatureSet;
use proptest::prelude::*;

/// A row of the naive tracer: all features in column order, and its outcome.
type Row = ([u32; 12], Outcome);

/// Everything by scanning: queues are vectors of (row, bytes), averages plain numbers.
struct Naive {
    spec: SwitchSpec,
    settings: CollectSettings,
    queues: Vec<Vec<(usize, u32)>>,
    averages: Vec<(u32, u64)>,
    occupancy_average: (u32, u64),
    /// By port: when it may dequeue its next packet, and the queue whose turn it is.
    ports: Vec<(u64, usize)>,
    /// By port: the start and end of each of its transmissions.
    wire: Vec<Vec<(u64, u64)>>,
    credit: Vec<u32>,
    /// By queue, its history: time, bytes that arrived, length afterwards.
    events: Vec<Vec<(u64, u32, u32)>>,
}

impl Naive {
    fn new(spec: &SwitchSpec, settings: CollectSettings) -> Self {
        Naive {
            spec: spec.clone(),
            settings,
            queues: vec![Vec::new(); spec.queues()],
            averages: vec![(0, 0); spec.queues()],
            occupancy_average: (0, 0),
            ports: vec![(0, 0); spec.ports()],
            wire: vec![Vec::new(); spec.ports()],
            credit: vec![0; spec.queues()],
            events: vec![Vec::new(); spec.queues()],
        }
    }

    fn queue_bytes(&self, queue: usize) -> u32 {
        self.queues[queue].iter().map(|&(_, bytes)| bytes).sum()
    }

    fn class(&self, queue: usize) -> usize {
        queue % usize::from(self.spec.queues_per_port)
    }

    fn shares(&self, queue: usize) -> bool {
        self.spec.shared[self.class(queue)]
    }

    fn shared_lengths(&self) -> Vec<u32> {
        (0..self.queues.len())
            .map(|queue| if self.shares(queue) { self.queue_bytes(queue) } else { 0 })
            .collect()
    }

    fn occupancy(&self) -> u32 {
        self.shared_lengths().iter().sum()
    }

    fn mix(&self, (old, at): (u32, u64), x: u32, now: u64) -> (u32, u64) {
        let tau = self.spec.base_rtt_ns;
        let g = (now - at).min(tau) as f64 / tau as f64;
        ((g * x as f64 + (1.0 - g) * old as f64).trunc() as u32, now)
    }

    fn update_averages(&mut self, queue: usize, now: u64) {
        self.averages[queue] = self.mix(self.averages[queue], self.queue_bytes(queue), now);
        self.occupancy_average = self.mix(self.occupancy_average, self.occupancy(), now);
    }

    fn log(&mut self, queue: usize, arrived: u32, now: u64) {
        let length = self.queue_bytes(queue);
        self.events[queue].push((now, arrived, length));
    }

    /// The projected length of a queue some eighths of a base RTT ahead, from its whole history.
    fn expected(&self, queue: usize, eighths: u64) -> u64 {
        let tau = self.spec.base_rtt_ns;
        let window = (tau / 8).max(1);
        let (mut recent, mut last) = (0, 0);
        for &(now, arrived, _) in &self.events[queue] {
            recent -= recent * (now - last).min(window) / window;
            recent += u64::from(arrived);
            last = now;
        }
        let rate = self.spec.line_rate_bps[queue / usize::from(self.spec.queues_per_port)];
        match self.events[queue].last() {
            Some(&(_, _, length)) if length > 0 => {
                let drain = rate * eighths * tau / 64_000_000_000;
                (u64::from(length) + eighths * recent).saturating_sub(drain)
            }
            _ => 0,
        }
    }

    fn depart(&mut self, queue: usize, now: u64, rows: &mut [Row]) {
        let (row, _) = self.queues[queue].remove(0);
        rows[row].1 = Outcome::Departed;
        self.update_averages(queue, now);
        self.log(queue, 0, now);
    }

    /// Line rate: the port that may send earliest (ties: lowest) sends, as long as it is not later
    /// than `now`. `ports` also covers idle ports: an empty port may send when its next packet
    /// arrives.
    fn serve(&mut self, now: u64, rows: &mut [Row]) {
        let per_port = usize::from(self.spec.queues_per_port);
        loop {
            let next = (0..self.spec.ports())
                .filter(|port| {
                    (port * per_port..(port + 1) * per_port).any(|q| !self.queues[q].is_empty())
                })
                .min_by_key(|&port| (self.ports[port].0, port));
            let Some(port) = next.filter(|&port| self.ports[port].0 <= now) else { return };
            let (time, turn) = self.ports[port];
            let order: Vec<usize> = match self.spec.scheduler {
                Scheduler::StrictPriority => (0..per_port).collect(),
                _ => (0..per_port).map(|step| (turn + step) % per_port).collect(),
            };
            let class = order
                .into_iter()
                .find(|class| !self.queues[port * per_port + class].is_empty())
                .expect("the port is backlogged");
            let queue = port * per_port + class;
            let bytes = self.queues[queue][0].1;
            let begins = time.max(self.wire[port].last().map_or(0, |&(_, end)| end));
            self.wire[port].push((begins, begins + self.spec.wire_time_ns(port, bytes)));
            self.ports[port] = (self.next_out(port).max(time), (class + 1) % per_port);
            self.depart(queue, time, rows);
        }
    }

    /// When the next packet may leave the buffer: when the last one ends, or, with a ring of `r`
    /// slots, when the `r`-th before it begins.
    fn next_out(&self, port: usize) -> u64 {
        let sent = &self.wire[port];
        match usize::from(self.spec.transmit_ring_packets) {
            0 => sent.last().map_or(0, |&(_, end)| end),
            ring => sent.len().checked_sub(ring).map_or(0, |at| sent[at].0),
        }
    }

    fn observe_departure(&mut self, queue: usize, bytes: u32, now: u64, rows: &mut [Row]) {
        self.credit[queue] += bytes;
        while !self.queues[queue].is_empty() && self.queues[queue][0].1 <= self.credit[queue] {
            self.credit[queue] -= self.queues[queue][0].1;
            self.depart(queue, now, rows);
        }
        if self.queues[queue].is_empty() {
            self.credit[queue] = 0;
        }
    }

    fn features(&self, queue: usize) -> [u32; 12] {
        let own = self.queue_bytes(queue);
        let lengths = self.shared_lengths();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let shared = || (0..self.queues.len()).filter(|&queue| self.shares(queue));
        let projected: u64 = shared().map(|queue| self.expected(queue, 16)).sum();
        let level = |eighths| {
            shared().map(|queue| self.expected(queue, eighths).min(own.into())).sum::<u64>() as u32
        };
        [
            own,
            self.averages[queue].0,
            self.occupancy(),
            self.occupancy_average.0,
            longest,
            lengths.iter().filter(|&&bytes| bytes > own).count() as u32,
            longest.saturating_sub(own),
            projected as u32,
            lengths.iter().map(|&bytes| bytes.min(own)).sum(),
            level(2),
            level(8),
            level(16),
        ]
    }

    /// Steps 3 and 4 of the virtual LQD; returns whether the packet was accepted.
    fn admit(&mut self, queue: usize, bytes: u32, now: u64, rows: &mut [Row]) -> bool {
        let capacity = self.spec.buffer_bytes;
        while self.occupancy() + bytes > capacity {
            let candidate = |q: usize| {
                let counts = self.settings.victim == Victim::Arrival && q == queue;
                self.queue_bytes(q) + if counts { bytes } else { 0 }
            };
            let longest = (0..self.queues.len())
                .filter(|&q| self.spec.pushable[self.class(q)] && self.shares(q))
                .filter(|&q| candidate(q) > 0)
                .max_by_key(|&q| (candidate(q), std::cmp::Reverse(q)));
            let Some(victim) = longest else { return false };
            if self.settings.victim == Victim::Arrival && victim == queue {
                return false;
            }
            let (row, _) = self.queues[victim].pop().expect("it is not empty");
            rows[row].1 = Outcome::PushedOut;
            self.update_averages(victim, now);
            self.log(victim, 0, now);
        }
        !self.settings.strict_fit || self.occupancy() + bytes < capacity
    }

    fn arrive(&mut self, queue: usize, bytes: u32, now: u64, rows: &mut Vec<Row>) {
        let row = rows.len();
        // Packets not removed by the end are transmitted.
        rows.push((self.features(queue), Outcome::Departed));
        if self.shares(queue) && !self.admit(queue, bytes, now, rows) {
            rows[row].1 = Outcome::Rejected;
            self.log(queue, bytes, now);
            return;
        }
        let per_port = usize::from(self.spec.queues_per_port);
        let port = queue / per_port;
        let was_idle = (port * per_port..(port + 1) * per_port).all(|q| self.queues[q].is_empty());
        if was_idle {
            self.ports[port].0 = self.ports[port].0.max(now);
        }
        self.queues[queue].push((row, bytes));
        self.log(queue, bytes, now);
    }

    fn run(mut self, events: &[Event]) -> Vec<Row> {
        let mut rows = Vec::new();
        for event in events {
            let queue = self.spec.queue_index(event.port, event.queue);
            let (now, bytes) = (event.time_ns, event.size_bytes);
            match (self.settings.departures, event.kind) {
                (_, EventKind::Drop(DropReason::PushOut)) => {}
                (Departures::LineRate, EventKind::Arrival | EventKind::Drop(_)) => {
                    self.serve(now, &mut rows);
                    self.arrive(queue, bytes, now, &mut rows);
                }
                (Departures::LineRate, EventKind::Departure) => {}
                (Departures::Observed, EventKind::Arrival | EventKind::Drop(_)) => {
                    self.arrive(queue, bytes, now, &mut rows);
                }
                (Departures::Observed, EventKind::Departure) => {
                    self.observe_departure(queue, bytes, now, &mut rows);
                }
            }
        }
        rows
    }
}

fn specs() -> impl Strategy<Value = SwitchSpec> {
    (1u16..5, 1u8..4, 3u32..40, 1u64..60, any::<bool>(), 0u32..3, 0u16..4, any::<[bool; 6]>())
        .prop_map(|(ports, queues, buffer, rtt, strict, overhead, ring, class)| {
            let queues_per_port = usize::from(queues);
            SwitchSpec {
                queues_per_port: queues,
                scheduler: if strict { Scheduler::StrictPriority } else { Scheduler::RoundRobin },
                wire_overhead_bytes: overhead,
                transmit_ring_packets: ring,
                // Mostly true: a switch without push-outs tests little.
                pushable: (0..queues_per_port).map(|q| q == 0 || class[q]).collect(),
                shared: (0..queues_per_port).map(|q| q == 1 || class[3 + q] || class[q]).collect(),
                ..SwitchSpec::uniform(ports, 4_000_000_000, buffer, rtt)
            }
        })
}

fn settings() -> impl Strategy<Value = CollectSettings> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(observed, tail, strict_fit)| {
        CollectSettings {
            departures: if observed { Departures::Observed } else { Departures::LineRate },
            victim: if tail { Victim::Tail } else { Victim::Arrival },
            strict_fit,
        }
    })
}

/// Events for a few switches: time step, place, size, arrival or departure.
type Step = (u64, u16, u16, u8, u32, bool);

fn events(steps: &[Step], spec: &SwitchSpec) -> Vec<Event> {
    let mut time_ns = 0;
    steps
        .iter()
        .map(|&(dt, switch_id, port, queue, size, departs)| {
            time_ns += dt;
            Event {
                time_ns,
                flow_hash: 0,
                size_bytes: size.min(spec.buffer_bytes),
                switch_id,
                port: port % spec.ports() as u16,
                queue: queue % spec.queues_per_port,
                kind: if departs { EventKind::Departure } else { EventKind::Arrival },
                flags: 0,
            }
        })
        .collect()
}

fn rows_of(batches: &[LabelledBatch], switch_id: u16) -> Vec<Row> {
    let mut rows = Vec::new();
    for batch in batches {
        let arrivals = batch.arrivals.as_ref().expect("traced rows know their arrival");
        for row in (0..batch.len()).filter(|&row| arrivals.switch_id[row] == switch_id) {
            let features = std::array::from_fn(|f| batch.features[f][row]);
            let outcome = batch.outcome.as_ref().expect("traced rows know their outcome")[row];
            assert_eq!(batch.drop[row], outcome != Outcome::Departed);
            rows.push((features, outcome));
        }
    }
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_tracer_does_what_the_naive_one_does(
        spec in specs(),
        settings in settings(),
        steps in prop::collection::vec(
            (0u64..12, 0u16..3, 0u16..5, 0u8..4, 1u32..9, prop::bool::weighted(0.3)),
            0..150,
        ),
        batch_rows in 1usize..40,
    ) {
        let events = events(&steps, &spec);
        let tracer = Tracer::new(SwitchSpecs::Same(spec.clone()), settings, FeatureSet::all());
        let input = events
            .chunks(batch_rows)
            .map(|events| Ok::<_, CollectError>(EventBatch { events: events.to_vec() }));
        let batches: Vec<_> = trace(tracer, input).collect::<Result<_, _>>().expect("valid events");

        let arrivals = events.iter().filter(|event| event.kind == EventKind::Arrival);
        let times: Vec<u64> = arrivals.map(|event| event.time_ns).collect();
        let traced: Vec<u64> = batches
            .iter()
            .flat_map(|batch| batch.arrivals.as_ref().expect("present").time_ns.clone())
            .collect();
        prop_assert_eq!(traced, times, "one row per arrival, in order");
        for switch_id in 0..3 {
            let own: Vec<Event> =
                events.iter().copied().filter(|event| event.switch_id == switch_id).collect();
            prop_assert_eq!(
                rows_of(&batches, switch_id),
                Naive::new(&spec, settings).run(&own),
                "switch {}", switch_id
            );
        }
    }
}

/// The row that each push-out is about, by looking at all rows before it: rows of dropped packets by
/// place in the input, and how many push-outs are of none.
fn real_drops(events: &[Event]) -> (Vec<Option<DropReason>>, u64) {
    let mut rows: Vec<(Event, Option<DropReason>)> = Vec::new();
    let mut unmatched = 0;
    for &event in events {
        match event.kind {
            EventKind::Departure => {}
            EventKind::Arrival => rows.push((event, None)),
            EventKind::Drop(DropReason::PushOut) => {
                let like = |event: &Event| {
                    let Event { switch_id, port, queue, size_bytes, flow_hash, .. } = *event;
                    (switch_id, port, queue, size_bytes, flow_hash)
                };
                let mut back = rows.iter_mut().rev();
                match back.find(|(row, reason)| reason.is_none() && like(row) == like(&event)) {
                    Some((_, reason)) => *reason = Some(DropReason::PushOut),
                    None => unmatched += 1,
                }
            }
            EventKind::Drop(reason) => rows.push((event, Some(reason))),
        }
    }
    (rows.into_iter().map(|(_, reason)| reason).collect(), unmatched)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Real drops are arrivals like others to LQD, and stand in the row of their packet.
    #[test]
    fn real_drops_stand_beside_what_lqd_does(
        spec in specs(),
        settings in settings(),
        steps in prop::collection::vec(
            (0u64..3, 0u16..2, 0u16..2, 0u8..2, 1u32..3, prop::bool::weighted(0.2)),
            0..80,
        ),
        fates in prop::collection::vec((0usize..9, 0u64..2), 80),
        batch_rows in 1usize..20,
    ) {
        // Drops of all kinds among arrivals; nothing departs early enough to be given out.
        let mut events = events(&steps, &spec);
        for (event, &(fate, flow_hash)) in events.iter_mut().zip(&fates) {
            event.flow_hash = flow_hash << 40;
            let reason = DropReason::ALL.get(fate).copied();
            if let Some(reason) = reason.filter(|_| event.kind == EventKind::Arrival) {
                event.kind = EventKind::Drop(reason);
            }
        }
        let spec = SwitchSpec { line_rate_bps: vec![1; spec.ports()], ..spec };
        let run = |events: &[Event]| {
            let specs = SwitchSpecs::Same(spec.clone());
            let mut tracer = Tracer::new(specs, settings, FeatureSet::all()).with_push_outs();
            let push = |events: &[Event]| {
                tracer.push(&EventBatch { events: events.to_vec() }).expect("valid events")
            };
            let mut batches: Vec<_> = events.chunks(batch_rows).map(push).collect();
            let unmatched = tracer.unmatched_push_outs();
            batches.push(tracer.finish());
            (batches, unmatched)
        };
        let (batches, unmatched) = run(&events);
        let (expected, expected_unmatched) = real_drops(&events);
        let told: Vec<Option<DropReason>> = batches
            .iter()
            .flat_map(|batch| batch.real_drop.clone().unwrap_or_else(|| vec![None; batch.len()]))
            .collect();
        prop_assert_eq!(unmatched, expected_unmatched);
        prop_assert_eq!(told, expected);

        // LQD's own labels are those without any real drop.
        let plain: Vec<Event> = events
            .iter()
            .filter(|event| event.kind != EventKind::Drop(DropReason::PushOut))
            .map(|event| match event.kind {
                EventKind::Drop(_) => Event { kind: EventKind::Arrival, ..*event },
                _ => *event,
            })
            .collect();
        let (without, _) = run(&plain);
        prop_assert!(without.iter().all(|batch| batch.real_drop.is_none()));
        for switch_id in 0..2 {
            prop_assert_eq!(rows_of(&batches, switch_id), rows_of(&without, switch_id));
        }
    }
}

#[test]
fn rows_are_held_for_push_outs_only_as_long_as_they_can_come() {
    // A full buffer drains in 10 us.
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 10_000, 100);
    let tracer =
        Tracer::new(SwitchSpecs::Same(spec), CollectSettings::default(), FeatureSet::paper4());
    let mut tracer = tracer.with_push_outs();
    let mut push = |event: Event| tracer.push(&EventBatch { events: vec![event] }).expect("valid");
    assert_eq!(push(arrival(0, 0, 0)).len(), 0);
    assert_eq!(push(arrival(9_999, 0, 1)).len(), 0, "the first may still be pushed out");
    assert_eq!(push(arrival(10_001, 0, 1)).len(), 1);
    let late = Event { kind: EventKind::Drop(DropReason::PushOut), ..arrival(10_002, 0, 0) };
    assert_eq!(push(late).len(), 0);
    assert_eq!(tracer.unmatched_push_outs(), 1);
    assert_eq!(tracer.finish().real_drop, None);
}

fn arrival(time_ns: u64, switch_id: u16, port: u16) -> Event {
    let kind = EventKind::Arrival;
    Event { time_ns, flow_hash: 0, size_bytes: 1, switch_id, port, queue: 0, kind, flags: 0 }
}

#[test]
fn a_silent_switch_does_not_hold_the_rows_of_others() {
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 10, 100);
    let mut tracer =
        Tracer::new(SwitchSpecs::Same(spec), CollectSettings::default(), FeatureSet::paper4());
    let first = EventBatch { events: vec![arrival(0, 7, 0), arrival(0, 7, 0)] };
    assert_eq!(tracer.push(&first).expect("valid").len(), 1, "the second waits for the port");
    let later = EventBatch { events: vec![arrival(50, 8, 0)] };
    assert_eq!(tracer.push(&later).expect("valid").len(), 2, "all have left by then");
}

#[test]
fn rows_that_wait_are_limited() {
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 10, 100);
    let settings = CollectSettings { departures: Departures::Observed, ..Default::default() };
    let mut tracer = Tracer::new(SwitchSpecs::Same(spec), settings, FeatureSet::paper4())
        .with_max_waiting_rows(3);
    let batch = EventBatch { events: (0..4).map(|time| arrival(time, 0, 1)).collect() };
    let error = tracer.push(&batch).expect_err("nothing departs");
    assert!(matches!(error, CollectError::TooManyWaiting { limit: 3, row: 0, port: 1, .. }));
    // The advice names nothing that is already on.
    assert!(error.to_string().contains("compute departures from the line rate"), "{error}");
    let CollectError::TooManyWaiting { limit, row, switch_id, port, queue, time_ns, .. } = error
    else {
        unreachable!()
    };
    let departures = Departures::LineRate;
    let error =
        CollectError::TooManyWaiting { limit, row, switch_id, port, queue, time_ns, departures };
    assert!(!error.to_string().contains("compute departures"), "{error}");
}

#[test]
fn events_for_what_a_switch_lacks_are_refused() {
    let spec = SwitchSpec::uniform(2, 1_000_000_000, 10, 100);
    let each = SwitchSpecs::Each([(1, spec)].into());
    let push = |event| {
        let settings = CollectSettings::default();
        Tracer::new(each.clone(), settings, FeatureSet::paper4())
            .push(&EventBatch { events: vec![event] })
    };
    assert!(matches!(
        push(arrival(5, 2, 0)),
        Err(CollectError::UnknownSwitch { time_ns: 5, switch_id: 2 })
    ));
    assert!(matches!(push(arrival(5, 1, 2)), Err(CollectError::UnknownQueue { port: 2, .. })));
    assert!(push(arrival(5, 1, 1)).is_ok());
}

#[test]
fn a_queue_beside_the_buffer_overflows_at_four_gigabytes_and_not_in_a_panic() {
    let spec = SwitchSpec { shared: vec![false], ..SwitchSpec::uniform(1, 8, u32::MAX, 100) };
    let mut tracer =
        Tracer::new(SwitchSpecs::Same(spec), CollectSettings::default(), FeatureSet::paper4());
    let huge = |time_ns| Event { size_bytes: 4_000_000_000, ..arrival(time_ns, 0, 0) };
    let rows = tracer.push(&EventBatch { events: (0..3).map(huge).collect() }).expect("valid");
    assert_eq!(rows.outcome.expect("traced"), [Outcome::Departed], "it is on the wire");
    let rest = tracer.finish();
    assert_eq!(rest.outcome.expect("traced"), [Outcome::Departed, Outcome::Rejected]);
    assert_eq!(rest.features[0], [0, 4_000_000_000]);
}
