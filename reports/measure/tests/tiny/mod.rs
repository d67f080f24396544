//! A model of one tree and a trace of ten packets.

#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test file uses its part of it")]

pub mod leaf;
pub mod sweep;

use dropcast_data::{
    ArrivalColumns, CollectSettings, InputProvenance, LabelledBatch, Outcome, RowOrder, SwitchSpec,
    SwitchSpecs, TraceMeta,
};
use dropcast_features::FeatureSet;
use dropcast_forest::{FeatureRange, Forest, Node, SwitchContext, Tree};
use dropcast_measure::{ModelSource, Report, ReportBuilder, TraceSource};
use dropcast_train::TrainedModel;
use serde_json::Value;
use std::collections::BTreeSet;

/// Queue length up to 2 scores 0, up to 4 scores 100, more scores 200; above 50 is a drop.
pub fn model() -> TrainedModel {
    let split = |threshold, left, right| Node::Split { feature: 0, threshold, left, right };
    let leaf = |weight| Node::Leaf { weight };
    let nodes = vec![split(2, 1, 2), leaf(0), split(4, 3, 4), leaf(100), leaf(200)];
    let features: FeatureSet = "queue_length,occupancy".parse().expect("known features");
    let forest = Forest { features: Vec::new(), vote_threshold: 50, trees: vec![Tree { nodes }] };
    let switch = SwitchContext { ports: Some(2), ..SwitchContext::default() };
    let range = |highest| FeatureRange { lowest: 0, highest };
    TrainedModel {
        ranges: Some(vec![range(4), range(6)]),
        ..TrainedModel::new(forest, features, switch)
    }
}

pub fn model_source() -> ModelSource {
    ModelSource { name: Some("model.json".to_owned()), sha256: Some("ab".repeat(32)) }
}

/// Two ports that send a byte per nanosecond and share 6 bytes.
pub fn source(order: RowOrder) -> TraceSource {
    let columns: Vec<String> = ["queue_length", "occupancy"].map(str::to_owned).to_vec();
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 6, 1_000);
    let mut meta = TraceMeta::new("dropcast test", SwitchSpecs::Same(spec), columns.clone());
    meta.order = order;
    meta.collect = Some(CollectSettings::default());
    TraceSource { name: "tiny.parquet".to_owned(), meta, columns, run: None, held_out: false }
}

pub fn input() -> InputProvenance {
    InputProvenance {
        name: "tiny.parquet".to_owned(),
        sha256: "cd".repeat(32),
        events: 10,
        ..InputProvenance::default()
    }
}

pub fn batch() -> LabelledBatch {
    use Outcome::{Departed, PushedOut, Rejected};
    // (time, port, size, queue length, occupancy, outcome)
    let rows = [
        (0, 0, 1, 0, 0, Departed),
        (0, 0, 2, 0, 0, Departed),
        (0, 0, 2, 2, 2, Departed),
        (0, 0, 2, 4, 4, PushedOut),
        (1, 1, 1, 0, 5, Departed),
        (1, 1, 1, 0, 5, Departed),
        (1, 0, 1, 3, 6, Departed),
        (2, 1, 1, 2, 6, Rejected),
        (2, 0, 3, 5, 6, PushedOut),
        (9, 1, 1, 0, 1, Departed),
    ];
    LabelledBatch {
        arrivals: Some(ArrivalColumns {
            time_ns: rows.map(|row| row.0).to_vec(),
            switch_id: vec![0; 10],
            port: rows.map(|row| row.1).to_vec(),
            queue: vec![0; 10],
            size_bytes: rows.map(|row| row.2).to_vec(),
            flows: None,
        }),
        features: vec![rows.map(|row| row.3).to_vec(), rows.map(|row| row.4).to_vec()],
        drop: rows.map(|row| row.5.is_drop()).to_vec(),
        outcome: Some(rows.map(|row| row.5).to_vec()),
        real_drop: None,
        ecn_mark: None,
    }
}

/// The same rows, one in each batch.
pub fn single_rows() -> Vec<LabelledBatch> {
    let all = batch();
    let arrivals = all.arrivals.expect("has them");
    let one = |at: usize| LabelledBatch {
        arrivals: Some(ArrivalColumns {
            time_ns: vec![arrivals.time_ns[at]],
            switch_id: vec![arrivals.switch_id[at]],
            port: vec![arrivals.port[at]],
            queue: vec![arrivals.queue[at]],
            size_bytes: vec![arrivals.size_bytes[at]],
            flows: None,
        }),
        features: all.features.iter().map(|column| vec![column[at]]).collect(),
        drop: vec![all.drop[at]],
        outcome: all.outcome.as_ref().map(|outcome| vec![outcome[at]]),
        real_drop: None,
        ecn_mark: None,
    };
    (0..all.drop.len()).map(one).collect()
}

pub fn report(order: RowOrder) -> Report {
    let model = model();
    let mut builder = ReportBuilder::new("dropcast test", &model, model_source());
    builder.begin_trace(source(order)).expect("has the features");
    builder.add(&batch()).expect("sound rows");
    builder.end_trace(input());
    builder.finish()
}

/// Every name of an object's field, those below `skip` left out.
pub fn field_names(json: &Value, skip: &[&str], names: &mut BTreeSet<String>) {
    match json {
        Value::Object(fields) => {
            for (name, value) in fields {
                names.insert(name.clone());
                if !skip.contains(&name.as_str()) {
                    field_names(value, skip, names);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| field_names(value, skip, names)),
        _ => {}
    }
}
