//! `dropcast train --model-per`: a model of each switch or role, beside one of all.

use super::train::RunFiles;
use crate::args::{ModelPer, TrainArgs};
use crate::failure::UserError;
use crate::output;
use crate::output_file;
use crate::progress::Stage;
use crate::training::{Room, Training};
use dropcast_data::write_atomic;
use dropcast_train::{
    BatchSource, Forest, Part, PartMetrics, RunSwitch, ScoreHistogram, Split, TrainError,
    rows_of_part,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The models, each beside the pooled one on the same rows.
#[derive(Serialize)]
struct Models {
    /// The file of the model of all switches.
    pooled: PathBuf,
    /// Which rows were measured: `test`, or `train` if the split has no others.
    rows: &'static str,
    models: Vec<OwnModel>,
}

/// The model of one switch or role.
#[derive(Serialize)]
struct OwnModel {
    name: String,
    /// Its file; null if it could not be trained.
    file: Option<PathBuf>,
    /// Why it could not be trained.
    problem: Option<String>,
    /// Its own scores on the rows of its switches.
    own: Option<PartMetrics>,
    /// Those of the pooled model on the same rows.
    pooled: PartMetrics,
}

pub(super) fn run(args: &TrainArgs, files: &RunFiles<'_>) -> anyhow::Result<()> {
    let stage = Stage::begin("train");
    let room = Room::of(args);
    let training = Training::open(&files.all(), &args.settings, &room, &stage)?.with(args.trainer);
    let stated = args.settings.split()?;
    let split = files.split_of(&training.source).unwrap_or(stated);
    let groups = groups(&training, args.model_per)?;
    for name in groups.keys() {
        output_file::check(&path_of(&args.output, name), &files.all())?;
    }
    let part = if split.keeps(Part::Test) { Part::Test } else { Part::Train };

    let pooled = training.fit(&split)?;
    write_atomic(&args.output, pooled.model.to_json().as_bytes())?;
    let mut models = Vec::new();
    for (name, switches) in groups {
        let only = Split::Only { switches, of: Box::new(split.clone()) };
        let scores = scores(&training, &only, args.settings.seed, part, &pooled.model.forest)?;
        let forest = &pooled.model.forest;
        let ports = pooled.model.switch.ports;
        let mut model = OwnModel {
            pooled: PartMetrics::of(&scores, forest.vote_threshold, ports),
            file: None,
            problem: None,
            own: None,
            name,
        };
        match training.fit(&only) {
            Ok(own) => {
                let path = path_of(&args.output, &model.name);
                write_atomic(&path, own.model.to_json().as_bytes())?;
                model.file = Some(path);
                model.own = own.model.metrics.and_then(|metrics| match part {
                    Part::Test => metrics.test,
                    _ => Some(metrics.train),
                });
            }
            // What one switch lacks is told of it; the others have their models.
            Err(error) if error.is::<TrainError>() => model.problem = Some(error.to_string()),
            Err(error) => return Err(error),
        }
        models.push(model);
    }
    stage.end(&format!("{} models and one of all", models.len()));
    let rows = if part == Part::Test { "test" } else { "train" };
    let models = Models { pooled: args.output.clone(), rows, models };
    output::print(args.format, &models, text)
}

/// The switches of each model.
fn groups(
    training: &Training<'_>,
    per: ModelPer,
) -> anyhow::Result<BTreeMap<String, Vec<RunSwitch>>> {
    let mut switches: BTreeSet<RunSwitch> = BTreeSet::new();
    for batch in training.source.batches()? {
        let batch = batch?;
        let arrivals = batch.batch.arrivals.as_ref();
        let arrivals = arrivals.ok_or(TrainError::NoSwitches { run: batch.run });
        let arrivals = arrivals.map_err(|error| training.source.explain(error))?;
        switches.extend(arrivals.switch_id.iter().map(|&id| (batch.run, id)));
    }
    let mut groups: BTreeMap<String, Vec<RunSwitch>> = BTreeMap::new();
    for (run, switch) in switches {
        let name = match per {
            ModelPer::Role => role(training, run, switch)?,
            _ => format!("switch-{switch}"),
        };
        groups.entry(name).or_default().push((run, switch));
    }
    Ok(groups)
}

/// The role in the description of a switch.
fn role(training: &Training<'_>, run: u64, switch: u16) -> Result<String, UserError> {
    let file = training.source.files.iter().find(|file| file.origin.run == run);
    let specs = file.and_then(|file| file.meta.switches.as_ref());
    let role = specs.and_then(|specs| specs.get(switch)).and_then(|spec| spec.role.clone());
    role.ok_or_else(|| {
        let name = file.map_or_else(String::new, |file| file.path.display().to_string());
        UserError(format!(
            "{name}: switch {switch} has no role; give it one in the switch description \
             (docs/switch.md) and collect again, or train a model per switch"
        ))
    })
}

fn scores(
    training: &Training<'_>,
    split: &Split,
    seed: u64,
    part: Part,
    forest: &Forest,
) -> anyhow::Result<ScoreHistogram> {
    let mut scores = ScoreHistogram::new(forest.trees.len());
    let mut row = vec![0; forest.features.len()];
    for batch in rows_of_part(&training.source, row.len(), split, seed, part)? {
        let batch = batch?.batch;
        for (at, &drop) in batch.drop.iter().enumerate() {
            for (value, column) in row.iter_mut().zip(&batch.features) {
                *value = column[at];
            }
            scores.add(forest.score(&row), drop);
        }
    }
    Ok(scores)
}

/// `model.json` becomes `model.switch-3.json`.
fn path_of(pooled: &Path, name: &str) -> PathBuf {
    let stem = pooled.file_stem().unwrap_or_default().to_string_lossy();
    let extension = pooled.extension().unwrap_or_default().to_string_lossy();
    let dot = if extension.is_empty() { "" } else { "." };
    pooled.with_file_name(format!("{stem}.{name}{dot}{extension}"))
}

fn text(models: &Models) -> String {
    let score = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.4}"));
    let mut text = format!(
        "On {} rows, the model of each by itself (own) and the one of all (pooled):\n\n\
         {:<16} {:>10} {:>8} {:>8} {:>9} {:>8} {:>10}\n",
        models.rows, "model", "rows", "drops", "own F1", "pooled F1", "own AP", "pooled AP"
    );
    for OwnModel { name, own, pooled, problem, .. } in &models.models {
        let own = own.as_ref();
        text.push_str(&format!(
            "{name:<16} {:>10} {:>8} {:>8} {:>9} {:>8} {:>10}{}\n",
            pooled.rows,
            pooled.drops,
            score(own.and_then(|own| own.f1)),
            score(pooled.f1),
            score(own.and_then(|own| own.average_precision)),
            score(pooled.average_precision),
            problem.as_ref().map_or_else(String::new, |problem| format!("  {problem}")),
        ));
    }
    text.push_str(&format!("\nmodel of all: {}\n", models.pooled.display()));
    for file in models.models.iter().filter_map(|model| model.file.as_ref()) {
        text.push_str(&format!("model: {}\n", file.display()));
    }
    text
}
