//! Forests trained together equal forests trained alone.

use crate::support::{self, task};
use dropcast_features::FeatureSet;
use dropcast_train::{
    ClassWeight, FitTask, ForestParams, ForestTask, MaxFeatures, RunBatch, Split, TrainError,
    TrainingRows, VoteRule, fit, fit_many,
};
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::num::NonZeroUsize;

fn read(batches: &[RunBatch], like: &FitTask) -> TrainingRows {
    TrainingRows::read(batches, like.reading()).unwrap()
}

/// Forests of all sizes in three groups that grow together.
fn tasks(like: &FitTask) -> Vec<ForestTask> {
    let base = ForestParams { n_estimators: 1, max_depth: 1, ..ForestParams::default() };
    let families = [
        base.clone(),
        ForestParams { max_features: MaxFeatures::All, min_samples_leaf: 20, ..base.clone() },
        ForestParams { class_weight: ClassWeight::Balanced, ..base },
    ];
    let mut tasks = Vec::new();
    for trees in [3, 1, 7] {
        for max_depth in [2, 8, 5] {
            for family in &families {
                let params = ForestParams { n_estimators: trees, max_depth, ..family.clone() };
                let vote = if trees == 1 { VoteRule::EtaBound } else { VoteRule::F1 };
                let params = params.check().unwrap();
                tasks.push(ForestTask { features: like.features.clone(), params, vote });
            }
        }
    }
    tasks
}

#[test]
fn many_forests_are_those_of_separate_fits() {
    let runs = support::two_runs();
    let like = task(3, ForestParams::default().check().unwrap(), Split::time_blocks());
    let rows = read(&runs, &like);
    let tasks = tasks(&like);
    let many = fit_many(&rows, &tasks, NonZeroUsize::new(2).unwrap()).unwrap();
    for (forest, together) in tasks.iter().zip(many) {
        let params = forest.params.clone();
        let alone = FitTask { params, vote: forest.vote, ..like.clone() };
        let alone = fit(&runs[..], &alone).unwrap();
        assert_eq!(together.model.to_json(), alone.model.to_json());
        assert_eq!(together.test_scores, alone.test_scores);
    }
}

#[test]
fn forests_of_fewer_features_and_bins_need_no_other_rows() {
    let runs = support::two_runs();
    let like = task(3, ForestParams::default().check().unwrap(), Split::time());
    let rows = read(&runs, &like);
    for (columns, max_bins) in [(vec![2, 0], 255), (vec![1], 7), (vec![0, 1, 2], 16)] {
        let names: Vec<String> =
            columns.iter().map(|&at| like.features.names()[at].clone()).collect();
        let features = FeatureSet::try_from(names).unwrap();
        let params = ForestParams { max_bins, ..ForestParams::default() }.check().unwrap();
        let forest =
            ForestTask { features: features.clone(), params: params.clone(), vote: like.vote };
        let shared = fit_many(&rows, &[forest], like.threads).unwrap();

        let mut fewer = runs.clone();
        for run in &mut fewer {
            let all = std::mem::take(&mut run.batch.features);
            run.batch.features = columns.iter().map(|&at| all[at].clone()).collect();
        }
        let alone = fit(&fewer[..], &FitTask { features, params, ..like.clone() }).unwrap();
        assert_eq!(shared[0].model.to_json(), alone.model.to_json());
    }
}

#[test]
fn rows_in_a_file_make_the_same_forests() {
    let runs = support::two_runs();
    for split in [Split::None, Split::time_blocks(), Split::random()] {
        let like = task(3, ForestParams::default().check().unwrap(), split);
        let forests = tasks(&like);
        let here = fit_many(&read(&runs, &like), &forests, like.threads).unwrap();
        for limit_bytes in [0, 20_000] {
            let file = Box::new(Cursor::new(Vec::new()));
            let rows =
                TrainingRows::read_spilling(&runs[..], like.reading(), limit_bytes, file).unwrap();
            assert!(rows.spilled_bytes() > 0, "{rows:?}");
            assert!(rows.bytes_in_memory() <= limit_bytes + 4 * 3 * 4096, "{rows:?}");
            let spilled = fit_many(&rows, &forests, NonZeroUsize::new(3).unwrap()).unwrap();
            for (here, spilled) in here.iter().zip(spilled) {
                assert_eq!(here.model.to_json(), spilled.model.to_json());
            }
        }
    }
}

/// A file that is full.
#[derive(Debug)]
struct Full;

impl Read for Full {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Full {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

#[test]
fn a_file_that_fails_ends_the_training() {
    let runs = support::two_runs();
    let like = task(3, ForestParams::default().check().unwrap(), Split::None);
    let error = TrainingRows::read_spilling(&runs[..], like.reading(), 0, Box::new(Full));
    assert!(matches!(error, Err(TrainError::Spill(_))), "{error:?}");
}

#[test]
fn rows_read_otherwise_are_refused() {
    check_refusals(Split::random());
    let switches = vec![(11, 0), (22, 5)];
    check_refusals(Split::Only { switches, of: Box::new(Split::random()) });
}

fn check_refusals(split: Split) {
    let runs = support::two_runs();
    let like = task(3, ForestParams::default().check().unwrap(), split);
    let rows = read(&runs, &like);
    let fault = |params: ForestParams| {
        let params = params.check().unwrap();
        let forest = ForestTask { features: like.features.clone(), params, vote: like.vote };
        fit_many(&rows, &[forest], NonZeroUsize::MIN).map(|_| ()).unwrap_err().to_string()
    };
    let message = fault(ForestParams { seed: 8, ..ForestParams::default() });
    assert!(message.contains("seed"), "{message}");
    let message = fault(ForestParams { max_bins: 256, ..ForestParams::default() });
    assert!(message.contains("max_bins"), "{message}");
}
