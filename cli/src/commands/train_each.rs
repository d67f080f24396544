//! `dropcast train --model-per`: a model of each switch or role, beside one of all.

use super::train::RunFiles;
use crate::args::{ModelPer, TrainArgs};
use crate::failure::UserError;
use crate::output;
use crate::output_file;
use crate::progress::Stage;
use crate::replays::Replays;
use crate::table_cost::TableCost;
use crate::traces::in_common;
use crate::training::{Room, Training};
use dropcast_data::{DataError, write_atomic};
use dropcast_forest::{Confusion, ForestScorer, PartMetrics, ScoreHistogram};
use dropcast_replay::{LanesSent, VoteLane, VotePolicy};
use dropcast_train::{
    BatchSource, ForestCost, Model, Part, Resource, RunSwitch, Split, TrainError, rows_of_part,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// The models, each beside the pooled one on the same rows.
#[derive(Serialize)]
struct Models {
    /// The file of the model of all switches.
    pooled: PathBuf,
    /// Which rows were measured: `test`, or `train` if the split has no others.
    rows: &'static str,
    models: Vec<OwnModel>,
    /// All rows, each decided by the own model of its switch, or by the pooled one where there is
    /// none.
    own: Total,
    /// All rows, decided by the pooled model.
    all_pooled: Total,
}

/// The model of one switch or role.
#[derive(Serialize)]
struct OwnModel {
    name: String,
    /// Its file; null if it could not be trained.
    file: Option<PathBuf>,
    /// Why it could not be trained.
    problem: Option<String>,
    /// What it is worth on the rows of its switches.
    own: Option<Measured>,
    /// What the pooled model is worth on the same rows.
    pooled: Measured,
}

/// What a model is worth on some rows.
#[derive(Serialize)]
struct Measured {
    #[serde(flatten)]
    scores: PartMetrics,
    /// Exact `eta` (Credence, Definition 1), by replay; null where the rows can't be replayed.
    eta_packets: Option<f64>,
    /// Bytes of its `.dct` table.
    dct_bytes: Option<u64>,
}

/// What some models together are worth on all rows.
#[derive(Default, Serialize)]
struct Total {
    confusion: Confusion,
    f1: Option<f64>,
    eta_packets: Option<f64>,
    #[serde(skip)]
    sent: LanesSent,
}

impl Total {
    /// Adds rows, and what was sent of them in `lane`.
    fn add(&mut self, scores: &PartMetrics, sent: &LanesSent, lane: usize) {
        self.confusion.merge(&scores.confusion);
        let lanes = sent.lanes.get(lane).copied().into_iter().collect();
        self.sent.add(&LanesSent { lqd: sent.lqd, lanes });
        self.f1 = self.confusion.f1();
        self.eta_packets = self.sent.lqd_to_lane(0);
    }
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

    let pooled = training.fit(&split)?.model;
    write_atomic(&args.output, pooled.to_json().as_bytes())?;
    let mut all = Models {
        pooled: args.output.clone(),
        rows: if part == Part::Test { "test" } else { "train" },
        models: Vec::new(),
        own: Total::default(),
        all_pooled: Total::default(),
    };
    for (name, switches) in groups {
        let specs = switches.iter().filter_map(|&(run, id)| training.source.spec(run, id));
        let buffer_bytes = in_common(specs).buffer_bytes;
        let only = Split::Only { switches, of: Box::new(split.clone()) };
        let (own, problem) = match training.fit(&only) {
            Ok(own) => (Some(own.model), None),
            // What one switch lacks is told of it; the others have their models.
            Err(error) if error.is::<TrainError>() => (None, Some(error.to_string())),
            Err(error) => return Err(error),
        };
        let path = path_of(&args.output, &name);
        if let Some(own) = &own {
            // Measured on the scale of all; written for its switches as they are.
            let own = buffer_bytes.map_or(Ok(own.clone()), |bytes| own.for_buffer(bytes))?;
            write_atomic(&path, own.to_json().as_bytes())?;
        } else {
            // One of an earlier run beside the others of this one would pass for its.
            remove_if_there(&path)?;
        }
        let rows =
            MeasuredRows { training: &training, split: &only, part, seed: args.settings.seed };
        let models: Vec<&Model> = own.iter().chain([&pooled]).collect();
        let sent = rows.replay(&models)?;
        let mut measured = Vec::new();
        for (lane, model) in models.iter().enumerate() {
            measured.push(Measured {
                scores: rows.scores(model)?,
                eta_packets: sent.lqd_to_lane(lane),
                dct_bytes: TableCost::of(&model.features).cost(&model.forest, Resource::DctBytes),
            });
        }
        // The pooled model is the last, and the first too where there is no other.
        let Some(pooled) = measured.pop() else { continue };
        let own_or_pooled = measured.first().unwrap_or(&pooled);
        all.own.add(&own_or_pooled.scores, &sent, 0);
        all.all_pooled.add(&pooled.scores, &sent, models.len() - 1);
        let (file, own) = (own.is_some().then_some(path), measured.pop());
        all.models.push(OwnModel { name, file, problem, own, pooled });
    }
    stage.end(&format!("{} models and one of all", all.models.len()));
    output::print(args.format, &all, text)
}

fn remove_if_there(path: &Path) -> Result<(), DataError> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            let file = path.display().to_string();
            Err(DataError::Io { file, doing: "be removed", source })
        }
        _ => Ok(()),
    }
}

/// The rows of some switches that models are measured on.
struct MeasuredRows<'a> {
    training: &'a Training<'a>,
    split: &'a Split,
    part: Part,
    seed: u64,
}

impl MeasuredRows<'_> {
    /// The scores of `model`.
    fn scores(&self, model: &Model) -> anyhow::Result<PartMetrics> {
        let forest = &model.forest;
        let scorer = ForestScorer::new(forest);
        let mut scores = ScoreHistogram::new(forest.trees.len());
        let source = &self.training.source;
        let columns = source.features().len();
        for batch in rows_of_part(source, columns, self.split, self.seed, self.part)? {
            let batch = batch?.batch;
            let of_rows = scorer.score_columns(&batch.features);
            of_rows.iter().zip(&batch.drop).for_each(|(&score, &drop)| scores.add(score, drop));
        }
        Ok(PartMetrics::of(&scores, forest.vote_threshold, model.switch.ports))
    }

    /// What LQD sends, and what FollowLQD does without the drops that each model predicts;
    /// nothing where the rows cannot be replayed.
    fn replay(&self, models: &[&Model]) -> anyhow::Result<LanesSent> {
        let files = &self.training.source;
        let threads = self.training.threads();
        let replays = Replays { files, split: self.split, seed: self.seed, threads };
        if replays.check().is_err() {
            return Ok(LanesSent::default());
        }
        let forests: Vec<_> = models.iter().map(|model| &model.forest).collect();
        let lane = |(forest, model): (usize, &&Model)| VoteLane {
            forest,
            threshold: model.forest.vote_threshold,
            policy: VotePolicy::Followed,
        };
        let lanes: Vec<VoteLane> = models.iter().enumerate().map(lane).collect();
        replays.replay(self.part, &forests, &lanes)
    }
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
    let role = training.source.spec(run, switch).and_then(|spec| spec.role.clone());
    role.ok_or_else(|| {
        let file = training.source.files.iter().find(|file| file.origin.run == run);
        let name = file.map_or_else(String::new, |file| file.path.display().to_string());
        UserError(format!(
            "{name}: switch {switch} has no role; give it one in the switch description \
             (docs/switch.md) and collect again, or train a model per switch"
        ))
    })
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
    let inverse =
        |eta: Option<f64>| eta.map_or_else(|| "-".to_owned(), |eta| format!("{:.5}", 1.0 / eta));
    let bytes = |measured: Option<&Measured>| {
        let bytes = measured.and_then(|measured| measured.dct_bytes);
        bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string())
    };
    let mut text = format!(
        "On {} rows, the model of each by itself (own) and the one of all (pooled):\n\n\
         {:<16} {:>10} {:>8} {:>8} {:>9} {:>10} {:>12} {:>9} {:>12}\n",
        models.rows,
        "model",
        "rows",
        "drops",
        "own F1",
        "pooled F1",
        "own 1/eta",
        "pooled 1/eta",
        "own bytes",
        "pooled bytes"
    );
    for OwnModel { name, own, pooled, problem, .. } in &models.models {
        let own = own.as_ref();
        text.push_str(&format!(
            "{name:<16} {:>10} {:>8} {:>8} {:>9} {:>10} {:>12} {:>9} {:>12}{}\n",
            pooled.scores.rows,
            pooled.scores.drops,
            score(own.and_then(|own| own.scores.f1)),
            score(pooled.scores.f1),
            inverse(own.and_then(|own| own.eta_packets)),
            inverse(pooled.eta_packets),
            bytes(own),
            bytes(Some(pooled)),
            problem.as_ref().map_or_else(String::new, |problem| format!("  {problem}")),
        ));
    }
    let Models { own, all_pooled, .. } = models;
    let Confusion { tp, fn_, .. } = all_pooled.confusion;
    text.push_str(&format!(
        "{:<16} {:>10} {:>8} {:>8} {:>9} {:>10} {:>12}\n",
        "all",
        all_pooled.confusion.total(),
        tp + fn_,
        score(own.f1),
        score(all_pooled.f1),
        inverse(own.eta_packets),
        inverse(all_pooled.eta_packets),
    ));
    text.push_str(&format!("\nmodel of all: {}\n", models.pooled.display()));
    for file in models.models.iter().filter_map(|model| model.file.as_ref()) {
        text.push_str(&format!("model: {}\n", file.display()));
    }
    text
}
