//! A training reads its traces once, if their rows fit into memory.

use dropcast_arrivals::LeafWorkload;
use dropcast_data::{DataError, Departures, SwitchSpecs};
use dropcast_measure::measure::{ReportRows, measure};
use dropcast_measure::oracle_gain::{OracleGain, oracle_gain};
use dropcast_measure::verdict::AskedPolicies;
use dropcast_measure::{ModelSource, Report};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::collect::collect_in_memory;
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::{MemoryLimit, Resources};
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_pipeline::traces::{LabelledTrace, LabelledTraces, TraceBatches, TraceRows};
use dropcast_pipeline::train::{Roles, train_on};
use dropcast_train::TrainedModel;
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
    let roles = Roles::of(vec![counted]);
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
    let trace = leaf(7);
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

/// A trace of a leaf switch.
fn leaf(seed: u64) -> LabelledTrace {
    let workload = LeafWorkload::small(seed);
    let switch = SwitchSpecs::Same(workload.switch_spec().expect("valid"));
    let tracer = TracerSettings { departures: Departures::LineRate, ..Default::default() };
    let arrivals = workload.arrivals().expect("valid");
    collect_in_memory("leaf", arrivals, switch, &tracer).expect("valid")
}

/// A model that was trained on a trace, with the default settings.
fn model_of(trace: &LabelledTrace) -> TrainedModel {
    let roles = Roles::of(vec![trace.clone()]);
    let settings = TrainSettings::default();
    let (traces, chosen) = roles.divided(&settings, 1 << 28, &Silent).expect("valid");
    train_on(&traces, &chosen, &settings, &Resources::default(), &Silent).expect("valid").model
}

fn report(
    model: &TrainedModel,
    traces: &[&LabelledTrace],
    rows: ReportRows,
) -> Result<Report, PipelineError> {
    let traces = traces.iter().map(|&trace| trace.clone()).collect();
    let traces = LabelledTraces::for_model(traces, model)?;
    let asked = AskedPolicies::default();
    measure(model, ModelSource::default(), &traces, rows, &asked, &Silent)
}

/// The rows that trained are known wherever they are, also with other columns.
#[test]
fn rows_that_trained_are_known_in_another_file() {
    let trace = leaf(7);
    let mut model = model_of(&trace);
    let mut meta = trace.meta.clone();
    meta.features = model.features.names();
    let rows = trace.read(&meta.features).expect("valid").map(|batch| batch.expect("valid"));
    let other = LabelledTrace::in_memory("other", meta, rows.collect()).expect("even columns");
    assert_ne!(other.origin.sha256, trace.origin.sha256);
    for trace in [&trace, &other] {
        let of = |rows| report(&model, &[trace], rows).expect("valid").traces.remove(0);
        let (unseen, all) = (of(ReportRows::Unseen), of(ReportRows::All));
        assert!(unseen.held_out && unseen.rows < all.rows, "{}", trace.name);
        assert_eq!((unseen.in_training_data, all.in_training_data), (Some(false), Some(true)));
    }
    // An earlier build numbered traces by their files.
    model.provenance.as_mut().expect("trained").data[0].run ^= 1;
    let error = report(&model, &[&trace], ReportRows::Unseen).expect_err("refused").to_string();
    assert!(error.contains("earlier build"), "{error}");
    let all = report(&model, &[&trace], ReportRows::All).expect("valid");
    assert_eq!(all.traces[0].in_training_data, Some(true));
}

/// The sample that features are permuted on is of the rows, not of the order of their files.
#[test]
fn importance_does_not_depend_on_the_order_of_traces() {
    let [trained, one, other] = [7, 8, 9].map(leaf);
    let model = model_of(&trained);
    let of = |traces: &[&LabelledTrace]| {
        report(&model, traces, ReportRows::Unseen).expect("valid").importance
    };
    assert_eq!(of(&[&one, &other]), of(&[&other, &one]));
}

/// What is set instead of a model is named with its gain.
#[test]
fn a_gain_names_what_does_as_well_as_the_model() {
    let trace = leaf(7);
    let cautions = |vote: &str| {
        let roles = Roles::of(vec![trace.clone()]);
        let vote = Some(vote.parse().expect("a rule"));
        let settings = TrainSettings { vote, ..TrainSettings::default() };
        let (traces, chosen) = roles.divided(&settings, 1 << 28, &Silent).expect("valid");
        let model = train_on(&traces, &chosen, &settings, &Resources::default(), &Silent)
            .expect("valid")
            .model;
        let two = NonZeroUsize::new(2).expect("not 0");
        let gain = oracle_gain(&model, &traces, &chosen.split, settings.seed, two).expect("valid");
        let OracleGain { section, cautions } = gain.expect("it can be replayed");
        let over_alpha = section.best_alpha.expect("replayed").gain.bytes;
        let of_alpha = cautions.iter().any(|caution| caution.contains("needs no oracle"));
        assert_eq!(of_alpha, over_alpha < 0, "{vote:?}: {cautions:?}");
        cautions
    };
    cautions("credence");
    // It predicts nothing.
    let silent = cautions("fixed:0.999");
    let is_of_one = |caution: &String| caution.starts_with("one comparison, level_");
    assert!(silent.iter().any(is_of_one), "{silent:?}");
}
