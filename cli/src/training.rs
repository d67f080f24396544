//! Labelled traces that are open, and how forests are trained on them.

use crate::args::{TrainArgs, Trainer};
use crate::config::TrainConfig;
use crate::failure::UserError;
use crate::progress::Stage;
use crate::replays::Replays;
use crate::table_cost::TableCost;
use crate::traces::TraceFiles;
use anyhow::Context;
use dropcast_data::{DataError, scratch_file};
use dropcast_forest::Forest;
use dropcast_interop::TrainerError;
use dropcast_train::{
    BatchSource, Batches, Budget, CheckedForestParams, FitTask, Fitted, ForestParams, ForestStates,
    ForestTask, Objective, Part, ReadTask, RunBatch, Split, TrainError, TrainingRows, VoteRule,
    fit_many, refit_leaves, rows_of_part, squeeze,
};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// What training may use; the model is the same with any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room<'a> {
    /// Threads; as many as there are, unless given.
    pub(crate) threads: Option<NonZeroUsize>,
    /// Memory for rows, MiB, and where to put aside those beyond it.
    pub(crate) memory_limit: Option<(u64, &'a Path)>,
}

impl<'a> Room<'a> {
    /// What the command line allows.
    pub(crate) fn of(args: &'a TrainArgs) -> Self {
        Room {
            threads: args.threads,
            memory_limit: args.memory_limit.map(|mib| (mib, args.output.as_path())),
        }
    }
}

/// Traces, and what is trained on them.
pub(crate) struct Training<'a> {
    pub(crate) source: TraceFiles,
    config: &'a TrainConfig,
    params: CheckedForestParams,
    threads: NonZeroUsize,
    memory_limit: Option<(u64, &'a Path)>,
    stage: &'a Stage,
    trainer: Trainer,
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

impl<'a> Training<'a> {
    pub(crate) fn open(
        paths: &[PathBuf],
        config: &'a TrainConfig,
        room: &Room<'a>,
        stage: &'a Stage,
    ) -> anyhow::Result<Self> {
        let params = config.params()?;
        let source = TraceFiles::open(paths, &config.features)?;
        let threads = room.threads.unwrap_or_else(available_threads);
        let memory_limit = room.memory_limit;
        Ok(Training {
            source,
            config,
            params,
            threads,
            memory_limit,
            stage,
            trainer: Trainer::Dropcast,
        })
    }

    /// The same, but `trainer` trains.
    pub(crate) fn with(self, trainer: Trainer) -> Self {
        Training { trainer, ..self }
    }

    /// Threads for everything.
    pub(crate) fn threads(&self) -> NonZeroUsize {
        self.threads
    }

    /// Trains on the training rows of `split`, and measures the rest.
    pub(crate) fn fit(&self, split: &Split) -> anyhow::Result<Fitted> {
        let vote = self.config.vote;
        let replays =
            Replays { files: &self.source, split, seed: self.config.seed, threads: self.threads };
        if vote.replays() {
            replays.check()?;
        }
        // Rules that replay choose when the forest is there.
        let first_vote = if vote.replays() { VoteRule::F1 } else { vote };
        let mut fitted = match &self.config.budget {
            None => self.fit_whole(split, first_vote)?,
            Some(budget) => self.fit_within(budget, split, first_vote)?,
        };
        if let Some(ridge) = self.config.refit_leaves {
            fitted = self.refit(&fitted, split, first_vote, ridge)?;
        }
        replays.choose(vote, std::slice::from_mut(&mut fitted))?;
        Ok(fitted)
    }

    /// The same trees, with leaf weights that fit the training rows together.
    fn refit(
        &self,
        fitted: &Fitted,
        split: &Split,
        vote: VoteRule,
        ridge: f64,
    ) -> anyhow::Result<Fitted> {
        let forest = &fitted.model.forest;
        let states = self.states(std::slice::from_ref(forest), split)?;
        let (accepts, drops) = fitted.train_scores.totals();
        let class_weight = self.config.class_weight.of(accepts, drops);
        let refitted = refit_leaves(forest, &states, class_weight, ridge);
        let scores = states.scores(&refitted);
        let mut fitted = fitted.with_leaves(refitted, scores);
        if let Some(provenance) = &mut fitted.model.provenance {
            provenance.refit_leaves = Some(ridge);
        }
        let (trees, ports) = (fitted.model.forest.trees.len(), fitted.model.switch.ports);
        let decision = vote.choose(fitted.vote_scores(), trees, ports)?;
        fitted.set_vote(vote, decision.threshold);
        Ok(fitted)
    }

    fn fit_whole(&self, split: &Split, vote: VoteRule) -> anyhow::Result<Fitted> {
        match self.trainer {
            Trainer::Dropcast => {}
            Trainer::Linfa => return self.fit_by(dropcast_interop::Trainer::Linfa, split, vote),
            Trainer::Smartcore => {
                return self.fit_by(dropcast_interop::Trainer::Smartcore, split, vote);
            }
        }
        let task = ForestTask {
            features: self.config.features.clone(),
            params: self.params.clone(),
            vote,
        };
        let rows = self.read(split)?;
        let fitted = fit_many(&rows, &[task], self.threads);
        let mut fitted = fitted.map_err(|error| self.source.explain(error))?;
        fitted.pop().context("a task gives a model")
    }

    /// Trains with another crate's trainer.
    fn fit_by(
        &self,
        trainer: dropcast_interop::Trainer,
        split: &Split,
        vote: VoteRule,
    ) -> anyhow::Result<Fitted> {
        if self.memory_limit.is_some() {
            let problem = format!("{trainer} cannot put rows aside: leave out the memory limit");
            return Err(UserError(problem).into());
        }
        let task = FitTask {
            features: self.config.features.clone(),
            params: self.params.clone(),
            split: split.clone(),
            vote,
            switch: self.source.switch_context(),
            data: self.source.origins(),
            threads: self.threads,
        };
        let source = Counted { source: &self.source, stage: self.stage };
        dropcast_interop::train(trainer, &source, &task).map_err(|error| match error {
            TrainerError::Train(error) => self.source.explain(error),
            TrainerError::Failed { .. } => error.into(),
            error => UserError(error.to_string()).into(),
        })
    }

    /// Reads and bins the rows.
    fn read(&self, split: &Split) -> anyhow::Result<TrainingRows> {
        let task = ReadTask {
            features: self.config.features.clone(),
            split: split.clone(),
            seed: self.config.seed,
            max_bins: self.config.max_bins,
            switch: self.source.switch_context(),
            data: self.source.origins(),
            threads: self.threads,
        };
        let source = Counted { source: &self.source, stage: self.stage };
        read_rows(&source, task, self.memory_limit)?.map_err(|error| self.source.explain(error))
    }

    /// The best forest within `budget` that is found among the [`Self::smaller`] ones, pruned and
    /// rounded.
    fn fit_within(&self, budget: &Budget, split: &Split, vote: VoteRule) -> anyhow::Result<Fitted> {
        if self.trainer != Trainer::Dropcast {
            let problem =
                "budget: only our own trainer grows the forests that a budget chooses from";
            return Err(UserError(problem.to_owned()).into());
        }
        let rows = self.read(split)?;
        let tasks = self.smaller(vote)?;
        let fitted =
            fit_many(&rows, &tasks, self.threads).map_err(|error| self.source.explain(error))?;
        let forests: Vec<Forest> =
            fitted.iter().map(|fitted| fitted.model.forest.clone()).collect();
        let (accepts, drops) = rows.training_rows();
        drop(rows);
        let states = self.states(&forests, split)?;
        let class_weight = self.config.class_weight.of(accepts, drops);
        let objective = Objective::of(vote, self.source.switch_context().ports);
        let cost = TableCost::of(&self.config.features);
        let squeezed = squeeze(&forests, &states, class_weight, objective, budget, &cost);
        let squeezed = squeezed.ok_or_else(|| {
            UserError(format!("budget {budget}: not even a single leaf fits; allow more"))
        })?;
        Ok(fitted[squeezed.origin].with_squeezed(squeezed, budget, vote)?)
    }

    /// Every number of trees and depth up to those of the parameters; of many trees, some numbers.
    fn smaller(&self, vote: VoteRule) -> anyhow::Result<Vec<ForestTask>> {
        let params = self.params.get();
        let most = params.n_estimators;
        let trees = (1..=most).filter(|&trees| {
            trees <= 4 || trees == most || [6, 8, 12, 16, 24, 32, 48, 64, 96].contains(&trees)
        });
        let sizes = trees.flat_map(|trees| (1..=params.max_depth).map(move |depth| (trees, depth)));
        let task = |(n_estimators, max_depth)| {
            let params = ForestParams { n_estimators, max_depth, ..params.clone() };
            Ok(ForestTask { features: self.config.features.clone(), params: params.check()?, vote })
        };
        sizes.map(task).collect()
    }

    fn states(&self, forests: &[Forest], split: &Split) -> anyhow::Result<ForestStates> {
        let mut states = ForestStates::new(&forests.iter().collect::<Vec<_>>());
        let features = self.config.features.len();
        let mut row = vec![0; features];
        for part in [Part::Train, Part::Validation, Part::Test] {
            if !split.keeps(part) {
                continue;
            }
            for batch in rows_of_part(&self.source, features, split, self.config.seed, part)? {
                let batch = batch?.batch;
                for (at, &drop) in batch.drop.iter().enumerate() {
                    for (value, column) in row.iter_mut().zip(&batch.features) {
                        *value = column[at];
                    }
                    states.add(&row, drop, part);
                }
            }
        }
        Ok(states)
    }
}

/// Reads and bins rows; with a limit in MiB, those beyond it go to a temporary file beside a path.
pub(crate) fn read_rows(
    source: &impl BatchSource,
    task: ReadTask,
    memory_limit: Option<(u64, &Path)>,
) -> Result<Result<TrainingRows, TrainError>, DataError> {
    let Some((limit_mib, beside)) = memory_limit else {
        return Ok(TrainingRows::read(source, task));
    };
    let file = Box::new(scratch_file(beside)?);
    Ok(TrainingRows::read_spilling(source, task, limit_mib.saturating_mul(1 << 20), file))
}

/// All there are.
pub(crate) fn available_threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
