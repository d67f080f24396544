//! The same rows give the same model, to the byte: however they are stored, with whatever other
//! columns, and in whatever order their traces are given.

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{Field, Schema};
use dropcast_arrivals::LeafWorkload;
use dropcast_data::{
    Departures, Frame, LabelledBatch, RowOrder, SwitchSpecs, TraceMeta, TraceWriter,
};
use dropcast_features::FeatureSet;
use dropcast_pipeline::collect::collect_in_memory;
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_pipeline::traces::{LabelledTrace, LabelledTraces};
use dropcast_pipeline::train::cross_validation::Folds;
use dropcast_pipeline::train::partitions::{PartitionedTraining, TracePartition, TraceSummary};
use dropcast_pipeline::train::{Roles, TaskResults, TrainTask, train_on};
use dropcast_train::{TrainedModel, merge_answers};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FILE: &str = "trace.parquet";

/// A trace of a leaf switch, in memory.
fn in_memory(seed: u64) -> LabelledTrace {
    let workload = LeafWorkload::small(seed);
    let switch = SwitchSpecs::Same(workload.switch_spec().expect("valid"));
    let tracer = TracerSettings { departures: Departures::LineRate, ..Default::default() };
    let arrivals = workload.arrivals().expect("valid");
    collect_in_memory(FILE, arrivals, switch, &tracer).expect("valid")
}

/// The same in a file, as `collect` writes it.
fn collected(folder: &Path, trace: &LabelledTrace) -> PathBuf {
    let path = folder.join(FILE);
    let mut writer = TraceWriter::create(&path, &trace.meta).expect("valid");
    for batch in trace.read(&trace.meta.features).expect("valid") {
        writer.write(&batch.expect("valid")).expect("valid");
    }
    writer.finish().expect("valid");
    path
}

/// The table of a file: its columns and rows, without or with two more columns, and the footer's
/// texts.
fn table(path: &Path, with_more: bool) -> (RecordBatch, Vec<KeyValue>) {
    let file = File::open(path).expect("it is there");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("valid");
    let texts = reader.metadata().file_metadata().key_value_metadata().cloned();
    let texts = texts.unwrap_or_default().into_iter();
    let texts = texts.filter(|text| text.key.starts_with("dropcast")).collect();
    let schema = Arc::clone(reader.schema());
    let mut batches = reader.with_batch_size(1 << 24).build().expect("valid");
    let all = batches.next().expect("rows").expect("valid");
    assert!(batches.next().is_none());
    if !with_more {
        return (all, texts);
    }
    let rows = all.num_rows() as u32;
    let more: [(&str, ArrayRef); 2] = [
        ("own", Arc::new(UInt32Array::from_iter_values((0..rows).map(|row| row * 31 % 1_000)))),
        ("note", Arc::new(StringArray::from_iter_values((0..rows).map(|row| row.to_string())))),
    ];
    let mut columns: Vec<ArrayRef> = all.columns().to_vec();
    let mut fields: Vec<Field> = schema.fields().iter().map(|field| (**field).clone()).collect();
    for (place, (name, column)) in more.into_iter().enumerate() {
        fields.insert(3 * place, Field::new(name, column.data_type().clone(), false));
        columns.insert(3 * place, column);
    }
    (RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("valid"), texts)
}

/// The table in a file of a folder of its own.
fn rewritten(
    folder: &Path,
    (table, texts): &(RecordBatch, Vec<KeyValue>),
    codec: Compression,
    group_rows: usize,
) -> PathBuf {
    std::fs::create_dir_all(folder).expect("a folder");
    let path = folder.join(FILE);
    let properties = WriterProperties::builder()
        .set_compression(codec)
        .set_max_row_group_row_count(Some(group_rows))
        .set_key_value_metadata(Some(texts.clone()))
        .build();
    let file = File::create(&path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, table.schema(), Some(properties)).expect("valid");
    writer.write(table).expect("valid");
    writer.close().expect("valid");
    path
}

/// The text of a model without the hashes of the files that trained it: all that may differ.
fn text(model: &TrainedModel) -> String {
    let mut model = model.clone();
    let provenance = model.provenance.as_mut().expect("it was trained");
    provenance.data.iter_mut().for_each(|origin| origin.sha256.clear());
    model.to_json()
}

fn trained(data: Vec<LabelledTrace>, settings: &TrainSettings) -> TrainedModel {
    let resources = Resources::default();
    let (traces, chosen) =
        Roles::of(data).divided(settings, resources.kept_bytes(), &Silent).expect("divided");
    train_on(&traces, &chosen, settings, &resources, &Silent).expect("trained").model
}

fn opened(path: &Path) -> LabelledTrace {
    LabelledTrace::open(path, &TrainSettings::default().features.names()).expect("a trace")
}

/// Trains on partitions of a file, without rules that replay.
fn in_partitions(path: &Path, settings: &TrainSettings) -> TrainedModel {
    let summary = TraceSummary::read(path, &settings.features).expect("a trace");
    let roles = Roles::of(vec![summary]);
    let mut training = PartitionedTraining::new(&roles, settings, &Silent).expect("valid");
    let three = NonZeroUsize::new(3).expect("not 0");
    let resources = Resources::default();
    let begin = |spec| TracePartition::new(spec, &resources).expect("valid");
    let mut workers: Vec<TracePartition> = training.partitions(three).iter().map(begin).collect();
    while let Some(question) = training.question() {
        let answers = workers.iter_mut().map(|worker| worker.answer(&question).expect("answered"));
        training.receive(&merge_answers(answers).expect("merged")).expect("received");
    }
    training.fitted().expect("it is trained").model.clone()
}

fn settings(text: &str) -> TrainSettings {
    serde_json::from_str(text).expect("valid")
}

#[test]
fn the_model_does_not_depend_on_how_rows_are_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = in_memory(7);
    let file = collected(folder.path(), &memory);
    let mut files = vec![file.clone()];
    for with_more in [false, true] {
        let table = table(&file, with_more);
        let codecs = [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::default()),
            Compression::ZSTD(ZstdLevel::default()),
            Compression::LZ4_RAW,
        ];
        for codec in codecs {
            for group_rows in [1_000, 1 << 20] {
                let name = format!("{codec}-{group_rows}-{with_more}");
                files.push(rewritten(&folder.path().join(name), &table, codec, group_rows));
            }
        }
    }
    for text_of in
        [r#"{"vote": "f1"}"#, r#"{"vote": "f1", "split": {"by": "random"}, "n_estimators": 9}"#]
    {
        let settings = settings(text_of);
        let expected = text(&trained(vec![memory.clone()], &settings));
        for path in &files {
            let found = text(&trained(vec![opened(path)], &settings));
            assert!(found == expected, "{} {text_of}", path.display());
        }
        for path in [&files[3], &files[20]] {
            assert!(text(&in_partitions(path, &settings)) == expected, "{}", path.display());
        }
        for with_more in [false, true] {
            let (table, texts) = table(&file, with_more);
            let texts = texts.into_iter().map(|text| (text.key, text.value.unwrap_or_default()));
            let schema = table.schema().as_ref().clone().with_metadata(texts.collect());
            let cut = table.num_rows() / 3;
            let batches = [table.slice(0, cut), table.slice(cut, table.num_rows() - cut)];
            let frame = Frame::new(FILE, Arc::new(schema), batches.to_vec()).expect("alike");
            let frame = LabelledTrace::of_frame(frame, None).expect("a trace");
            assert!(text(&trained(vec![frame], &settings)) == expected, "frame {with_more}");
        }
    }
}

/// Another tool may lose the footer's texts. Then only what they say is missing.
#[test]
fn a_footer_without_texts_loses_only_what_they_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = in_memory(7);
    let file = collected(folder.path(), &memory);
    let (table, _) = table(&file, true);
    let bare =
        rewritten(&folder.path().join("bare"), &(table, Vec::new()), Compression::SNAPPY, 1_000);
    let settings = settings(r#"{"vote": "f1", "split": {"by": "random"}}"#);
    let expected = trained(vec![memory], &settings);
    let found = trained(vec![opened(&bare)], &settings);
    assert!(expected.switch != found.switch && expected.forest == found.forest);
    let scores =
        |model: TrainedModel| model.metrics.map(|metrics| metrics.test.map(|test| test.confusion));
    assert_eq!(scores(expected), scores(found));
}

/// Rows without arrivals are known by their labels.
#[test]
fn rows_without_arrivals_are_drawn_alike_with_other_columns() {
    let labels: Vec<bool> = (0..5_000_u64).map(|row| row * row % 11 == 3).collect();
    let bare = |name: &str, columns: &[(&str, u32)], drop: &[bool]| {
        let features = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let value = |(row, &drop): (usize, &bool), factor| {
            row as u32 * factor % 997 + u32::from(drop) * 300
        };
        let column = |&(_, factor): &(&str, u32)| {
            drop.iter().enumerate().map(|row| value(row, factor)).collect()
        };
        let batch = LabelledBatch {
            features: columns.iter().map(column).collect(),
            drop: drop.to_vec(),
            ..LabelledBatch::default()
        };
        let meta = TraceMeta::unknown(RowOrder::Departure, features);
        LabelledTrace::in_memory(name, meta, vec![batch]).expect("even columns")
    };
    let text_of =
        r#"{"vote": "f1", "split": {"by": "random"}, "features": ["queue_length", "occupancy"]}"#;
    let settings = settings(text_of);
    let two = [("queue_length", 31), ("occupancy", 57)];
    let three = [("rank", 5), ("occupancy", 57), ("queue_length", 31)];
    let expected = trained(vec![bare("rows", &two, &labels)], &settings);
    assert_eq!(text(&trained(vec![bare("rows", &three, &labels)], &settings)), text(&expected));
    let others: Vec<bool> = labels.iter().rev().copied().collect();
    let forest = trained(vec![bare("rows", &two, &others)], &settings).forest;
    assert!(forest != expected.forest);
    // Whether these are the same rows is not known.
    let both = vec![bare("a", &two, &labels), bare("b", &[("queue_length", 3), two[1]], &labels)];
    let error = LabelledTraces::new(both, &settings.features).expect_err("refused").to_string();
    assert!(error.contains("b: has as many rows as a, with the same labels"), "{error}");
}

#[test]
fn traces_may_be_given_in_any_order() {
    let names = ["a", "b", "c"];
    let named = |(name, seed): (&str, u64)| {
        let mut trace = in_memory(seed);
        trace.origin.name = name.to_owned();
        trace
    };
    let traces: Vec<LabelledTrace> = names.into_iter().zip([7, 8, 9]).map(named).collect();
    let orders = [[0, 1, 2], [2, 0, 1], [1, 0, 2]];
    let in_order = |order: [usize; 3]| order.map(|at| traces[at].clone()).to_vec();
    for text_of in [
        "{}",
        r#"{"vote": "f1", "split": {"by": "random"}}"#,
        r#"{"vote": "f1", "split": {"by": "time-blocks"}, "budget": "ternary-entries=64"}"#,
        r#"{"vote": "f1", "refit_leaves": 1.0}"#,
    ] {
        let settings = settings(text_of);
        let expected = trained(in_order(orders[0]), &settings).to_json();
        for order in orders {
            assert!(
                trained(in_order(order), &settings).to_json() == expected,
                "{text_of} {order:?}"
            );
        }
    }
    let settings = TrainSettings::default();
    let over_runs = |order| {
        let task = TrainTask { cross_validate: Some(Folds::Runs), ..TrainTask::default() };
        let open = Roles::of(in_order(order));
        let trained = task.train(&open, None, &Resources::default(), &Silent, |_, _, _| Ok(()));
        let trained = trained.expect("valid");
        let TaskResults::Folds(found) = trained.found else { panic!("folds are asked for") };
        let mut folds: Vec<String> =
            found.folds.iter().map(|fold| format!("{:?}", fold.test)).collect();
        folds.sort_unstable();
        (folds, trained.fitted.model.to_json())
    };
    assert!(over_runs(orders[0]) == over_runs(orders[1]));
    let apart = |order: [usize; 3]| {
        let [data, one, other] = order.map(|at| traces[at].clone());
        let roles = Roles { test: vec![one, other], ..Roles::of(vec![data]) };
        let (traces, chosen) = roles.divided(&settings, 1 << 28, &Silent).expect("divided");
        let trained = train_on(&traces, &chosen, &settings, &Resources::default(), &Silent);
        trained.expect("trained").model.to_json()
    };
    assert!(apart([0, 1, 2]) == apart([0, 2, 1]));
}

#[test]
fn rows_that_are_given_twice_are_refused_in_any_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = collected(folder.path(), &in_memory(7));
    let other =
        rewritten(&folder.path().join("gzip"), &table(&file, true), Compression::SNAPPY, 99);
    let all = vec![opened(&file), opened(&other)];
    assert_ne!(all[0].origin.sha256, all[1].origin.sha256);
    let error = LabelledTraces::new(all, &FeatureSet::paper4()).expect_err("refused").to_string();
    assert!(error.contains("has the same rows as"), "{error}");
    // No rows are nobody's.
    let empty = |name: &str| {
        let meta = TraceMeta::unknown(RowOrder::Arrival, Vec::new());
        LabelledTrace::in_memory(name, meta, Vec::new()).expect("even columns")
    };
    LabelledTraces::new(vec![empty("a"), empty("b")], &FeatureSet::none()).expect("two traces");
}
