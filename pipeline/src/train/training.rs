//! How forests are trained on labelled traces.

use super::replays::Replays;
use super::votes::choose_votes;
use crate::PipelineError;
use crate::progress::{Progress, check};
use crate::resources::{MemoryLimit, Resources};
use crate::settings::{TrainSettings, Trainer};
use crate::table_cost::TableCost;
use crate::traces::kept_rows::Counted;
use crate::traces::{EPISODE_GAP_RTTS, LabelledTrace, LabelledTraces};
use dropcast_data::{DataError, scratch_file};
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, PartMetrics};
use dropcast_interop::TrainerError;
use dropcast_train::{
    BatchSource, Budget, BudgetObjective, CheckedForestParams, ChosenSplit, FitTask, Fitted,
    ForestParams, ForestStates, ForestTask, Model, NoReplay, Part, ReadTask, Split, SplitChoice,
    SplitSettings, Squeezing, TrainError, TrainingRows, VoteRule, fit_many, fit_seeds,
    refit_leaves, rows_of_part, squeeze,
};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Labelled traces by what they are for.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceRoles<'a> {
    /// Divided by the split; all of them train if there are others.
    pub data: &'a [PathBuf],
    /// The vote threshold is chosen on them.
    pub validation: &'a [PathBuf],
    /// The model is measured on them.
    pub test: &'a [PathBuf],
}

impl<'a> TraceRoles<'a> {
    /// Traces that the split divides.
    pub fn divided(data: &'a [PathBuf]) -> Self {
        TraceRoles { data, ..TraceRoles::default() }
    }

    /// All of them.
    pub fn all(&self) -> Vec<PathBuf> {
        [self.data, self.validation, self.test].concat()
    }

    /// Whether some traces are kept apart whole, so that none is divided.
    pub fn are_kept_apart(&self) -> bool {
        !self.validation.is_empty() || !self.test.is_empty()
    }

    /// Opens all of them, and says how they are divided.
    ///
    /// # Errors
    /// If a trace cannot be opened, and those of [`choose_split`].
    pub fn open(
        &self,
        features: &FeatureSet,
        choice: &SplitChoice,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<(LabelledTraces, ChosenSplit), PipelineError> {
        self.open_each(features)?.divide(features, choice, resources.kept_bytes(), progress)
    }

    /// Opens all of them, which must have these features.
    ///
    /// # Errors
    /// If a trace cannot be opened.
    pub fn open_each(&self, features: &FeatureSet) -> Result<OpenRoles, PipelineError> {
        let names = features.names();
        Ok(OpenRoles {
            data: LabelledTrace::open_all(self.data, &names)?,
            validation: LabelledTrace::open_all(self.validation, &names)?,
            test: LabelledTrace::open_all(self.test, &names)?,
        })
    }
}

/// Open traces by what they are for, as [`TraceRoles`] says of files.
#[derive(Clone, Debug, Default)]
pub struct OpenRoles {
    /// Divided by the split; all of them train if there are others.
    pub data: Vec<LabelledTrace>,
    /// The vote threshold is chosen on them.
    pub validation: Vec<LabelledTrace>,
    /// The model is measured on them.
    pub test: Vec<LabelledTrace>,
}

impl OpenRoles {
    /// Whether some traces are kept apart whole, so that none is divided.
    pub fn are_kept_apart(&self) -> bool {
        !self.validation.is_empty() || !self.test.is_empty()
    }

    /// All of them, and how they are divided: as the settings say, which must not where some are
    /// kept apart. Their rows are kept in memory if they take no more than `most_kept_bytes`
    /// ([`Resources::kept_bytes`]).
    ///
    /// # Errors
    /// If a setting is wrong or rows cannot be read, and those of [`choose_split`].
    pub fn divided(
        self,
        settings: &TrainSettings,
        most_kept_bytes: usize,
        progress: &dyn Progress,
    ) -> Result<(LabelledTraces, ChosenSplit), PipelineError> {
        let kept_apart = if self.are_kept_apart() { KeptApart::Roles } else { KeptApart::No };
        refuse_split(&settings.split, kept_apart)?;
        self.divide(&settings.features, &settings.split.check()?, most_kept_bytes, progress)
    }

    /// All of them, and how they are divided: as [`choose_split`] says, unless some are kept apart.
    /// Their rows are kept in memory if they take no more than `most_kept_bytes`.
    ///
    /// # Errors
    /// If rows cannot be read, and those of [`LabelledTraces::new`] and [`choose_split`].
    pub(crate) fn divide(
        self,
        features: &FeatureSet,
        choice: &SplitChoice,
        most_kept_bytes: usize,
        progress: &dyn Progress,
    ) -> Result<(LabelledTraces, ChosenSplit), PipelineError> {
        let runs = |traces: &[LabelledTrace]| {
            let mut runs: Vec<u64> = traces.iter().map(|trace| trace.origin.run).collect();
            runs.sort_unstable();
            runs
        };
        let kept_apart = self
            .are_kept_apart()
            .then(|| Split::Runs { test: runs(&self.test), validation: runs(&self.validation) });
        let traces = [self.data, self.validation, self.test].concat();
        let mut traces = LabelledTraces::new(traces, features)?;
        if most_kept_bytes > 0 {
            traces.keep(most_kept_bytes, progress)?;
        }
        let chosen = match kept_apart {
            Some(split) => split.into(),
            None => choose_split(&traces, choice, progress)?,
        };
        Ok((traces, chosen))
    }
}

/// The split of traces: the one that is stated, or the first with drops in every part. Which one and
/// why is noted, if others were passed over, and if it cuts within an episode of drops.
///
/// # Errors
/// If the rows decide: if they cannot be read, or no split has drops in every part.
pub fn choose_split(
    traces: &LabelledTraces,
    choice: &SplitChoice,
    progress: &dyn Progress,
) -> Result<ChosenSplit, PipelineError> {
    // Times and labels alone are read, unless all is in memory.
    let without_features = traces.with_features(FeatureSet::none());
    let source = if traces.lent().is_some() { traces } else { &without_features };
    let chosen = choice.choose(&Counted { source, progress }, source.features().len());
    check(progress)?;
    let chosen = chosen.map_err(|error| traces.explain(error))?;
    if let Some(why) = chosen.why() {
        progress.note(&why);
    }
    let rtts_ns =
        traces.traces().iter().flat_map(|trace| trace.specs()).map(|spec| spec.base_rtt_ns);
    if let (Some(pause_ns), Some(rtt_ns)) = (chosen.shortest_pause_ns, rtts_ns.max())
        && pause_ns <= rtt_ns.saturating_mul(EPISODE_GAP_RTTS)
    {
        progress.note(&format!(
            "the split cuts within an episode of drops: LQD's drops on both sides of a cut are {pause_ns} ns apart, {:.3} \
             base RTTs, so the test rows are like those that train; a longer trace has longer pauses, or keep a trace \
             apart for testing",
            pause_ns as f64 / rtt_ns as f64
        ));
    }
    Ok(chosen)
}

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
        None => {
            progress.note(
                "the vote threshold is chosen by F1: these rows cannot be replayed, so whether \
                 the forest does harm is not known",
            );
            Ok(VoteRule::F1)
        }
    }
}

/// Refuses split settings where whole files are kept apart and none is divided.
///
/// # Errors
/// If a setting of the split is not its default.
pub fn refuse_split(settings: &SplitSettings, kept_apart: KeptApart) -> Result<(), PipelineError> {
    if settings.is_default() {
        return Ok(());
    }
    let problem = match kept_apart {
        KeptApart::No => return Ok(()),
        KeptApart::Folds => {
            "cross-validation keeps whole files apart and divides none; leave it out"
        }
        KeptApart::Roles => {
            "with files for validation or testing, files are kept apart whole and none is \
             divided; leave it out"
        }
    };
    Err(PipelineError::setting("split", problem))
}

/// Why whole files are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptApart {
    /// They are not.
    No,
    /// By cross-validation.
    Folds,
    /// Because some are for validation or testing.
    Roles,
}

/// Trains on what the roles and the split leave for it, and measures the rest.
///
/// # Errors
/// If a setting is wrong, a trace cannot be read, or a forest cannot be trained on it.
pub fn train(
    roles: &TraceRoles<'_>,
    settings: &TrainSettings,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Fitted, PipelineError> {
    let choice = settings.split.check()?;
    let (traces, split) = roles.open(&settings.features, &choice, resources, progress)?;
    train_on(&traces, &split, settings, resources, progress)
}

/// Trains on the training rows of open traces, and measures the rest.
///
/// # Errors
/// Those of [`train`].
pub fn train_on(
    traces: &LabelledTraces,
    chosen: &ChosenSplit,
    settings: &TrainSettings,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Fitted, PipelineError> {
    progress.begin("train");
    let training = Training::new(traces, settings, resources, progress)?;
    let mut fitted = training.fit_seeds(&chosen.split, settings.seeds_together())?;
    fitted.record(chosen);
    cautions(&fitted.model).iter().for_each(|caution| progress.note(caution));
    let forest = &fitted.model.forest;
    progress.end(&format!("{} trees of depth {}", forest.trees.len(), forest.depth()));
    Ok(fitted)
}

/// What makes a model or its measurement worthless.
pub fn cautions(model: &Model) -> Vec<String> {
    let Some(metrics) = &model.metrics else { return Vec::new() };
    let mut cautions = Vec::new();
    if let Some(PartMetrics { rows, drops: 0, .. }) = metrics.test {
        cautions.push(format!(
            "none of the {rows} test rows is a drop, so they do not tell what the model is worth: leave the split \
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
