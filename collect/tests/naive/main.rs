//! The tracer against a slow, obvious second implementation, on random small traces.

mod reference;

use dropcast_collect::{CollectError, Tracer, trace};
use dropcast_data::{
    CollectSettings, Departures, DropReason, Event, EventBatch, EventKind, Label, LabelledBatch,
    Outcome, Pause, PauseSchedule, Scheduler, SwitchSpec, SwitchSpecs, Victim,
};
use dropcast_features::FeatureSet;
use dropcast_switch::{Fit, LineRate, Packet, VirtualLqd};
use proptest::prelude::*;
use reference::{Naive, Row};

fn specs() -> impl Strategy<Value = SwitchSpec> {
    (
        1u16..5,
        1u8..4,
        3u32..40,
        1u64..60,
        any::<bool>(),
        0u32..3,
        0u16..4,
        any::<[bool; 6]>(),
        prop::collection::vec(0u32..6, 0..2),
    )
        .prop_map(|(ports, queues, buffer, rtt, strict, overhead, ring, class, reserved)| {
            let queues_per_port = usize::from(queues);
            let shared: Vec<bool> =
                (0..queues_per_port).map(|q| q == 1 || class[3 + q] || class[q]).collect();
            let bytes = |&bytes: &u32| {
                shared
                    .iter()
                    .zip(0..)
                    .map(move |(&shared, q)| u32::from(shared) * (bytes + q))
                    .collect()
            };
            SwitchSpec {
                reserved_bytes: reserved.first().map_or_else(Vec::new, bytes),
                queues_per_port: queues,
                scheduler: if strict { Scheduler::StrictPriority } else { Scheduler::RoundRobin },
                wire_overhead_bytes: overhead,
                transmit_ring_packets: ring,
                // Mostly true: a switch without push-outs tests little.
                pushable: (0..queues_per_port).map(|q| q == 0 || class[q]).collect(),
                shared,
                ..SwitchSpec::uniform(ports, 4_000_000_000, buffer, rtt)
            }
        })
}

/// The same switch with everything so many times larger: queues of several length classes.
fn larger(spec: SwitchSpec, times: u32) -> SwitchSpec {
    SwitchSpec {
        buffer_bytes: spec.buffer_bytes * times,
        reserved_bytes: spec.reserved_bytes.iter().map(|&bytes| bytes * times).collect(),
        wire_overhead_bytes: spec.wire_overhead_bytes * times,
        line_rate_bps: spec.line_rate_bps.iter().map(|&rate| rate * u64::from(times)).collect(),
        ..spec
    }
}

fn settings() -> impl Strategy<Value = CollectSettings> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(observed, tail, strict_fit)| {
        CollectSettings {
            departures: if observed { Departures::Observed } else { Departures::LineRate },
            victim: if tail { Victim::Tail } else { Victim::Arrival },
            strict_fit,
            label: Label::Lqd,
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

/// The events that are about packets.
fn packets(events: &[Event]) -> Vec<Event> {
    events.iter().copied().filter(|event| event.kind.has_packet()).collect()
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
        pauses in prop::collection::vec(0usize..14, 150),
        has_pauses in any::<bool>(),
        batch_rows in 1usize..40,
        times in prop_oneof![Just(1_u32), Just(1000)],
    ) {
        let spec = larger(spec, times);
        let mut events = events(&steps, &spec);
        for event in &mut events {
            event.size_bytes = (event.size_bytes * times).min(spec.buffer_bytes);
        }
        for (event, &pause) in events.iter_mut().zip(&pauses) {
            match pause {
                0 | 1 => event.kind = EventKind::Pause,
                2 | 3 => event.kind = EventKind::Resume,
                _ => {}
            }
        }
        let events = if has_pauses { events } else { packets(&events) };
        let tracer = Tracer::new(SwitchSpecs::Same(spec.clone()), settings, FeatureSet::all());
        let input = events
            .chunks(batch_rows)
            .map(|events| Ok::<_, CollectError>(EventBatch::new(events.to_vec())));
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// What a replay knows of pauses, the times in a trace's footer, has the effect of the rows.
    #[test]
    fn recorded_pauses_stop_what_the_rows_stopped(
        spec in specs(),
        steps in prop::collection::vec(
            (0u64..9, 0u16..1, 0u16..5, 0u8..4, 1u32..9, prop::bool::weighted(0.0)),
            0..120,
        ),
        pauses in prop::collection::vec(0usize..8, 120),
    ) {
        let mut events = events(&steps, &spec);
        for (event, &pause) in events.iter_mut().zip(&pauses) {
            event.kind = match pause {
                0 => EventKind::Pause,
                1 => EventKind::Resume,
                _ => EventKind::Arrival,
            };
        }
        let specs = SwitchSpecs::Same(spec.clone());
        let mut tracer = Tracer::new(specs, CollectSettings::default(), FeatureSet::all());
        let mut batches = vec![tracer.push(&EventBatch::new(events.clone())).expect("valid")];
        let schedule = PauseSchedule::new(&tracer.pauses(), 0, &spec);
        batches.push(tracer.finish());

        let service = LineRate::new(&spec).pausing(schedule);
        let mut lqd =
            VirtualLqd::new(&spec, Victim::Tail, Fit::Exact, service, FeatureSet::all());
        let mut rows: Vec<Row> = Vec::new();
        for event in packets(&events) {
            let queue = spec.queue_index(event.port, event.queue);
            let mut left = Vec::new();
            lqd.advance(event.time_ns, |id, outcome| left.push((id, outcome)));
            let mut values = [0; 14];
            let packet = Packet::new(rows.len() as u64, queue, event.size_bytes);
            lqd.observe(&packet, event.time_ns, &mut values);
            rows.push((values, Outcome::Departed));
            if !lqd.admit(&packet, event.time_ns, |id, outcome| left.push((id, outcome))) {
                left.push((packet.id, Outcome::Rejected));
            }
            for (id, outcome) in left {
                rows[id as usize].1 = outcome;
            }
        }
        prop_assert_eq!(rows_of(&batches, 0), rows);
    }
}

#[test]
fn a_paused_queue_keeps_its_packets_and_other_queues_send() {
    let spec = SwitchSpec {
        queues_per_port: 2,
        pushable: vec![true; 2],
        shared: vec![true; 2],
        // One byte per nanosecond.
        ..SwitchSpec::uniform(1, 8_000_000_000, 3, 100)
    };
    let mut tracer =
        Tracer::new(SwitchSpecs::Same(spec), CollectSettings::default(), FeatureSet::paper4());
    let of = |time_ns, queue, kind| Event { queue, kind, ..arrival(time_ns, 0, 0) };
    let (pause, resume, arrives) = (EventKind::Pause, EventKind::Resume, EventKind::Arrival);
    let events = vec![
        of(0, 1, pause),
        of(5, 1, arrives),
        of(5, 1, arrives),
        of(6, 0, arrives),
        of(9, 1, arrives),
        // The buffer is full of packets of the paused queue: one of them is pushed out.
        of(10, 0, arrives),
        of(20, 1, resume),
        of(20, 1, resume),
        of(25, 0, pause),
        of(30, 0, arrives),
    ];
    let rows = tracer.push(&EventBatch::new(events)).expect("valid");
    let pause =
        |from_ns, until_ns, queue| Pause { from_ns, until_ns, switch_id: 0, port: 0, queue };
    assert_eq!(tracer.pauses(), [pause(1, 21, 1), pause(26, 31, 0)]);
    let rest = tracer.finish();
    assert_eq!([rows.features[2].clone(), rest.features[2].clone()].concat(), [0, 1, 2, 2, 3, 0]);
    let dropped = [false, false, false, true, false, false];
    assert_eq!([rows.drop, rest.drop].concat(), dropped);
}

#[test]
fn marks_stand_in_the_rows_of_their_packets() {
    let spec = SwitchSpec::uniform(1, 8_000_000_000, 3, 100);
    let tracer = || {
        let specs = SwitchSpecs::Same(spec.clone());
        Tracer::new(specs, CollectSettings::default(), FeatureSet::paper4())
    };
    let marked = Event { flags: Event::ECN_MARK, ..arrival(7, 0, 0) };
    let events = EventBatch::new(vec![arrival(0, 0, 0), marked, arrival(50, 0, 0)]);
    let mut marks_tracer = tracer().with_ecn_marks();
    let rows = [marks_tracer.push(&events).expect("valid"), marks_tracer.finish()];
    let marks = rows.map(|rows| rows.ecn_mark.expect("the input records marks")).concat();
    assert_eq!(marks, [false, true, false]);
    assert_eq!(tracer().push(&events).expect("valid").ecn_mark, None);

    let mut flows_tracer = tracer().with_flows();
    let rows = [flows_tracer.push(&events).expect("valid"), flows_tracer.finish()];
    let flows = rows.map(|rows| rows.arrivals.and_then(|all| all.flows).expect("as asked for"));
    let arrivals = events.events.iter().filter(|event| event.kind.is_arrival());
    let expected: Vec<(u64, bool)> =
        arrivals.map(|event| (event.flow_hash, event.flags & 1 == 1)).collect();
    let found = flows.iter().flat_map(|flows| flows.hash.iter().zip(&flows.first_rtt));
    assert_eq!(found.map(|(&hash, &is)| (hash, is)).collect::<Vec<_>>(), expected);
    assert_eq!(tracer().push(&events).expect("valid").arrivals.unwrap().flows, None);
}

/// The row that each push-out is about, by looking at all rows before it: rows of dropped packets by
/// place in the input, and how many push-outs are of none.
fn real_drops(events: &[Event]) -> (Vec<Option<DropReason>>, u64) {
    let mut rows: Vec<(Event, Option<DropReason>)> = Vec::new();
    let mut unmatched = 0;
    for &event in events {
        match event.kind {
            EventKind::Departure | EventKind::Pause | EventKind::Resume => {}
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
                tracer.push(&EventBatch::new(events.to_vec())).expect("valid events")
            };
            let mut batches: Vec<_> = events.chunks(batch_rows).map(push).collect();
            let unmatched = tracer.unmatched_push_outs();
            batches.push(tracer.finish());
            (batches, unmatched)
        };
        let (batches, unmatched) = run(&events);
        let (expected, expected_unmatched) = real_drops(&events);
        let reasons: Vec<Option<DropReason>> = batches
            .iter()
            .flat_map(|batch| batch.real_drop.clone().unwrap_or_else(|| vec![None; batch.len()]))
            .collect();
        prop_assert_eq!(unmatched, expected_unmatched);
        prop_assert_eq!(reasons, expected);

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
    let mut push = |event: Event| tracer.push(&EventBatch::new(vec![event])).expect("valid");
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
    let first = EventBatch::new(vec![arrival(0, 7, 0), arrival(0, 7, 0)]);
    assert_eq!(tracer.push(&first).expect("valid").len(), 1, "the second waits for the port");
    let later = EventBatch::new(vec![arrival(50, 8, 0)]);
    assert_eq!(tracer.push(&later).expect("valid").len(), 2, "all have left by then");
}

#[test]
fn rows_that_wait_are_limited() {
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 10, 100);
    let settings = CollectSettings { departures: Departures::Observed, ..Default::default() };
    let mut tracer = Tracer::new(SwitchSpecs::Same(spec), settings, FeatureSet::paper4())
        .with_max_waiting_rows(3);
    let batch = EventBatch::new((0..4).map(|time| arrival(time, 0, 1)).collect());
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
            .push(&EventBatch::new(vec![event]))
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
    let rows = tracer.push(&EventBatch::new((0..3).map(huge).collect())).expect("valid");
    assert_eq!(rows.outcome.expect("traced"), [Outcome::Departed], "it is on the wire");
    let rest = tracer.finish();
    assert_eq!(rest.outcome.expect("traced"), [Outcome::Departed, Outcome::Rejected]);
    assert_eq!(rest.features[0], [0, 4_000_000_000]);
}
