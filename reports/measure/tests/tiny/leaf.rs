//! A model of three trees and a trace long enough for curves.

use super::source;
use dropcast_data::{
    ArrivalColumns, DropReason, InputProvenance, LabelledBatch, Outcome, RowOrder,
};
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, Metrics, Node, PartMetrics, ScoreHistogram, SwitchContext, Tree};
use dropcast_measure::{ModelSource, Report, ReportBuilder};
use dropcast_train::TrainedModel;

fn tree(threshold: u32, weights: [u8; 3]) -> Tree {
    let split = |feature, threshold, left, right| Node::Split { feature, threshold, left, right };
    let leaf = |weight| Node::Leaf { weight };
    let [low, middle, high] = weights.map(leaf);
    Tree { nodes: vec![split(1, threshold, 1, 2), low, split(0, 40, 3, 4), middle, high] }
}

/// Drops are likelier the fuller the buffer and the longer the queue.
pub fn report() -> Report {
    let features: FeatureSet = "queue_length,occupancy".parse().expect("known features");
    let trees = vec![tree(400, [0, 90, 250]), tree(500, [5, 60, 180]), tree(450, [1, 120, 240])];
    let forest = Forest { features: Vec::new(), vote_threshold: 300, trees };
    let switch = SwitchContext { ports: Some(2), buffer_bytes: Some(600), base_rtt_ns: None };
    let mut model = TrainedModel::new(forest, features, switch);
    let mut scores = ScoreHistogram::new(3);
    scores.add(700, true);
    scores.add(20, false);
    let train = PartMetrics::measure(&scores, 300, Some(2));
    model.metrics = Some(Metrics::new(train, None, None));
    let source_of_model = ModelSource { name: Some("leaf.json".to_owned()), sha256: None };
    let mut builder = ReportBuilder::new("dropcast test", &model, source_of_model);
    builder.begin_trace(source(RowOrder::Arrival)).expect("has the features");
    builder.add(&batch(4_000)).expect("sound rows");
    builder.end_trace(InputProvenance { name: "leaf.parquet".to_owned(), ..Default::default() });
    builder.finish()
}

/// The real switch accepts up to a threshold.
const ADMISSION: DropReason = DropReason::Admission;

fn batch(rows: u64) -> LabelledBatch {
    let random = |row: u64, of: u64| {
        let mixed = (row * 7 + of + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
    };
    let queue: Vec<u32> = (0..rows).map(|row| (random(row, 0) % 100) as u32).collect();
    let occupancy: Vec<u32> = (0..rows).map(|row| (random(row, 1) % 600) as u32).collect();
    let drop: Vec<bool> = (0..rows)
        .zip(queue.iter().zip(&occupancy))
        .map(|(row, (&queue, &full))| full > 420 && u64::from(queue) > random(row, 2) % 90)
        .collect();
    let outcome = |&drop: &bool| if drop { Outcome::Rejected } else { Outcome::Departed };
    LabelledBatch {
        arrivals: Some(ArrivalColumns {
            time_ns: (0..rows).map(|row| row / 3).collect(),
            switch_id: vec![0; rows as usize],
            port: (0..rows).map(|row| (random(row, 3) % 2) as u16).collect(),
            queue: vec![0; rows as usize],
            size_bytes: vec![1; rows as usize],
            flows: None,
        }),
        outcome: Some(drop.iter().map(outcome).collect()),
        real_drop: Some(occupancy.iter().map(|&full| (full > 520).then_some(ADMISSION)).collect()),
        features: vec![queue, occupancy],
        drop,
        ecn_mark: None,
    }
}
