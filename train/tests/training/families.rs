//! Forests that are trained together are the forests that would be trained alone.

use crate::support::{self, task};
use dropcast_train::{
    ClassWeight, FitTask, ForestParams, ForestTask, MaxFeatures, ReadTask, RunBatch, Split,
    TrainingRows, VoteRule, fit, fit_many,
};
use std::num::NonZeroUsize;

fn read(batches: &[RunBatch], like: &FitTask) -> TrainingRows {
    let params = like.params.get();
    let read = ReadTask {
        features: like.features.clone(),
        split: like.split.clone(),
        seed: params.random_state,
        max_bins: params.max_bins,
        switch: like.switch.clone(),
        data: like.data.clone(),
        threads: like.threads,
    };
    TrainingRows::read(batches, read).unwrap()
}

/// Forests of all sizes, of three families.
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
fn rows_read_otherwise_are_refused() {
    let runs = support::two_runs();
    let like = task(3, ForestParams::default().check().unwrap(), Split::random());
    let rows = read(&runs, &like);
    let fault = |params: ForestParams| {
        let params = params.check().unwrap();
        let forest = ForestTask { features: like.features.clone(), params, vote: like.vote };
        fit_many(&rows, &[forest], NonZeroUsize::MIN).map(|_| ()).unwrap_err().to_string()
    };
    let message = fault(ForestParams { random_state: 8, ..ForestParams::default() });
    assert!(message.contains("random_state"), "{message}");
    let message = fault(ForestParams { max_bins: 256, ..ForestParams::default() });
    assert!(message.contains("max_bins"), "{message}");
}
