//! Training on partitions of traces gives the model of the whole, to the byte.

use dropcast_arrivals::LeafWorkload;
use dropcast_collect::Tracer;
use dropcast_data::{
    CollectSettings, Departures, Event, EventBatch, SwitchSpecs, TraceMeta, TraceWriter,
};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::{MemoryLimit, Resources};
use dropcast_pipeline::settings::TrainSettings;
use dropcast_pipeline::train::partitions::{
    PartitionSpec, PartitionedTraining, ReplayTask, ReplayedLanes, TracePartition, TraceSummary,
};
use dropcast_pipeline::train::{Roles, train_on};
use dropcast_train::merge_answers;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// A trace of several leaf switches, whose rows alternate.
fn trace(folder: &Path, name: &str, seeds: &[u64]) -> PathBuf {
    let mut events: Vec<Event> = Vec::new();
    let mut spec = None;
    for (switch, &seed) in (0..).zip(seeds) {
        let workload = LeafWorkload::small(seed);
        spec = Some(workload.switch_spec().expect("valid"));
        for batch in workload.arrivals().expect("valid") {
            events.extend(batch.events.iter().map(|event| Event { switch_id: switch, ..*event }));
        }
    }
    events.sort_by_key(|event| event.time_ns);
    let features = TrainSettings::default().features;
    let specs = SwitchSpecs::Same(spec.expect("valid"));
    let settings =
        CollectSettings { departures: Departures::LineRate, ..CollectSettings::default() };
    let mut meta = TraceMeta::new("dropcast test", specs.clone(), features.names());
    meta.collect = Some(settings);
    let path = folder.join(name);
    let mut writer = TraceWriter::create(&path, &meta).expect("valid");
    let tracer = Tracer::new(specs, settings, features);
    let batches = [Ok::<_, PipelineError>(EventBatch::new(events))];
    for rows in dropcast_collect::trace(tracer, batches) {
        writer.write(&rows.expect("valid")).expect("valid");
    }
    writer.finish().expect("valid");
    path
}

/// What comes out at a worker, where it goes as JSON.
fn sent<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).expect("valid")).expect("valid")
}

/// The model, from `count` partitions. They begin anew before each question if `forgets`.
fn partitioned(
    roles: &Roles<PathBuf>,
    settings: &TrainSettings,
    count: usize,
    forgets: bool,
    resources: &Resources,
) -> Result<String, PipelineError> {
    let summaries = |paths: &[PathBuf]| -> Result<Vec<TraceSummary>, PipelineError> {
        let read = |path: &PathBuf| Ok(sent(&TraceSummary::read(path, &settings.features)?));
        paths.iter().map(read).collect()
    };
    let by_role = roles.map(summaries)?;
    let count = NonZeroUsize::new(count).expect("valid");
    let mut training = PartitionedTraining::new(&by_role, settings, &Silent)?;
    let specs: Vec<PartitionSpec> = training.partitions(count).iter().map(sent).collect();
    let begin = || specs.iter().map(|spec| TracePartition::new(spec, resources));
    let mut workers = begin().collect::<Result<Vec<_>, _>>()?;
    while let Some(question) = training.question() {
        if forgets {
            workers = begin().collect::<Result<Vec<_>, _>>()?;
        }
        let mut answers = Vec::new();
        for worker in &mut workers {
            answers.push(worker.answer(&question)?);
        }
        training.receive(&merge_answers(answers)?)?;
    }
    loop {
        let tasks = training.replays(count);
        if tasks.is_empty() {
            break;
        }
        let mut sum = ReplayedLanes::default();
        for task in tasks.iter().map(sent::<ReplayTask>) {
            sum.merge(&sent(&task.replay(resources)?));
        }
        training.receive_replayed(&sum)?;
    }
    Ok(training.fitted().expect("it is trained").model.to_json())
}

fn whole(roles: &Roles<PathBuf>, settings: &TrainSettings) -> Result<String, PipelineError> {
    let (resources, roles) = (Resources::default(), roles.open(&settings.features)?);
    let (traces, chosen) = roles.divided(settings, resources.kept_bytes(), &Silent)?;
    Ok(train_on(&traces, &chosen, settings, &resources, &Silent)?.model.to_json())
}

fn one_thread() -> Resources {
    Resources { threads: NonZeroUsize::new(1), memory: None }
}

fn settings(text: &str) -> TrainSettings {
    serde_json::from_str(text).expect("valid")
}

#[test]
fn any_number_of_partitions_gives_the_model_of_the_whole() {
    let folder = tempfile::tempdir().expect("valid");
    let several = trace(folder.path(), "several.parquet", &[1, 2, 3]);
    let one = trace(folder.path(), "one.parquet", &[9]);
    let divided = &Roles::of(vec![several.clone(), one.clone()]);
    let kept_apart = &Roles { test: vec![one], ..Roles::of(vec![several]) };
    let cases = [
        (divided, "{}"),
        (divided, r#"{"vote": "eta", "split": {"by": "time-blocks"}}"#),
        (divided, r#"{"vote": "f1", "split": {"by": "random"}, "n_estimators": 9}"#),
        (
            divided,
            r#"{"split": {"by": "switches", "test_switches": [1], "validation_switches": [2]}}"#,
        ),
        (kept_apart, r#"{"max_depth": 6, "min_samples_leaf": 5}"#),
    ];
    for (roles, text) in cases {
        let settings = settings(text);
        let expected = whole(roles, &settings).expect("valid");
        for count in [1, 2, 5] {
            let found =
                partitioned(roles, &settings, count, count == 2, &one_thread()).expect("valid");
            assert_eq!(found, expected, "{text} {count}");
        }
    }
    let memory = Some(MemoryLimit { mib: 0, beside: folder.path().join("spill") });
    let spilling = Resources { memory, ..one_thread() };
    let found = partitioned(divided, &settings("{}"), 3, false, &spilling).expect("valid");
    assert_eq!(found, whole(divided, &settings("{}")).expect("valid"));
}

#[test]
fn what_cannot_be_trained_is_refused_in_the_same_words() {
    let folder = tempfile::tempdir().expect("valid");
    let data = trace(folder.path(), "trace.parquet", &[4]);
    let roles = &Roles::of(vec![data.clone()]);
    let cases = [
        (roles, r#"{"max_bins": 1}"#),
        (roles, r#"{"split": {"by": "random"}, "vote": "credence"}"#),
        (roles, r#"{"split": {"by": "switches", "test_switches": [0]}}"#),
        (&Roles::of(vec![data.clone(), data]), "{}"),
    ];
    for (roles, text) in cases {
        let settings = settings(text);
        let expected = whole(roles, &settings).expect_err("refused").to_string();
        let found = partitioned(roles, &settings, 2, false, &one_thread()).expect_err("refused");
        assert_eq!(found.to_string(), expected, "{text}");
    }
    let budget = settings(r#"{"budget": "ternary-entries=64"}"#);
    let found =
        partitioned(roles, &budget, 2, false, &one_thread()).expect_err("refused").to_string();
    assert!(found.starts_with("budget: needs all rows in one place"), "{found}");
}
