//! The same rows and task give the same `model.json`, byte for byte.

use crate::support::{Row, run_of, task, two_runs as runs};
use dropcast_train::{
    BatchSource, Batches, ClassWeight, Criterion, FitTask, ForestParams, RunBatch, Split, fit,
};
use std::convert::Infallible;
use std::num::NonZeroUsize;

/// The same rows, cut into batches of these sizes in turn.
fn cut(runs: &[RunBatch], sizes: &[usize]) -> Vec<RunBatch> {
    let mut batches = Vec::new();
    let mut sizes = sizes.iter().cycle();
    for RunBatch { run, batch } in runs {
        let mut from = 0;
        while from < batch.len() {
            let rows = from..(from + sizes.next().unwrap()).min(batch.len());
            from = rows.end;
            let mut part = batch.clone();
            part.features.iter_mut().for_each(|column| *column = column[rows.clone()].to_vec());
            part.drop = batch.drop[rows.clone()].to_vec();
            let arrivals = part.arrivals.as_mut().unwrap();
            arrivals.time_ns = arrivals.time_ns[rows.clone()].to_vec();
            arrivals.switch_id = arrivals.switch_id[rows].to_vec();
            batches.push(RunBatch { run: *run, batch: part });
        }
    }
    batches
}

fn tasks() -> Vec<FitTask> {
    let params = [
        ForestParams { n_estimators: 5, max_bins: 32, ..ForestParams::default() },
        ForestParams {
            n_estimators: 3,
            max_depth: 8,
            criterion: Criterion::Entropy,
            class_weight: ClassWeight::Balanced,
            max_samples: Some(0.5),
            seed: 9,
            ..ForestParams::default()
        },
    ];
    let splits = [Split::None, Split::time(), Split::time_blocks(), Split::random()];
    let pairs = params.iter().flat_map(|params| splits.iter().map(move |split| (params, split)));
    pairs.map(|(params, split)| task(3, params.clone().check().unwrap(), split.clone())).collect()
}

fn model(batches: &[RunBatch], task: &FitTask) -> String {
    fit(batches, task).unwrap().model.to_json()
}

#[test]
fn threads_leave_no_trace() {
    let runs = runs();
    for task in tasks() {
        let one = model(&runs, &task);
        for threads in [2, 3] {
            let threads = NonZeroUsize::new(threads).unwrap();
            assert_eq!(model(&runs, &FitTask { threads, ..task.clone() }), one);
        }
    }
}

#[test]
fn neither_do_batches_nor_the_order_of_runs() {
    let runs = runs();
    for task in tasks() {
        let whole = model(&runs, &task);
        assert_eq!(model(&cut(&runs, &[1, 700, 3, 0, 2048]), &task), whole);
        let mut reversed = runs.clone();
        reversed.reverse();
        assert_eq!(model(&reversed, &task), whole);
        // Batches of the two runs alternate.
        let mut mixed = cut(&runs, &[100]);
        mixed.sort_by_key(|batch| batch.batch.arrivals.as_ref().unwrap().time_ns[0]);
        assert_eq!(model(&mixed, &task), whole);
    }
}

/// Rows read batch by batch, as from a file.
struct Read<'a>(&'a [RunBatch]);

impl BatchSource for Read<'_> {
    type Error = Infallible;

    fn batches(&self) -> Result<Batches<'_, Infallible>, Infallible> {
        self.0.batches()
    }
}

#[test]
fn rows_that_are_read_make_the_forest_of_those_that_are_lent() {
    let runs = runs();
    for task in tasks() {
        let lent = model(&runs, &task);
        let task = FitTask { threads: NonZeroUsize::new(2).unwrap(), ..task };
        for batches in [runs.clone(), cut(&runs, &[1, 700, 3, 0, 2048])] {
            assert_eq!(fit(&Read(&batches), &task).unwrap().model.to_json(), lent);
        }
    }
}

#[test]
fn many_rows_leave_no_trace_of_their_chunks() {
    let row = |at: u64| {
        let queue = (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44) as u32;
        (vec![queue, at as u32 % 7], queue > 1_000_000 && !at.is_multiple_of(3))
    };
    let rows: Vec<Row> = (0..330_000).map(row).collect();
    let runs = [run_of(5, &rows)];
    let split = Split::time_blocks();
    let task = task(2, ForestParams::default().check().unwrap(), split);
    let whole = model(&runs, &task);
    assert_eq!(model(&cut(&runs, &[50_000, 1, 20_000]), &task), whole);
    let threads = NonZeroUsize::new(3).unwrap();
    let read = fit(&Read(&cut(&runs, &[9_000])), &FitTask { threads, ..task });
    assert_eq!(read.unwrap().model.to_json(), whole);
}

#[test]
fn the_seed_does() {
    let runs = runs();
    let with_seed = |seed: u64| {
        let params = ForestParams { seed, ..ForestParams::default() };
        fit(&runs[..], &task(3, params.check().unwrap(), Split::None)).unwrap().model.forest
    };
    assert_ne!(with_seed(1).trees, with_seed(2).trees);
    let trees = with_seed(1).trees;
    assert_ne!(trees[0], trees[1], "trees of one forest differ");
}

#[test]
fn a_learnable_label_is_learned() {
    let runs = runs();
    let task = task(3, ForestParams::default().check().unwrap(), Split::time_blocks());
    let fitted = fit(&runs[..], &task).unwrap();
    let metrics = fitted.model.metrics.unwrap();
    let test = metrics.test.unwrap();
    assert!(test.f1.unwrap() > 0.7, "{test:?}");
    assert!(test.average_precision.unwrap() > 0.8, "{test:?}");
    assert_eq!(metrics.train.rows + test.rows, 12_000);
}
