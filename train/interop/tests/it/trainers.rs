//! Training with other crates: a measured model, the same every time, or a refusal that says why.

use crate::rows::{rows, task};
use dropcast_interop::{TrainerCrate, TrainerError, train};
use dropcast_train::{
    ClassWeight, Fitted, ForestParams, MaxFeatures, Monotone, RunBatch, Split, fit,
};
use std::slice::from_ref;

/// The trainers that were built.
fn built() -> Vec<TrainerCrate> {
    let all = TrainerCrate::ALL.iter().copied();
    all.filter(|trainer| match trainer {
        TrainerCrate::Linfa => cfg!(feature = "linfa"),
        _ => cfg!(feature = "smartcore"),
    })
    .collect()
}

fn trained(trainer: TrainerCrate, params: ForestParams) -> Result<Fitted, TrainerError> {
    train(trainer, from_ref(&rows(3_000)), &task(params))
}

#[test]
fn what_was_not_built_says_how_to_build_it() {
    for &trainer in TrainerCrate::ALL {
        let outcome = trained(trainer, ForestParams::default());
        match (built().contains(&trainer), outcome) {
            (true, Ok(_)) => {}
            (false, Err(error @ TrainerError::NotBuilt(_))) => {
                let hint = format!("cargo feature {trainer}");
                assert!(error.to_string().contains(&hint), "{error}");
            }
            (is_built, outcome) => panic!("{trainer}, built: {is_built}: {outcome:?}"),
        }
    }
}

#[test]
fn models_are_measured_sound_and_the_same_again() {
    let rows = rows(3_000);
    for trainer in built() {
        for (trees, depth, max_features) in
            [(1, 1, MaxFeatures::Sqrt), (4, 4, MaxFeatures::Sqrt), (3, 8, MaxFeatures::All)]
        {
            let params = ForestParams {
                n_estimators: trees,
                max_depth: depth,
                max_features,
                ..ForestParams::default()
            };
            let task = task(params);
            let fitted = train(trainer, from_ref(&rows), &task).unwrap();
            let forest = &fitted.model.forest;
            assert_eq!(forest.check(), Ok(()));
            assert_eq!(forest.trees.len(), usize::from(trees));
            assert!(forest.depth() <= usize::from(depth));
            let again = train(trainer, from_ref(&rows), &task).unwrap();
            assert_eq!(fitted.model.to_json(), again.model.to_json());
            // The parts are those of our own trainer.
            let ours = fit(from_ref(&rows), &task).unwrap();
            let parts = |fitted: &Fitted| {
                let metrics = fitted.model.metrics.as_ref().unwrap();
                let test = metrics.test.as_ref().unwrap();
                (metrics.train.rows, metrics.train.drops, test.rows, test.drops)
            };
            assert_eq!(parts(&fitted), parts(&ours));
        }
    }
}

#[test]
fn deep_forests_learn_what_is_there() {
    let params = || ForestParams {
        n_estimators: 9,
        max_depth: 6,
        max_features: MaxFeatures::All,
        seed: 0,
        ..ForestParams::default()
    };
    for trainer in built() {
        let fitted = trained(trainer, params()).unwrap();
        assert_eq!(fitted.model.forest.depth(), 6, "{trainer}: depth d has d levels of splits");
        let f1 = fitted.model.metrics.unwrap().test.unwrap().f1.unwrap();
        assert!(f1 > 0.85, "{trainer}: {f1}");
    }
}

#[test]
fn provenance_names_the_crate_and_its_version_in_the_lock_file() {
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
    let lock = std::fs::read_to_string(lock).unwrap();
    for trainer in built() {
        for max_features in [MaxFeatures::Sqrt, MaxFeatures::All] {
            let params = ForestParams { max_features, ..ForestParams::default() };
            let tool = trained(trainer, params).unwrap().model.provenance.unwrap().tool;
            let (_, theirs) = tool.split_once(" with ").unwrap();
            let (name, version) = theirs.split_once(' ').unwrap();
            assert!(name.starts_with(trainer.name()), "{tool}");
            let locked = format!("name = \"{name}\"\nversion = \"{version}\"");
            assert!(lock.contains(&locked), "{tool} is not what is built");
        }
    }
}

#[test]
fn parameters_that_a_trainer_lacks_are_refused() {
    let refused = |trainer, change: fn(&mut ForestParams)| {
        let mut params = ForestParams::default();
        change(&mut params);
        let error = trained(trainer, params).unwrap_err();
        assert!(matches!(error, TrainerError::Unsupported { .. }), "{error}");
        error.to_string()
    };
    for trainer in built() {
        assert!(refused(trainer, |p| p.max_bins = 64).contains("max_bins"));
        assert!(refused(trainer, |p| p.bootstrap = false).contains("bootstrap"));
        assert!(refused(trainer, |p| p.monotone = Monotone::On).contains("monotone"));
        let weight = refused(trainer, |p| p.class_weight = ClassWeight::Balanced);
        assert!(weight.contains("class_weight"), "{weight}");
    }
    if built().contains(&TrainerCrate::Smartcore) {
        let share = refused(TrainerCrate::Smartcore, |p| p.max_samples = Some(0.5));
        assert!(share.contains("max_samples"), "{share}");
    }
}

#[test]
fn rows_that_nobody_can_learn_from_are_refused_as_by_our_trainer() {
    for trainer in built() {
        for drops in [true, false] {
            let mut calm = rows(50);
            calm.batch.drop.fill(drops);
            let task = task(ForestParams::default());
            let theirs = train(trainer, from_ref(&calm), &task).unwrap_err();
            let ours = fit(from_ref(&calm), &task).unwrap_err();
            assert_eq!(theirs.to_string(), ours.to_string());
        }
        let none: &[RunBatch] = &[];
        let task = task(ForestParams::default());
        let empty = train(trainer, none, &task).unwrap_err().to_string();
        assert_eq!(empty, fit(none, &task).unwrap_err().to_string());
        let mut task = task;
        task.split = Split::Runs { test: vec![5], validation: Vec::new() };
        let held_out = train(trainer, from_ref(&rows(50)), &task).unwrap_err().to_string();
        assert_eq!(held_out, fit(from_ref(&rows(50)), &task).unwrap_err().to_string());
    }
}

/// Class weights move the vote of linfa's trees, which its own forest would not let them.
#[cfg(feature = "linfa")]
#[test]
fn class_weights_reach_the_trees_of_linfas_forest() {
    let drops = |class_weight| {
        let params = ForestParams { class_weight, ..ForestParams::default() };
        let metrics = trained(TrainerCrate::Linfa, params).unwrap().model.metrics.unwrap();
        metrics.train.confusion.tp + metrics.train.confusion.fp
    };
    let plain = drops(ClassWeight::None);
    assert!(drops(ClassWeight::Explicit { accept: 1.0, drop: 10.0 }) > plain);
    assert!(drops(ClassWeight::Explicit { accept: 10.0, drop: 1.0 }) < plain);
}
