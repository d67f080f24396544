//! Cross-validation over runs: each fold trains on other runs than it tests on.

use super::Training;
use crate::PipelineError;
use crate::progress::Progress;
use dropcast_forest::PartMetrics;
use dropcast_train::{Fitted, Part, Split, SpreadScores, SweepScores};
use serde::Serialize;

/// What each fold is worth, and all of them together.
#[derive(Debug, Serialize)]
pub struct CrossValidation {
    /// The folds.
    pub folds: Vec<Fold>,
    /// How many of them have no drops to find: they say nothing of a forest, and are in no mean.
    pub folds_without_drops: usize,
    /// Mean and standard deviation over the other folds; null where a fold's score is.
    pub test: Option<SpreadScores>,
}

/// Scores on runs that were not trained on.
#[derive(Debug, Serialize)]
pub struct Fold {
    /// The files that test.
    pub files: Vec<String>,
    /// The scores.
    pub test: PartMetrics,
}

/// How many folds cross-validation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folds {
    /// As many as there are runs.
    Runs,
    /// So many, if there are runs enough.
    Count(usize),
}

/// A text that is no number of folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected runs, or a number of folds from 2")]
pub struct NotFolds;

impl std::str::FromStr for Folds {
    type Err = NotFolds;

    fn from_str(text: &str) -> Result<Self, NotFolds> {
        match text {
            "runs" => Ok(Folds::Runs),
            _ => match text.parse() {
                Ok(folds) if folds >= 2 => Ok(Folds::Count(folds)),
                _ => Err(NotFolds),
            },
        }
    }
}

/// Trains once for each fold, and then on all runs; returns the model of all runs, too.
///
/// # Errors
/// If there are fewer than two runs or fewer than folds, and those of training.
pub(super) fn cross_validate(
    training: &Training<'_>,
    folds: Folds,
    progress: &dyn Progress,
) -> Result<(CrossValidation, Fitted), PipelineError> {
    let traces = training.traces;
    let runs: Vec<u64> = traces.traces().iter().map(|trace| trace.origin.run).collect();
    let folds = match folds {
        Folds::Runs => runs.len(),
        Folds::Count(folds) => folds,
    };
    if runs.len() < 2 || folds > runs.len() {
        let problem = format!(
            "{} folds of whole runs need at least as many labelled traces, there are {}; give \
             more, or ask for fewer folds",
            folds.max(2),
            runs.len()
        );
        return Err(PipelineError::setting("cross_validate", problem));
    }
    progress.begin("train");
    let mut found = Vec::new();
    for split in Split::folds_of_runs(&runs, folds) {
        let fitted = training.fit(&split)?;
        let is_tested = |run| split.part_of_run(run) == Some(Part::Test);
        let named = traces.traces().iter().zip(traces.names());
        let tested = named.filter(|(trace, _)| is_tested(trace.origin.run));
        let files: Vec<String> = tested.map(|(_, name)| name).collect();
        let test = fitted.model.metrics.and_then(|metrics| metrics.test);
        let test =
            test.ok_or_else(|| PipelineError::unfit(files.join(", "), "has no rows to test on"))?;
        found.push(Fold { files, test });
    }
    let fitted = training.fit(&Split::None)?;
    progress.end(&format!("{} folds, and all runs", found.len()));
    let with_drops = found.iter().filter(|fold| fold.test.drops > 0);
    let scores: Vec<SweepScores> =
        with_drops.map(|fold| SweepScores::new(&fold.test, None)).collect();
    let result = CrossValidation {
        folds_without_drops: found.len() - scores.len(),
        test: SpreadScores::measure(&scores),
        folds: found,
    };
    Ok((result, fitted))
}
