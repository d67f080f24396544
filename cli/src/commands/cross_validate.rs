//! `dropcast train --cross-validate`.

use super::train::{forest_line, line};
use crate::args::{Folds, TrainArgs};
use crate::failure::UserError;
use crate::output;
use crate::progress::Stage;
use crate::training::{Room, Training};
use dropcast_data::write_atomic;
use dropcast_forest::PartMetrics;
use dropcast_train::{Split, Spread, SpreadScores, SweepScores};
use serde::Serialize;

/// What each fold is worth, and all of them together.
#[derive(Serialize)]
struct CrossValidation {
    folds: Vec<Fold>,
    /// How many of them have no drops to find: they say nothing of a forest, and are in no mean.
    folds_without_drops: usize,
    /// Mean and standard deviation over the other folds; null where a fold's score is.
    test: Option<SpreadScores>,
}

/// Scores on runs that were not trained on.
#[derive(Serialize)]
struct Fold {
    /// The files that test.
    files: Vec<String>,
    test: PartMetrics,
}

/// Trains once for each fold, and then on all runs.
pub(super) fn run(args: &TrainArgs, folds: Folds) -> anyhow::Result<()> {
    let (files, count) = (args.data.len(), folds.of(args.data.len()));
    if files < 2 {
        let problem = "cross-validation over runs needs at least two files of --data";
        return Err(UserError(problem.to_owned()).into());
    }
    if count > files {
        return Err(UserError(format!(
            "cross_validate: {count} folds need at least {count} files of --data, there are {files}; \
             give more, or ask for fewer folds"
        ))
        .into());
    }
    let stage = Stage::begin("train");
    let room = Room::of(args);
    let training = Training::open(&args.data, &args.settings, &room, &stage)?.with(args.trainer);
    let files = &training.source.files;
    let runs: Vec<u64> = files.iter().map(|file| file.origin.run).collect();
    let mut found = Vec::new();
    for split in Split::folds_of_runs(&runs, count) {
        let fitted = training.fit(&split)?;
        let is_tested = |run| split.part_of_run(run) == Some(dropcast_train::Part::Test);
        let tested = files.iter().filter(|file| is_tested(file.origin.run));
        let files: Vec<String> = tested.map(|file| file.origin.name.clone()).collect();
        let test =
            fitted.model.metrics.and_then(|metrics| metrics.test).ok_or_else(|| {
                UserError(format!("{}: has no rows to test on", files.join(", ")))
            })?;
        found.push(Fold { files, test });
    }
    let fitted = training.fit(&Split::None)?;
    stage.end(&format!("{} folds, and all runs", found.len()));
    write_atomic(&args.output, fitted.model.to_json().as_bytes())?;
    let with_drops = found.iter().filter(|fold| fold.test.drops > 0);
    let scores: Vec<SweepScores> =
        with_drops.map(|fold| SweepScores::of(&fold.test, None)).collect();
    let result = CrossValidation {
        folds_without_drops: found.len() - scores.len(),
        test: SpreadScores::of(&scores),
        folds: found,
    };
    output::print(args.format, &result, |result| {
        let forest = forest_line(&fitted.model);
        format!("{}{forest}model of all runs: {}\n", text(result), args.output.display())
    })
}

fn text(result: &CrossValidation) -> String {
    let mut text =
        "fold        drops  precision  recall      F1  avg. precision  1/eta bound\n".to_owned();
    for (nth, fold) in result.folds.iter().enumerate() {
        let line = line(&nth.to_string(), &fold.test);
        text.push_str(&format!("{}  {}\n", line.trim_end(), fold.files.join(", ")));
    }
    if result.folds_without_drops > 0 {
        let (without, all) = (result.folds_without_drops, result.folds.len());
        let means = "without drops to find, not in the means:";
        text.push_str(&format!("{means} {without} of {all} folds\n"));
    }
    let Some(test) = &result.test else { return text };
    let named = [
        ("precision", test.precision),
        ("recall", test.recall),
        ("F1", test.f1),
        ("avg. precision", test.average_precision),
    ];
    for (name, spread) in named {
        let spread = match spread {
            Some(Spread { mean, sd: Some(sd) }) => format!("{mean:.4} +- {sd:.4}"),
            Some(Spread { mean, sd: None }) => format!("{mean:.4}"),
            None => "undefined in a fold".to_owned(),
        };
        text.push_str(&format!("{name:14} {spread}\n"));
    }
    text
}
