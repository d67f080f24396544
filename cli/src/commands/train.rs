//! `dropcast train`.

use super::{cross_validate, train_each};
use crate::args::{ModelPer, TrainArgs, Trainer};
use crate::config::TrainConfig;
use crate::failure::UserError;
use crate::output;
use crate::output_file;
use crate::progress::Stage;
use crate::table_cost::TableCost;
use crate::traces::TraceFiles;
use crate::training::{Room, Training};
use dropcast_data::write_atomic;
use dropcast_forest::{Metrics, PartMetrics};
use dropcast_train::{Budget, Fitted, ForestCost, Model, Split};
use std::path::PathBuf;

pub(crate) fn run(args: &TrainArgs) -> anyhow::Result<()> {
    let files = RunFiles { data: &args.data, validation: &args.validation, test: &args.test };
    check_split(args)?;
    output_file::check(&args.output, &files.all())?;
    if let Some(folds) = args.cross_validate {
        return cross_validate::run(args, folds);
    }
    if args.model_per != ModelPer::Pooled {
        return train_each::run(args, &files);
    }
    let fitted = train_with(args.trainer, &files, &args.settings, &Room::of(args))?;
    write_atomic(&args.output, fitted.model.to_json().as_bytes())?;
    output::print(args.format, &fitted.model.metrics, |metrics| {
        let metrics = metrics.as_ref().map_or_else(String::new, text);
        format!("{metrics}{}model: {}\n", forest_line(&fitted.model), args.output.display())
    })
}

/// What was decided about the forest, as a line.
pub(crate) fn forest_line(model: &Model) -> String {
    let Model { forest, features, provenance, .. } = model;
    let trees = forest.trees.len();
    let mut line = format!(
        "forest: {trees} {} of depth {}, vote threshold {} of {}",
        if trees == 1 { "tree" } else { "trees" },
        forest.depth(),
        forest.vote_threshold,
        trees * usize::from(u8::MAX)
    );
    if let Some(provenance) = provenance {
        line.push_str(&format!(" ({})", provenance.vote));
        let cost = TableCost::of(features);
        for &(resource, most) in provenance.budget.iter().flat_map(Budget::limits) {
            let taken = cost.cost(forest, resource);
            let taken = taken.map_or_else(|| "-".to_owned(), |taken| taken.to_string());
            let name = resource.name().replace('-', " ");
            line.push_str(&format!(", {taken} of {most} {name}"));
        }
    }
    line.push('\n');
    line
}

/// Refuses settings of the split that were given and would change nothing.
fn check_split(args: &TrainArgs) -> Result<(), UserError> {
    let given = &args.split_given;
    let has_files_apart = !args.validation.is_empty() || !args.test.is_empty();
    match given.first() {
        Some(name) if args.cross_validate.is_some() => Err(UserError(format!(
            "{name}: cross-validation keeps whole files apart and divides none; leave it out"
        ))),
        Some(name) if has_files_apart => Err(UserError(format!(
            "{name}: with --validation or --test, files are kept apart whole and none is divided; \
             leave it out"
        ))),
        _ if given.contains(&"train_share") => args.settings.split.check_has_train_share(),
        _ => Ok(()),
    }
}

/// Labelled traces by what they are for.
pub(crate) struct RunFiles<'a> {
    /// Divided by the split; all of it trains if there are others.
    pub(crate) data: &'a [PathBuf],
    pub(crate) validation: &'a [PathBuf],
    pub(crate) test: &'a [PathBuf],
}

impl<'a> RunFiles<'a> {
    /// Files that the split divides.
    pub(crate) fn of(data: &'a [PathBuf]) -> Self {
        RunFiles { data, validation: &[], test: &[] }
    }

    /// All of them, in the order that [`RunFiles::split_of`] expects.
    pub(crate) fn all(&self) -> Vec<PathBuf> {
        [self.data, self.validation, self.test].concat()
    }

    /// The split that keeps files apart whole, of `source`, in which all were opened; none if all
    /// are to be divided.
    pub(crate) fn split_of(&self, source: &TraceFiles) -> Option<Split> {
        if self.validation.is_empty() && self.test.is_empty() {
            return None;
        }
        let runs: Vec<u64> = source.files.iter().map(|file| file.origin.run).collect();
        let (others, test) = runs.split_at(runs.len() - self.test.len());
        let validation = others[self.data.len()..].to_vec();
        Some(Split::Runs { test: test.to_vec(), validation })
    }
}

/// Trains on what the files and the split leave for it, and measures the rest.
pub(crate) fn train(
    files: &RunFiles<'_>,
    config: &TrainConfig,
    room: &Room<'_>,
) -> anyhow::Result<Fitted> {
    train_with(Trainer::Dropcast, files, config, room)
}

fn train_with(
    trainer: Trainer,
    files: &RunFiles<'_>,
    config: &TrainConfig,
    room: &Room<'_>,
) -> anyhow::Result<Fitted> {
    let stage = Stage::begin("train");
    let training = Training::open(&files.all(), config, room, &stage)?.with(trainer);
    let stated = config.split()?;
    let split = files.split_of(&training.source).unwrap_or(stated);
    let fitted = training.fit(&split)?;
    drop(training);
    stage.end(&format!("{} trees of depth {}", config.n_estimators, config.max_depth));
    Ok(fitted)
}

/// The metrics as a table.
pub(crate) fn text(metrics: &Metrics) -> String {
    let mut text =
        "rows        drops  precision  recall      F1  avg. precision  1/eta bound\n".to_owned();
    text.push_str(&line("train", &metrics.train));
    let others = [("valid", &metrics.validation), ("test", &metrics.test)];
    for (name, part) in others.into_iter().filter_map(|(name, part)| Some((name, part.as_ref()?))) {
        text.push_str(&line(name, part));
    }
    text
}

/// A line of the table.
pub(crate) fn line(name: &str, part: &PartMetrics) -> String {
    let score = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.4}"));
    format!(
        "{name:5} {:>10} {:>10} {:>7} {:>7} {:>15} {:>12}   ({} rows)\n",
        part.drops,
        score(part.precision),
        score(part.recall),
        score(part.f1),
        score(part.average_precision),
        score(part.eta_bound.map(|eta| 1.0 / eta)),
        part.rows
    )
}
