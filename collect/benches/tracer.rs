//! Speed of the tracer on generated arrivals: one core, without reading files.
//!
//! `cargo bench -p dropcast-collect --bench tracer` prints events per second for each way of draining the
//! queues and each set of features, on two switches; at line rate also with reserved bytes for each queue
//! and with pauses. The lines `followers` label rows that are traced by what follows them, without tracing them. Words after `--`
//! choose among the lines. Fixed seed; the fastest of several passes counts, because other load only slows a pass down.

use dropcast_arrivals::LeafWorkload;
use dropcast_collect::{FollowerLabels, Tracer};
use dropcast_data::{
    CollectSettings, Departures, Event, EventBatch, EventKind, LabelledBatch, SwitchSpec,
    SwitchSpecs,
};
use dropcast_features::FeatureSet;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

const PASSES: usize = 9;

/// Beside the shared buffer, for each queue of the lines `reserved`: two packets.
const RESERVED_BYTES: u32 = 3_000;

/// In the lines `pauses`, one packet in so many is followed by a pause of its queue.
const ARRIVALS_PER_PAUSE: usize = 20;
/// How long pauses last: about the time in which a port sends eight packets.
const PAUSE_NS: u64 = 10_000;

fn main() -> std::io::Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let is_wanted = |case: &str| wanted.iter().all(|word| case.contains(word));
    let mut out = std::io::stdout().lock();
    for (name, workload) in
        [("20 ports x 2 queues", leaf as fn() -> _), ("128 ports x 8 queues", wide)]
    {
        for kind in ["line-rate", "observed", "reserved", "pauses"] {
            let case = |set: &FeatureSet| {
                let set = set.name().unwrap_or("all");
                format!("tracer {name:20} {kind:10} {set:8}")
            };
            let mut sets = vec![FeatureSet::paper4(), FeatureSet::level4(), FeatureSet::all()];
            sets.retain(|set| is_wanted(&case(set)));
            if sets.is_empty() {
                continue;
            }
            let (spec, events) = prepared(kind, workload());
            let departures = match kind {
                "observed" => Departures::Observed,
                _ => Departures::LineRate,
            };
            let settings = CollectSettings { departures, ..CollectSettings::default() };
            for set in sets {
                let (events, rate) = fastest(&spec, settings, &set, &events);
                writeln!(out, "{} {events:9} events  {:6.1} M events/s", case(&set), rate / 1e6)?;
            }
        }
        let case = format!("followers {name:20}");
        if is_wanted(&case) {
            let (spec, events) = workload();
            let (rows, rate) = followers(&spec, &events);
            writeln!(out, "{case} {rows:9} events  {:6.1} M events/s", rate / 1e6)?;
        }
    }
    Ok(())
}

/// What a line traces: the arrivals alone, or with departures, with reserved bytes for each queue, or with
/// pauses among them.
fn prepared(
    kind: &str,
    (spec, arrivals): (SwitchSpec, Vec<EventBatch>),
) -> (SwitchSpec, Vec<EventBatch>) {
    match kind {
        "observed" => {
            let events = with_departures(&spec, &arrivals);
            (spec, events)
        }
        "reserved" => {
            let reserved_bytes = vec![RESERVED_BYTES; usize::from(spec.queues_per_port)];
            (SwitchSpec { reserved_bytes, ..spec }, arrivals)
        }
        "pauses" => (spec, with_pauses(arrivals)),
        _ => (spec, arrivals),
    }
}

/// The default leaf: 20 ports of 2 queues.
fn leaf() -> (SwitchSpec, Vec<EventBatch>) {
    let workload = LeafWorkload::loaded();
    let spec = workload.switch_spec().expect("the defaults are valid");
    let arrivals = workload.arrivals().expect("the defaults are valid").collect();
    (spec, arrivals)
}

/// A leaf of 128 ports, with its data in seven queues of each, by flow.
fn wide() -> (SwitchSpec, Vec<EventBatch>) {
    let workload = LeafWorkload {
        servers: 112,
        uplinks: 16,
        buffer_bytes: 6_736_896,
        load: 0.6,
        incast_per_server_hz: 8.0,
        outgoing_incast_per_server_hz: 10.0,
        duration_ns: 50_000_000,
        ..LeafWorkload::loaded()
    };
    let narrow = workload.switch_spec().expect("its ports are valid");
    let spec = SwitchSpec {
        queues_per_port: 8,
        shared: vec![true; 8],
        pushable: [vec![false], vec![true; 7]].concat(),
        ..narrow
    };
    let mut arrivals: Vec<EventBatch> = workload.arrivals().expect("its ports are valid").collect();
    for event in arrivals.iter_mut().flat_map(|batch| &mut batch.events) {
        event.queue *= 1 + (event.flow_hash % 7) as u8;
    }
    (spec, arrivals)
}

/// Number of events, and events per second in the fastest pass.
fn fastest(
    spec: &SwitchSpec,
    settings: CollectSettings,
    set: &FeatureSet,
    events: &[EventBatch],
) -> (usize, f64) {
    let count = events.iter().map(|batch| batch.events.len()).sum::<usize>();
    let seconds = (0..PASSES)
        .map(|_| {
            let mut tracer = Tracer::new(SwitchSpecs::Same(spec.clone()), settings, set.clone());
            let start = Instant::now();
            for batch in events {
                black_box(tracer.push(batch).expect("generated events are valid"));
            }
            black_box(tracer.finish());
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    (count, count as f64 / seconds)
}

/// Number of rows, and rows per second in the fastest pass of labelling them by what follows.
fn followers(spec: &SwitchSpec, events: &[EventBatch]) -> (usize, f64) {
    let specs = SwitchSpecs::Same(spec.clone());
    let settings = CollectSettings::default();
    let mut tracer = Tracer::new(specs.clone(), settings, FeatureSet::none()).with_flows();
    let push = |batch| tracer.push(batch).expect("generated events are valid");
    let mut rows: Vec<LabelledBatch> = events.iter().map(push).collect();
    rows.push(tracer.finish());
    let count = rows.iter().map(LabelledBatch::len).sum::<usize>();
    let seconds = (0..PASSES)
        .map(|_| {
            let rows = rows.clone();
            let mut labels = FollowerLabels::new(specs.clone());
            let start = Instant::now();
            rows.into_iter().for_each(|batch| drop(black_box(labels.push(batch))));
            labels.finish().for_each(|batch| drop(black_box(batch)));
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    (count, count as f64 / seconds)
}

/// The arrivals, and pauses of queues that packets have just arrived for.
fn with_pauses(arrivals: Vec<EventBatch>) -> Vec<EventBatch> {
    let mut events: Vec<Event> = arrivals.into_iter().flat_map(|batch| batch.events).collect();
    let paused = events.iter().step_by(ARRIVALS_PER_PAUSE);
    let pause = |event: &Event| {
        let until_ns = event.time_ns + PAUSE_NS;
        let resume = Event { time_ns: until_ns, kind: EventKind::Resume, ..*event };
        [Event { kind: EventKind::Pause, ..*event }, resume]
    };
    let pauses: Vec<Event> = paused.flat_map(pause).collect();
    events.extend(pauses);
    batches(events)
}

/// The arrivals with the departures of a line-rate LQD switch among them, as its trace would
/// show: one per packet that LQD transmits, at the earliest time its port can start it.
fn with_departures(spec: &SwitchSpec, arrivals: &[EventBatch]) -> Vec<EventBatch> {
    let settings = CollectSettings::default();
    let mut tracer = Tracer::new(SwitchSpecs::Same(spec.clone()), settings, FeatureSet::paper4());
    let mut labelled: Vec<LabelledBatch> = Vec::new();
    for batch in arrivals {
        labelled.push(tracer.push(batch).expect("generated events are valid"));
    }
    labelled.push(tracer.finish());
    let mut dropped = labelled.iter().flat_map(|rows| rows.drop.iter().copied());

    let mut free_ns = vec![0; spec.ports()];
    let mut events = Vec::new();
    for event in arrivals.iter().flat_map(|batch| &batch.events) {
        events.push(*event);
        if !dropped.next().unwrap_or(false) {
            let port = usize::from(event.port);
            let time_ns = event.time_ns.max(free_ns[port]);
            free_ns[port] = time_ns + spec.wire_time_ns(port, event.size_bytes);
            events.push(Event { time_ns, kind: EventKind::Departure, ..*event });
        }
    }
    batches(events)
}

/// The events in order of time.
fn batches(mut events: Vec<Event>) -> Vec<EventBatch> {
    events.sort_by_key(|event| event.time_ns);
    events.chunks(65_536).map(|events| EventBatch::new(events.to_vec())).collect()
}
