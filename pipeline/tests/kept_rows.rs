//! A training reads its traces once, if their rows fit into memory.

use dropcast_data::{DataError, Departures, SwitchSpecs};
use dropcast_pipeline::collect::collect_in_memory;
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::report::oracle_gain::oracle_gain;
use dropcast_pipeline::resources::{MemoryLimit, Resources};
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_pipeline::traces::{LabelledTrace, TraceBatches, TraceRows};
use dropcast_pipeline::train::{OpenRoles, train_on};
use dropcast_simulate::LeafWorkload;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts how often a trace is read.
#[derive(Debug)]
struct CountedReads {
    trace: LabelledTrace,
    reads: AtomicUsize,
}

impl TraceRows for CountedReads {
    fn read(&self, features: &[String]) -> Result<Box<dyn TraceBatches + '_>, DataError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.trace.read(features)
    }
}

/// The model and its gain with the default settings, and how often the trace was read.
fn trained(trace: &LabelledTrace, most_kept_bytes: usize) -> (String, String, usize) {
    let rows = Arc::new(CountedReads { trace: trace.clone(), reads: AtomicUsize::new(0) });
    let LabelledTrace { name, origin, meta, .. } = trace.clone();
    let counted = LabelledTrace::new(name, origin, meta, Arc::<CountedReads>::clone(&rows));
    let roles = OpenRoles { data: vec![counted], ..OpenRoles::default() };
    let settings = TrainSettings::default();
    let (traces, chosen) = roles.divided(&settings, most_kept_bytes, &Silent).expect("valid");
    let fitted = train_on(&traces, &chosen, &settings, &Resources::default(), &Silent);
    let model = fitted.expect("valid").model;
    let gain = oracle_gain(&model, &traces, &chosen.split, settings.seed, NonZeroUsize::MIN)
        .expect("valid");
    (model.to_json(), format!("{gain:?}"), rows.reads.load(Ordering::Relaxed))
}

#[test]
fn a_training_reads_its_rows_once_and_no_result_depends_on_that() {
    let workload = LeafWorkload::small(7);
    let switch = SwitchSpecs::Same(workload.switch_spec().expect("valid"));
    let tracer = TracerSettings { departures: Departures::LineRate, ..Default::default() };
    let arrivals = workload.arrivals().expect("valid");
    let trace = collect_in_memory("leaf", arrivals, switch, &tracer).expect("valid");
    let (model, gain, reads) = trained(&trace, Resources::default().kept_bytes());
    assert_eq!(reads, 1);
    // Within a limit nothing is kept, and what does not fit is not.
    let memory = Some(MemoryLimit { mib: 1, beside: ".".into() });
    let within = Resources { memory, ..Resources::default() };
    for most_kept_bytes in [within.kept_bytes(), 1_000] {
        let again = trained(&trace, most_kept_bytes);
        assert!(again.0 == model && again.1 == gain, "{most_kept_bytes}");
        assert!(again.2 > 5, "{most_kept_bytes}: {}", again.2);
    }
}
