//! Training: from labelled rows to measured models.

use crate::growth::forest_fit::{ForestPlan, grow_forests};
use crate::growth::forest_scores::scores_of_prefixes;
use crate::growth::growing::GrowingTree;
use crate::growth::part_scores::PartScores;
use crate::leaf_shares::LeafShares;
use crate::{
    BatchSource, Budget, CheckedForestParams, ChosenSplit, DataOrigin, ForestParams, ForestScores,
    Part, Provenance, ReadTask, Split, Squeezed, TrainError, TrainedModel, TrainingRows, VoteError,
    VoteReplay, VoteRule,
};
use dropcast_data::Threads;
use dropcast_features::{Feature, FeatureSet};
use dropcast_forest::binning::Bins;
use dropcast_forest::{
    FeatureRange, Forest, LeafRows, Metrics, PartMetrics, ScoreHistogram, SeedMetrics,
    SwitchContext, Tree,
};
use std::num::NonZeroUsize;

/// What to train, and how. The model depends on everything here except `threads`.
#[derive(Clone, Debug)]
pub struct FitTask {
    /// The features, in the order of the batches' columns.
    pub features: FeatureSet,
    /// The forest's parameters; `seed` seeds the split too.
    pub params: CheckedForestParams,
    /// Which rows train and which test.
    pub split: Split,
    /// How the vote threshold is chosen.
    pub vote: VoteRule,
    /// What is known of the switch.
    pub switch: SwitchContext,
    /// Where the rows come from, for the model's provenance.
    pub data: Vec<DataOrigin>,
    /// How many threads to use.
    pub threads: NonZeroUsize,
}

/// One forest to train on rows that were read.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestTask {
    /// The features, among those of the rows.
    pub features: FeatureSet,
    /// The forest's parameters.
    pub params: CheckedForestParams,
    /// How the vote threshold is chosen.
    pub vote: VoteRule,
}

/// A trained model and the distribution of its scores.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The model, with its metrics.
    pub model: TrainedModel,
    /// Scores of the training rows.
    pub train_scores: ScoreHistogram,
    /// Scores of the validation rows.
    pub validation_scores: ScoreHistogram,
    /// Scores of the test rows.
    pub test_scores: ScoreHistogram,
    /// The exact share of drops in each leaf; `None` of forests trained elsewhere, squeezed into a budget or with other
    /// leaf weights than these shares.
    pub leaf_shares: Option<LeafShares>,
}

impl Fitted {
    /// A model from a forest and its scores of the training, validation and test rows: `vote`
    /// chooses the vote threshold, and the model is measured.
    ///
    /// # Errors
    /// [`TrainError::EmptyPart`], [`TrainError::NoValidationDrops`], and [`TrainError::Vote`] if a
    /// vote threshold cannot be chosen.
    pub fn new(
        model: TrainedModel,
        scores: [ScoreHistogram; 3],
        vote: VoteRule,
    ) -> Result<Fitted, TrainError> {
        let [train_scores, validation_scores, test_scores] = scores;
        // Single switches may have no such rows.
        let split = model.provenance.as_ref().map(|provenance| &provenance.split);
        if let Some(split) = split.filter(|split| !matches!(split, Split::Only { .. })) {
            let others = [
                ("validation", Part::Validation, &validation_scores),
                ("test", Part::Test, &test_scores),
            ];
            for (part, of, scores) in others {
                if split.keeps(of) && scores.totals() == (0, 0) {
                    return Err(TrainError::EmptyPart { part });
                }
            }
        }
        if let (rows @ 1.., 0) = validation_scores.totals() {
            return Err(TrainError::NoValidationDrops { rows });
        }
        let leaf_shares = None;
        let mut fitted =
            Fitted { model, train_scores, validation_scores, test_scores, leaf_shares };
        fitted.choose_vote(vote)?;
        Ok(fitted)
    }

    /// Gives each model the vote threshold that `vote` chooses, and measures it again. The models
    /// must be for one switch and measured on the same rows, which `replay` replays.
    ///
    /// # Errors
    /// If a vote threshold cannot be chosen, or the replay fails.
    pub fn choose_votes<R: VoteReplay>(
        fitted: &mut [Fitted],
        vote: VoteRule,
        replay: &R,
    ) -> Result<(), R::Error> {
        let Some(first) = fitted.first() else { return Ok(()) };
        let ports = first.model.switch.ports;
        let forests: Vec<ForestScores<'_>> = fitted.iter().map(Fitted::forest_scores).collect();
        let chosen = vote.choose(&forests, ports, replay)?;
        for (fitted, point) in fitted.iter_mut().zip(chosen) {
            fitted.set_vote(vote, point.threshold);
        }
        Ok(())
    }

    fn choose_vote(&mut self, vote: VoteRule) -> Result<(), VoteError> {
        let point = vote.choose_unreplayed(self.forest_scores(), self.model.switch.ports)?;
        self.set_vote(vote, point.threshold);
        Ok(())
    }

    fn forest_scores(&self) -> ForestScores<'_> {
        ForestScores {
            train: &self.train_scores,
            validation: &self.validation_scores,
            trees: self.model.forest.trees.len(),
        }
    }

    /// This model with the squeezed forest instead of its own; `vote` chooses the threshold.
    ///
    /// # Errors
    /// If the vote threshold cannot be chosen.
    pub fn with_squeezed(
        &self,
        squeezed: Squeezed,
        budget: &Budget,
        vote: VoteRule,
    ) -> Result<Fitted, VoteError> {
        let Squeezed { forest, train_scores, validation_scores, test_scores, .. } = squeezed;
        // Pruned leaves stand on others' rows.
        let mut model = TrainedModel { forest, leaf_rows: None, ..self.model.clone() };
        if let Some(provenance) = &mut model.provenance {
            provenance.budget = Some(budget.clone());
        }
        let leaf_shares = None;
        let mut fitted =
            Fitted { model, train_scores, validation_scores, test_scores, leaf_shares };
        fitted.choose_vote(vote)?;
        Ok(fitted)
    }

    /// This model with new leaf weights, and its scores of the training, validation and test rows.
    /// The vote threshold is not chosen yet.
    pub fn with_leaves(&self, forest: Forest, scores: [ScoreHistogram; 3]) -> Fitted {
        let [train_scores, validation_scores, test_scores] = scores;
        let model = TrainedModel { forest, ..self.model.clone() };
        Fitted { model, train_scores, validation_scores, test_scores, leaf_shares: None }
    }

    /// The model with the range of each of its features on the rows that trained.
    fn with_ranges(mut self, ranges: &[FeatureRange]) -> Fitted {
        self.model.ranges = Some(ranges.to_vec());
        self
    }

    /// The model with the rows that each of its leaves stands on.
    fn with_leaf_rows(mut self, leaves: Vec<Vec<LeafRows>>) -> Fitted {
        self.model.leaf_rows = Some(leaves);
        self
    }

    /// Records why the rows are divided as they are.
    pub fn record(&mut self, chosen: &ChosenSplit) {
        if let Some(provenance) = &mut self.model.provenance {
            provenance.passed_over.clone_from(&chosen.passed_over);
        }
    }

    /// The first of these, which were trained [with several seeds](ForestTask::over_seeds), with the metrics of all.
    /// None of none.
    pub fn first_over_seeds(fitted: Vec<Fitted>) -> Option<Fitted> {
        let seed = |fitted: &Fitted| {
            fitted.model.provenance.as_ref().map(|provenance| provenance.parameters.get().seed)
        };
        let seeds: Vec<u64> = fitted.iter().filter_map(seed).collect();
        let metrics = fitted.iter().filter_map(|fitted| fitted.model.metrics.as_ref());
        let over_seeds = (fitted.len() > 1).then(|| SeedMetrics::new(seeds, metrics));
        let mut first = fitted.into_iter().next()?;
        if let Some(metrics) = &mut first.model.metrics {
            metrics.over_seeds = over_seeds;
        }
        Some(first)
    }

    /// Gives the model another vote threshold, which `vote` chose, and measures it again.
    fn set_vote(&mut self, vote: VoteRule, threshold: u32) {
        self.model.forest.vote_threshold = threshold;
        let ports = self.model.switch.ports;
        let measure = |scores: &ScoreHistogram| PartMetrics::measure(scores, threshold, ports);
        let measured =
            |scores: &ScoreHistogram| (scores.totals() != (0, 0)).then(|| measure(scores));
        self.model.metrics = Some(Metrics::new(
            measure(&self.train_scores),
            measured(&self.validation_scores),
            measured(&self.test_scores),
        ));
        if let Some(provenance) = &mut self.model.provenance {
            provenance.vote = vote;
        }
    }
}

/// Trains a forest on the training rows of `source`, chooses its vote threshold on the validation
/// rows (on the training rows if the split has none), and measures it on every part.
///
/// The same rows and task give the same model, to the byte of its `model.json`, for any division
/// into batches, any order of runs and any number of threads. Rows are kept in memory, binned: one
/// byte per row and feature.
///
/// # Errors
/// See [`TrainError`].
pub fn fit<S: BatchSource + ?Sized>(source: &S, task: &FitTask) -> Result<Fitted, TrainError> {
    let rows = TrainingRows::read(source, task.reading())?;
    let mut fitted = fit_many(&rows, &[task.forest()], task.threads)?;
    Ok(fitted.pop().expect("one task gives one model"))
}

impl FitTask {
    /// The task's settings for rows.
    pub fn reading(&self) -> ReadTask {
        let params = self.params.get();
        ReadTask {
            features: self.features.clone(),
            split: self.split.clone(),
            seed: params.seed,
            max_bins: params.max_bins,
            switch: self.switch.clone(),
            data: self.data.clone(),
            threads: self.threads,
        }
    }

    /// The task's settings for the forest.
    pub fn forest(&self) -> ForestTask {
        let FitTask { features, params, vote, .. } = self.clone();
        ForestTask { features, params, vote }
    }
}

/// Trains a forest for each task, byte-identical to what [`fit`] would train alone.
///
/// Tasks that differ only in `n_estimators`, `max_depth` and vote rule cost one forest (the
/// largest) and one scoring pass: a tree does not depend on later trees, nor its upper levels on
/// lower ones.
///
/// # Errors
/// [`TrainError::Rows`] if the rows were not read for a task's settings, and [`TrainError::Vote`]
/// if a vote threshold cannot be chosen.
pub fn fit_many(
    rows: &TrainingRows,
    tasks: &[ForestTask],
    threads: NonZeroUsize,
) -> Result<Vec<Fitted>, TrainError> {
    tasks.iter().try_for_each(|task| task.check(&rows.task))?;
    grow(rows, tasks, threads)
}

/// Trains the forest of `task` with its seed and with the ones after it, `seeds` in all. Where the split is random,
/// the seed of the rows divides them for all of them.
///
/// # Errors
/// Those of [`fit_many`].
pub fn fit_seeds(
    rows: &TrainingRows,
    task: &ForestTask,
    seeds: u16,
    threads: NonZeroUsize,
) -> Result<Vec<Fitted>, TrainError> {
    task.check(&rows.task)?;
    grow(rows, &task.over_seeds(seeds), threads)
}

/// Trains a forest for each task, which the rows serve.
fn grow(
    rows: &TrainingRows,
    tasks: &[ForestTask],
    threads: NonZeroUsize,
) -> Result<Vec<Fitted>, TrainError> {
    let nested = nest(tasks);
    let threads = Threads::new(threads);
    let plan = |group: &NestedTasks<'_>| group.plan(&rows.task, rows.rows.bins(), rows.classes);
    let plans = nested.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
    let forests = grow_forests(&rows.rows, plans.clone(), &threads)?;
    let mut grown = Vec::new();
    for ((group, plan), trees) in nested.iter().zip(&plans).zip(forests) {
        let columns = plan.columns().to_vec();
        let scores = scores_of_prefixes(&rows.rows, &columns, &trees, &group.sizes(), &threads)?;
        grown.push(Grown { columns, trees, scores });
    }
    finish_all(&rows.task, (rows.rows.bins(), &rows.ranges), &nested, &grown)
}

/// Groups tasks whose forests are parts of one forest.
pub(crate) fn nest(tasks: &[ForestTask]) -> Vec<NestedTasks<'_>> {
    let mut nested: Vec<NestedTasks<'_>> = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        match nested.iter_mut().find(|group| task.is_related(group.tasks[0].1)) {
            Some(group) => group.tasks.push((at, task)),
            None => nested.push(NestedTasks { tasks: vec![(at, task)] }),
        }
    }
    nested
}

/// A grown forest that contains the forests of nested tasks.
#[derive(Debug)]
pub(crate) struct Grown {
    /// The columns of its features.
    pub(crate) columns: Vec<usize>,
    pub(crate) trees: Vec<GrowingTree>,
    /// The scores for each of the sizes of the tasks.
    pub(crate) scores: Vec<PartScores>,
}

/// The models of all tasks, in their order; of each feature of the rows, its bins and range.
pub(crate) fn finish_all(
    read: &ReadTask,
    known: (&[Bins], &[FeatureRange]),
    nested: &[NestedTasks<'_>],
    grown: &[Grown],
) -> Result<Vec<Fitted>, TrainError> {
    let mut fitted: Vec<(usize, Fitted)> = Vec::new();
    for (group, grown) in nested.iter().zip(grown) {
        fitted.extend(group.finish(read, known, grown)?);
    }
    fitted.sort_unstable_by_key(|&(at, _)| at);
    Ok(fitted.into_iter().map(|(_, fitted)| fitted).collect())
}

impl ForestTask {
    /// This task, and the same with the seeds after its own, `seeds` in all; after the highest comes 0.
    pub fn over_seeds(&self, seeds: u16) -> Vec<ForestTask> {
        let after = |nth: u16| {
            let params = self.params.after_seed(nth.into());
            ForestTask { params, ..self.clone() }
        };
        (0..seeds).map(after).collect()
    }

    /// Refuses what rows that are read like this do not serve.
    pub(crate) fn check(&self, read: &ReadTask) -> Result<(), TrainError> {
        let params = self.params.get();
        if self.features.is_empty() {
            return Err(TrainError::NoFeatures);
        }
        let what = if params.max_bins > read.max_bins {
            "max_bins"
        } else if read.split.is_random() && params.seed != read.seed {
            "seed (it seeds the random split)"
        } else {
            return Ok(());
        };
        Err(TrainError::Rows { what })
    }

    /// Whether both grow the same trees, as far as each has them.
    fn is_related(&self, other: &ForestTask) -> bool {
        let trees = |task: &ForestTask| ForestParams {
            n_estimators: 1,
            max_depth: 1,
            ..task.params.get().clone()
        };
        self.features == other.features && trees(self) == trees(other)
    }

    /// Number of trees and their depth.
    fn size(&self) -> (usize, usize) {
        let params = self.params.get();
        (usize::from(params.n_estimators), usize::from(params.max_depth))
    }
}

/// Tasks whose forests are parts of one forest, at least one; each with its index among all tasks.
pub(crate) struct NestedTasks<'a> {
    tasks: Vec<(usize, &'a ForestTask)>,
}

impl NestedTasks<'_> {
    /// The one forest; the rows are in `bins`, and `classes` are the accepted and dropped ones that
    /// train.
    pub(crate) fn plan(
        &self,
        read: &ReadTask,
        bins: &[Bins],
        classes: (u64, u64),
    ) -> Result<ForestPlan, TrainError> {
        let all = self.tasks.iter().map(|(_, task)| task.params.get());
        let first = self.tasks[0].1;
        let largest = ForestParams {
            n_estimators: all.clone().map(|params| params.n_estimators).max().unwrap_or(1),
            max_depth: all.map(|params| params.max_depth).max().unwrap_or(1),
            ..first.params.get().clone()
        };
        let (read, wanted) = (read.features.features(), first.features.features());
        let is_monotone = largest.monotone.is_on(&first.features);
        let column = |feature: &Feature| {
            let at = read.iter().position(|read| read == feature)?;
            Some((at, is_monotone && feature.rises()))
        };
        let columns: Option<Vec<(usize, bool)>> = wanted.iter().map(column).collect();
        let columns = columns.ok_or(TrainError::Rows { what: "features" })?;
        Ok(ForestPlan::new(bins, largest, columns, classes))
    }

    /// The distinct sizes of the forests (number of trees, depth), ascending.
    pub(crate) fn sizes(&self) -> Vec<(usize, usize)> {
        let mut sizes: Vec<(usize, usize)> =
            self.tasks.iter().map(|(_, task)| task.size()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The tasks' models.
    fn finish(
        &self,
        read: &ReadTask,
        (bins, ranges): (&[Bins], &[FeatureRange]),
        grown: &Grown,
    ) -> Result<Vec<(usize, Fitted)>, TrainError> {
        let ranges: Vec<FeatureRange> = grown.columns.iter().map(|&at| ranges[at]).collect();
        let sizes = self.sizes();
        let fitted = self.tasks.iter().map(|&(at, task)| {
            let size = task.size();
            let nth = sizes.binary_search(&size).expect("sizes are those of the tasks");
            let tree = |tree: &GrowingTree| tree.truncated(size.1).finish(bins, &grown.columns);
            let trees = grown.trees[..size.0].iter().map(tree);
            let (trees, leaves): (Vec<Tree>, Vec<Vec<LeafRows>>) = trees.unzip();
            let mut fitted = finish(read, task, trees, grown.scores[nth].clone())?;
            let (accepts, drops) = fitted.train_scores.totals();
            let class_weight = task.params.get().class_weight.weights(accepts, drops);
            let tree = |tree: &GrowingTree| tree.truncated(size.1).numbered(bins, &grown.columns);
            let trees = grown.trees[..size.0].iter().map(tree);
            fitted.leaf_shares = Some(LeafShares::new(trees, class_weight));
            Ok((at, fitted.with_ranges(&ranges).with_leaf_rows(leaves)))
        });
        fitted.collect()
    }
}

/// Chooses the vote threshold and measures.
fn finish(
    read: &ReadTask,
    task: &ForestTask,
    trees: Vec<Tree>,
    scores: PartScores,
) -> Result<Fitted, TrainError> {
    let tool = concat!("dropcast ", env!("CARGO_PKG_VERSION")).to_owned();
    let provenance =
        Provenance::new(tool, &read.data, task.params.clone(), read.split.clone(), task.vote);
    let model = provenance.model(trees, task.features.clone(), read.switch.clone());
    Fitted::new(model, scores.0, task.vote)
}
