//! Speed of the tracer on generated arrivals: one core, without reading files.
//!
//! `cargo bench -p dropcast --bench tracer` prints events per second for each way of draining the
//! queues and each set of features. Fixed seed; the fastest of several passes counts, because other
//! load only slows a pass down.

use dropcast_collect::Tracer;
use dropcast_data::{
    CollectSettings, Departures, EventBatch, EventKind, LabelledBatch, SwitchSpec, SwitchSpecs,
};
use dropcast_features::FeatureSet;
use dropcast_simulate::LeafWorkload;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

const PASSES: usize = 5;

fn main() -> std::io::Result<()> {
    let workload = LeafWorkload::default();
    let spec = workload.switch_spec().expect("the defaults are valid");
    let arrivals: Vec<EventBatch> = workload.arrivals().expect("the defaults are valid").collect();
    let both = with_departures(&spec, &arrivals);
    let sets = [FeatureSet::paper4(), FeatureSet::level4(), FeatureSet::all()];
    let mut out = std::io::stdout().lock();
    for (departures, events) in [(Departures::LineRate, &arrivals), (Departures::Observed, &both)] {
        for set in &sets {
            let settings = CollectSettings { departures, ..CollectSettings::default() };
            let (events, rate) = fastest(&spec, settings, set, events);
            writeln!(
                out,
                "tracer {departures:10} {:2} features from {:20} {events:9} events  {:6.1} M events/s",
                set.len(),
                set.features()[0],
                rate / 1e6
            )?;
        }
    }
    Ok(())
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
            events.push(dropcast_data::Event { time_ns, kind: EventKind::Departure, ..*event });
        }
    }
    events.sort_by_key(|event| event.time_ns);
    events.chunks(65_536).map(|events| EventBatch::new(events.to_vec())).collect()
}
