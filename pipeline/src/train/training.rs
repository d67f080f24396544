//! How forests are trained on labelled traces.

use super::replays::{Replays, choose_votes};
use crate::PipelineError;
use crate::progress::{Progress, check};
use crate::resources::{MemoryLimit, Resources};
use crate::settings::{TrainSettings, Trainer};
use crate::table_cost::TableCost;
use crate::traces::LabelledTraces;
use crate::traces::kept_rows::Counted;
use dropcast_data::{DataError, scratch_file};
use dropcast_forest::{Forest, PartMetrics};
use dropcast_interop::TrainerError;
use dropcast_train::{
    BatchSource, Budget, BudgetObjective, CheckedForestParams, ChosenSplit, FitTask, Fitted,
    ForestParams, ForestStates, ForestTask, NoReplay, Part, ReadTask, Share, Split, Squeezing,
    TrainError, TrainedModel, TrainingRows, VoteRule, fit_many, fit_seeds, refit_leaves,
    rows_of_part, squeeze,
};
use std::num::NonZeroUsize;

/// The vote of a model of followers: above a majority, since a packet that is wrongly taken for followed costs a timeout.
const FOLLOWED_VOTE: Share = Share::FOUR_FIFTHS;

/// The rule that chooses the vote threshold: the one that was set, or the default; where rows
/// cannot be replayed, F1.
pub(crate) fn vote_rule(
    set: Option<VoteRule>,
    replays: &Replays<'_>,
    progress: &dyn Progress,
) -> Result<VoteRule, PipelineError> {
    match set {
        Some(vote) => {
            if vote.replays() {
                replays.check()?;
            }
            Ok(vote)
        }
        None if replays.are_possible() => Ok(VoteRule::default()),
        None if replays.are_of_flows() => Ok(VoteRule::Fixed(FOLLOWED_VOTE)),
        None => {
            progress.note(
                "the vote threshold is chosen by F1: these rows cannot be replayed, so whether \
                 the forest does harm is not known",
            );
            Ok(VoteRule::F1)
        }
    }
}

/// Trains on the training rows of open traces, and measures the rest.
///
/// # Errors
/// If a setting is wrong, a trace cannot be read, or a forest cannot be trained on it.
pub fn train_on(
    traces: &LabelledTraces,
    chosen: &ChosenSplit,
    settings: &TrainSettings,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Fitted, PipelineError> {
    progress.begin("train");
    let training = Training::new(traces, settings, resources, progress)?;
    let fitted = training.fit_recorded(chosen, settings.seeds_together())?;
    cautions(&fitted.model).iter().for_each(|caution| progress.note(caution));
    let forest = &fitted.model.forest;
    progress.end(&format!("{} trees of depth {}", forest.trees.len(), forest.depth()));
    Ok(fitted)
}

/// What makes a model or its measurement worthless.
pub fn cautions(model: &TrainedModel) -> Vec<String> {
    let Some(metrics) = &model.metrics else { return Vec::new() };
    let mut cautions = Vec::new();
    if let Some(PartMetrics { rows, drops: 0, .. }) = metrics.test {
        cautions.push(format!(
            "none of the {rows} test rows is a drop, so they do not show what the model is worth: leave the split \
             out, and one with drops in every part is found"
        ));
    }
    let parts = [Some(&metrics.train), metrics.validation.as_ref(), metrics.test.as_ref()];
    let predicted = |part: &PartMetrics| part.confusion.tp + part.confusion.fp;
    if parts.into_iter().flatten().map(predicted).sum::<u64>() == 0 {
        let forest = &model.forest;
        cautions.push(format!(
            "the model never predicts a drop on these rows (vote threshold {} of {}): with it Credence does \
             what it does without an oracle",
            forest.vote_threshold,
            forest.trees.len() * usize::from(u8::MAX)
        ));
    }
    cautions
}

/// Traces, and what is trained on them.
pub(crate) struct Training<'a> {
    pub(crate) traces: &'a LabelledTraces,
    settings: &'a TrainSettings,
    params: CheckedForestParams,
    resources: &'a Resources,
    progress: &'a dyn Progress,
}

impl<'a> Training<'a> {
    pub(crate) fn new(
        traces: &'a LabelledTraces,
        settings: &'a TrainSettings,
        resources: &'a Resources,
        progress: &'a dyn Progress,
    ) -> Result<Self, PipelineError> {
        let params = settings.params()?;
        Ok(Training { traces, settings, params, resources, progress })
    }

    pub(crate) fn threads(&self) -> NonZeroUsize {
        self.resources.threads()
    }

    pub(crate) fn seed(&self) -> u64 {
        self.settings.seed
    }

    /// Trains on the training rows of `split`, and measures the rest.
    pub(crate) fn fit(&self, split: &Split) -> Result<Fitted, PipelineError> {
        self.fit_seeds(split, 1)
    }

    /// The same with so many seeds ([`Self::fit_seeds`]), and the record of how the rows came to be divided.
    pub(crate) fn fit_recorded(
        &self,
        chosen: &ChosenSplit,
        seeds: u16,
    ) -> Result<Fitted, PipelineError> {
        let mut fitted = self.fit_seeds(&chosen.split, seeds)?;
        fitted.record(chosen);
        Ok(fitted)
    }

    /// The same with so many seeds, which are measured too; more than one only where
    /// [`TrainSettings::seeds_together`] says so.
    fn fit_seeds(&self, split: &Split, seeds: u16) -> Result<Fitted, PipelineError> {
        let replays = Replays {
            traces: self.traces,
            split,
            seed: self.settings.seed,
            threads: self.threads(),
        };
        let vote = vote_rule(self.settings.vote, &replays, self.progress)?;
        // Rules that replay choose when the forests are there.
        let first_vote = if vote.replays() { VoteRule::F1 } else { vote };
        let mut fitted = match &self.settings.budget {
            None => self.fit_whole(split, first_vote, seeds)?,
            Some(budget) => vec![self.fit_within(budget, split, first_vote)?],
        };
        if let Some(ridge) = self.settings.refit_leaves {
            for fitted in &mut fitted {
                *fitted = self.refit(fitted, split, first_vote, ridge)?;
            }
        }
        if vote.replays() {
            choose_votes(vote, &replays, &mut fitted)?;
        }
        Ok(Fitted::first_over_seeds(fitted).expect("at least one seed is trained"))
    }

    /// The same trees, with leaf weights that fit the training rows together.
    fn refit(
        &self,
        fitted: &Fitted,
        split: &Split,
        vote: VoteRule,
        ridge: f64,
    ) -> Result<Fitted, PipelineError> {
        let forest = &fitted.model.forest;
        let states = self.states(std::slice::from_ref(forest), split)?;
        let (accepts, drops) = fitted.train_scores.totals();
        let class_weight = self.settings.class_weight.weights(accepts, drops);
        let refitted = refit_leaves(forest, &states, class_weight, ridge);
        let scores = states.scores(&refitted);
        let mut fitted = fitted.with_leaves(refitted, scores);
        if let Some(provenance) = &mut fitted.model.provenance {
            provenance.refit_leaves = Some(ridge);
        }
        Fitted::choose_votes(std::slice::from_mut(&mut fitted), vote, &NoReplay)?;
        Ok(fitted)
    }

    fn fit_whole(
        &self,
        split: &Split,
        vote: VoteRule,
        seeds: u16,
    ) -> Result<Vec<Fitted>, PipelineError> {
        let other = match self.settings.trainer {
            Trainer::Dropcast => None,
            Trainer::Linfa => Some(dropcast_interop::TrainerCrate::Linfa),
            Trainer::Smartcore => Some(dropcast_interop::TrainerCrate::Smartcore),
        };
        if let Some(other) = other {
            return Ok(vec![self.fit_by(other, split, vote)?]);
        }
        let task = ForestTask {
            features: self.settings.features.clone(),
            params: self.params.clone(),
            vote,
        };
        let rows = self.read(split)?;
        check(self.progress)?;
        let fitted = fit_seeds(&rows, &task, seeds, self.threads());
        check(self.progress)?;
        fitted.map_err(|error| self.traces.explain(error))
    }

    /// Trains with another crate's trainer.
    fn fit_by(
        &self,
        trainer: dropcast_interop::TrainerCrate,
        split: &Split,
        vote: VoteRule,
    ) -> Result<Fitted, PipelineError> {
        if self.resources.memory.is_some() {
            let problem = format!("{trainer} keeps all rows in memory; leave out the limit");
            return Err(PipelineError::setting("memory_limit", problem));
        }
        let task = FitTask {
            features: self.settings.features.clone(),
            params: self.params.clone(),
            split: split.clone(),
            vote,
            switch: self.traces.switch_context(),
            data: self.traces.origins(),
            threads: self.threads(),
        };
        let source = Counted { source: self.traces, progress: self.progress };
        let fitted = dropcast_interop::train(trainer, &source, &task);
        check(self.progress)?;
        fitted.map_err(|error| match error {
            TrainerError::Train(error) => self.traces.explain(error),
            error => PipelineError::Trainer(error),
        })
    }

    /// Reads and bins the rows.
    fn read(&self, split: &Split) -> Result<TrainingRows, PipelineError> {
        let task = ReadTask {
            features: self.settings.features.clone(),
            split: split.clone(),
            seed: self.settings.seed,
            max_bins: self.settings.max_bins,
            switch: self.traces.switch_context(),
            data: self.traces.origins(),
            threads: self.threads(),
        };
        let source = Counted { source: self.traces, progress: self.progress };
        let rows = read_rows(&source, task, self.resources.memory.as_ref());
        check(self.progress)?;
        rows?.map_err(|error| self.traces.explain(error))
    }

    /// The best forest within `budget` among the [`Self::smaller`] ones, pruned and rounded.
    fn fit_within(
        &self,
        budget: &Budget,
        split: &Split,
        vote: VoteRule,
    ) -> Result<Fitted, PipelineError> {
        if self.settings.trainer != Trainer::Dropcast {
            let problem = "only our own trainer grows the forests that a budget chooses from";
            return Err(PipelineError::setting("budget", problem));
        }
        let rows = self.read(split)?;
        let tasks = self.smaller(vote)?;
        let fitted =
            fit_many(&rows, &tasks, self.threads()).map_err(|error| self.traces.explain(error))?;
        let forests: Vec<Forest> =
            fitted.iter().map(|fitted| fitted.model.forest.clone()).collect();
        let (accepts, drops) = rows.training_rows();
        drop(rows);
        let states = self.states(&forests, split)?;
        let class_weight = self.settings.class_weight.weights(accepts, drops);
        let objective = BudgetObjective::for_vote(vote, self.traces.switch_context().ports);
        let cost = TableCost::new(&self.settings.features);
        let squeezing = Squeezing {
            states: &states,
            class_weight,
            objective,
            budget,
            threads: self.threads(),
            progress: &|done, all| self.progress.estimate(done, all),
        };
        let squeezed = squeeze(&forests, &squeezing, &cost);
        let squeezed = squeezed.ok_or_else(|| {
            let problem = format!("{budget}: not even a single leaf fits; allow more");
            PipelineError::setting("budget", problem)
        })?;
        Ok(fitted[squeezed.origin].with_squeezed(squeezed, budget, vote)?)
    }

    /// Every number of trees and depth up to those of the parameters; of many trees, some numbers.
    fn smaller(&self, vote: VoteRule) -> Result<Vec<ForestTask>, PipelineError> {
        let params = self.params.get();
        let most = params.n_estimators;
        let trees = (1..=most).filter(|&trees| {
            trees <= 4 || trees == most || [6, 8, 12, 16, 24, 32, 48, 64, 96].contains(&trees)
        });
        let sizes = trees.flat_map(|trees| (1..=params.max_depth).map(move |depth| (trees, depth)));
        let task = |(n_estimators, max_depth)| {
            let params = ForestParams { n_estimators, max_depth, ..params.clone() };
            let features = self.settings.features.clone();
            Ok(ForestTask { features, params: params.check()?, vote })
        };
        sizes.map(task).collect()
    }

    fn states(&self, forests: &[Forest], split: &Split) -> Result<ForestStates, PipelineError> {
        let mut states = ForestStates::new(&forests.iter().collect::<Vec<_>>());
        let features = self.settings.features.len();
        let mut row = vec![0; features];
        for part in [Part::Train, Part::Validation, Part::Test] {
            if !split.keeps(part) {
                continue;
            }
            for batch in rows_of_part(self.traces, features, split, self.settings.seed, part)? {
                check(self.progress)?;
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

/// Reads and bins rows; beyond a limit they go to a temporary file.
pub(crate) fn read_rows(
    source: &impl BatchSource,
    task: ReadTask,
    memory: Option<&MemoryLimit>,
) -> Result<Result<TrainingRows, TrainError>, DataError> {
    let Some(MemoryLimit { mib, beside }) = memory else {
        return Ok(TrainingRows::read(source, task));
    };
    let file = Box::new(scratch_file(beside)?);
    Ok(TrainingRows::read_spilling(source, task, mib.saturating_mul(1 << 20), file))
}
