//! Training with another crate: the same rows, parameters and outcome as our own trainer.

mod error;
mod kind;
#[cfg(feature = "linfa")]
mod linfa;
mod method;
mod params;
mod rows;
#[cfg(all(test, any(feature = "linfa", feature = "smartcore")))]
mod samples;
#[cfg(feature = "smartcore")]
mod smartcore;
#[cfg(any(feature = "linfa", feature = "smartcore"))]
mod votes;

use dropcast_forest::ScoreHistogram;
use dropcast_train::{
    BatchSource, FitTask, Fitted, Part, Provenance, TrainError, TrainedModel, rows_of_part,
};
use method::Method;
use rows::FloatRows;

pub use error::TrainerError;
pub use kind::TrainerCrate;
pub use params::Unsupported;

/// Trains a forest on the training rows of `source` with another crate, makes it our integer forest,
/// chooses its vote threshold and measures it as [`dropcast_train::fit`] does.
///
/// A tree's leaf votes: its weight is 255 where the tree predicts a drop, else 0. The same rows and
/// task give the same model; unlike with our own trainer, the order of rows matters. All training
/// rows are in memory, as floats, at least 16 bytes for each feature of each row.
///
/// # Errors
/// [`TrainerError::NotBuilt`] without the trainer's cargo feature; where the trainer lacks what the
/// task asks for or the rows are too many for it; and what [`dropcast_train::fit`] refuses.
pub fn train<S: BatchSource + ?Sized>(
    trainer: TrainerCrate,
    source: &S,
    task: &FitTask,
) -> Result<Fitted, TrainerError> {
    let method = method_of(trainer, task)?;
    let rows = FloatRows::read(trainer, method.limits, source, task)?;
    let trees =
        (method.grow)(rows, task).map_err(|problem| TrainerError::Failed { trainer, problem })?;
    let tool = format!("dropcast {} with {}", env!("CARGO_PKG_VERSION"), method.tool);
    // No trainer of others keeps scores from falling.
    let params = task.params.clone().not_monotone();
    let provenance = Provenance::new(tool, &task.data, params, task.split.clone(), task.vote);
    let model = provenance.model(trees, task.features.clone(), task.switch.clone());
    measure(model, source, task).map_err(TrainerError::Train)
}

/// Scores all parts, chooses the vote threshold, and fills in the metrics.
fn measure<S: BatchSource + ?Sized>(
    model: TrainedModel,
    source: &S,
    task: &FitTask,
) -> Result<Fitted, TrainError> {
    let forest = &model.forest;
    let seed = task.params.get().seed;
    let scores = |part: Part| -> Result<ScoreHistogram, TrainError> {
        let mut scores = ScoreHistogram::new(forest.trees.len());
        let mut row = vec![0; task.features.len()];
        for batch in rows_of_part(source, task.features.len(), &task.split, seed, part)? {
            let batch = batch?.batch;
            for (at, &drop) in batch.drop.iter().enumerate() {
                row.iter_mut().zip(&batch.features).for_each(|(value, column)| *value = column[at]);
                scores.add(forest.score(&row), drop);
            }
        }
        Ok(scores)
    };
    let scores = [scores(Part::Train)?, scores(Part::Validation)?, scores(Part::Test)?];
    Fitted::new(model, scores, task.vote)
}

/// How `trainer` goes about `task`.
fn method_of(trainer: TrainerCrate, task: &FitTask) -> Result<Method, TrainerError> {
    #[cfg(any(feature = "linfa", feature = "smartcore"))]
    let unsupported = |problem| TrainerError::Unsupported { trainer, problem };
    match trainer {
        #[cfg(feature = "linfa")]
        TrainerCrate::Linfa => linfa::method(task).map_err(unsupported),
        #[cfg(feature = "smartcore")]
        TrainerCrate::Smartcore => smartcore::method(task).map_err(unsupported),
        #[cfg(not(all(feature = "linfa", feature = "smartcore")))]
        _ => {
            let _ = task;
            Err(TrainerError::NotBuilt(trainer))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_data::LabelledBatch;
    use dropcast_features::FeatureSet;
    use dropcast_forest::{Forest, Node, SwitchContext, Tree};
    use dropcast_train::{ForestParams, RunBatch, Split, VoteRule};
    use std::num::NonZeroUsize;

    #[test]
    fn validation_rows_without_drops_are_refused_as_our_own_trainer_does() {
        let run = |run: u64, drop: Vec<bool>| {
            let features = vec![vec![7; drop.len()]];
            RunBatch { run, batch: LabelledBatch { features, drop, ..LabelledBatch::default() } }
        };
        let source = [run(1, vec![true, false]), run(2, vec![false; 3])];
        let task = FitTask {
            features: FeatureSet::try_from(vec!["queue_length".to_owned()]).unwrap(),
            params: ForestParams::default().check().unwrap(),
            split: Split::Runs { test: Vec::new(), validation: vec![2] },
            vote: VoteRule::F1,
            switch: SwitchContext::default(),
            data: Vec::new(),
            threads: NonZeroUsize::MIN,
        };
        let ours = dropcast_train::fit(&source[..], &task).map(|_| ()).unwrap_err();
        let trees = vec![Tree { nodes: vec![Node::Leaf { weight: 255 }] }];
        let forest = Forest { features: task.features.names(), vote_threshold: 0, trees };
        let model = TrainedModel::new(forest, task.features.clone(), task.switch.clone());
        let theirs = measure(model, &source[..], &task).map(|_| ()).unwrap_err();
        assert!(matches!(theirs, TrainError::NoValidationDrops { rows: 3 }), "{theirs}");
        assert_eq!(theirs.to_string(), ours.to_string());
    }
}
