//! Labelled traces as data frames: what comes out is what went in.
#![cfg(feature = "polars")]
#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use dropcast_data::{Departures, SwitchSpecs, TraceMeta};
use dropcast_pipeline::collect::collect_in_memory;
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_pipeline::traces::frames::{trace_from_frame, traces_to_frame};
use dropcast_pipeline::traces::{LabelledTrace, LabelledTraces};
use dropcast_pipeline::train::{choose_split, train_on};
use dropcast_simulate::LeafWorkload;

fn trace(seed: u64) -> LabelledTrace {
    let workload = LeafWorkload::small(seed);
    let specs = SwitchSpecs::Same(workload.switch_spec().unwrap());
    let tracer = TracerSettings { departures: Departures::LineRate, ..TracerSettings::default() };
    collect_in_memory("leaf", workload.arrivals().unwrap(), specs, &tracer).unwrap()
}

fn model(trace: LabelledTrace) -> String {
    let settings = TrainSettings::default();
    let traces = LabelledTraces::new(vec![trace], &settings.features).unwrap();
    let split = choose_split(&traces, &settings.split.check().unwrap(), &Silent).unwrap();
    let fitted = train_on(&traces, &split, &settings, &Resources::default(), &Silent).unwrap();
    fitted.model.to_json()
}

#[test]
fn a_trace_through_a_frame_trains_the_same_model() {
    let trace = trace(7);
    let features = trace.meta.features.join(",").parse().unwrap();
    let traces = LabelledTraces::new(vec![trace.clone()], &features).unwrap();
    let frame = traces_to_frame(&traces).unwrap();
    let columns = 6 + trace.meta.features.len() + 2;
    assert!(frame.height() > 1_000 && frame.width() == columns, "{frame:?}");
    let back = trace_from_frame("leaf", &frame, trace.meta.clone()).unwrap();
    assert_eq!(back.origin, trace.origin, "the hash of the rows is the same");
    assert_eq!(model(back), model(trace));
}

#[test]
fn a_frame_that_is_no_trace_is_refused() {
    let trace = trace(7);
    let two = vec![trace.clone(), self::trace(8)];
    let features = "occupancy".parse().unwrap();
    let frame = traces_to_frame(&LabelledTraces::new(two, &features).unwrap()).unwrap();
    let refused = |meta: TraceMeta| trace_from_frame("x", &frame, meta).unwrap_err().to_string();
    let meta = TraceMeta { features: vec!["occupancy".to_owned()], ..trace.meta.clone() };
    assert_eq!(refused(meta), "x: has rows of several runs; make a trace of each");
    assert!(refused(trace.meta).starts_with("x: has no column \"queue_length\"; it has "));
}
