//! `dropcast train`.

use crate::args::{TrainArgs, Trainer};
use crate::config::TrainConfig;
use crate::failure::UserError;
use crate::output;
use crate::output_file;
use crate::progress::Stage;
use crate::traces::TraceFiles;
use anyhow::Context;
use dropcast_data::{DataError, scratch_file, write_atomic};
use dropcast_interop::TrainerError;
use dropcast_train::{
    BatchSource, Batches, FitTask, Fitted, Metrics, PartMetrics, RunBatch, Split, TrainingRows,
    fit_many,
};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &TrainArgs) -> anyhow::Result<()> {
    let files = RunFiles { data: &args.data, validation: &args.validation, test: &args.test };
    output_file::check(&args.output, &files.all())?;
    let room = Room {
        threads: args.threads,
        memory_limit: args.memory_limit.map(|mib| (mib, args.output.as_path())),
    };
    let fitted = train_with(args.trainer, &files, &args.settings, &room)?;
    write_atomic(&args.output, fitted.model.to_json().as_bytes())?;
    output::print(args.format, &fitted.model.metrics, |metrics| {
        let written = format!("model: {}", args.output.display());
        metrics.as_ref().map_or(written.clone(), |metrics| format!("{}{written}\n", text(metrics)))
    })
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

    fn all(&self) -> Vec<PathBuf> {
        [self.data, self.validation, self.test].concat()
    }

    /// The split of `source`, in which all files were opened.
    fn split(&self, source: &TraceFiles, config: &TrainConfig) -> anyhow::Result<Split> {
        if self.validation.is_empty() && self.test.is_empty() {
            return config.split();
        }
        let runs: Vec<u64> = source.files.iter().map(|file| file.origin.run).collect();
        let (others, test) = runs.split_at(runs.len() - self.test.len());
        let validation = others[self.data.len()..].to_vec();
        Ok(Split::Runs { test: test.to_vec(), validation })
    }
}

/// What training may use; the model is the same with any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room<'a> {
    /// Threads; as many as there are, unless given.
    pub(crate) threads: Option<NonZeroUsize>,
    /// Memory for rows, MiB, and where to put aside those beyond it.
    pub(crate) memory_limit: Option<(u64, &'a Path)>,
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
    let params = config.params()?;
    let stage = Stage::begin("train");
    let source = TraceFiles::open(&files.all(), &config.features)?;
    let split = files.split(&source, config)?;
    let task = FitTask {
        features: config.features.clone(),
        params,
        split,
        vote: config.vote,
        switch: source.switch_context(),
        data: source.origins(),
        threads: room.threads.unwrap_or_else(available_threads),
    };
    let counted = Counted { source: &source, stage: &stage };
    let fitted = match trainer {
        Trainer::Dropcast => fit(&counted, &task, room)?,
        Trainer::Linfa => fit_with(dropcast_interop::Trainer::Linfa, &counted, &task, room)?,
        Trainer::Smartcore => {
            fit_with(dropcast_interop::Trainer::Smartcore, &counted, &task, room)?
        }
    };
    stage.end(&format!("{} trees of depth {}", config.n_estimators, config.max_depth));
    Ok(fitted)
}

/// Trains with our own trainer.
fn fit(source: &Counted<'_>, task: &FitTask, room: &Room<'_>) -> anyhow::Result<Fitted> {
    let rows = match room.memory_limit {
        None => TrainingRows::read(source, task.reading()),
        Some((limit_mib, beside)) => {
            let file = Box::new(scratch_file(beside)?);
            let limit_bytes = limit_mib.saturating_mul(1 << 20);
            TrainingRows::read_spilling(source, task.reading(), limit_bytes, file)
        }
    };
    let fitted = rows.and_then(|rows| fit_many(&rows, &[task.forest()], task.threads));
    let mut fitted = fitted.map_err(|error| source.source.explain(error))?;
    fitted.pop().context("a task gives a model")
}

/// Trains with another crate's trainer.
fn fit_with(
    trainer: dropcast_interop::Trainer,
    source: &Counted<'_>,
    task: &FitTask,
    room: &Room<'_>,
) -> anyhow::Result<Fitted> {
    if room.memory_limit.is_some() {
        let problem = format!("{trainer} cannot put rows aside: leave out the memory limit");
        return Err(UserError(problem).into());
    }
    dropcast_interop::train(trainer, source, task).map_err(|error| match error {
        TrainerError::Train(error) => source.source.explain(error),
        TrainerError::Failed { .. } => error.into(),
        error => UserError(error.to_string()).into(),
    })
}

/// A source whose rows are counted as they are read.
struct Counted<'a> {
    source: &'a TraceFiles,
    stage: &'a Stage,
}

impl BatchSource for Counted<'_> {
    type Error = DataError;

    fn batches(&self) -> Result<Batches<'_, DataError>, DataError> {
        self.stage.restart();
        let count = |batch: &Result<RunBatch, DataError>| {
            self.stage.advance(batch.as_ref().map_or(0, |batch| batch.batch.len()));
        };
        Ok(Box::new(self.source.batches()?.inspect(count)))
    }
}

fn available_threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
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

fn line(name: &str, part: &PartMetrics) -> String {
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
