//! A sweep: every combination of settings, trained on one reading of the rows.

use super::folder::{PartKey, PartTimes, SweepFolder};
use super::part_sizes::part_sizes;
use super::settings::{SweepSettings, no_data};
use super::squeezing::BestSqueezing;
use super::swept_rows::{PartScores, SweptRows};
use crate::PipelineError;
use crate::progress::{Progress, check};
use crate::resources::{MemoryLimit, Resources};
use crate::table_cost::TableCost;
use crate::traces::{LabelledTrace, LabelledTraces};
use crate::train::replays::choose_votes;
use crate::train::{Roles, read_rows};
use dropcast_features::FeatureSet;
use dropcast_train::{
    ChosenSplit, Fitted, ForestTask, FrontRule, Part, ReadTask, SweepGroup, SweepPart, SweepPlan,
    SweepRow, SweepTable, SweepTimings, TrainedModel, TrainingRows, VoteRule, assemble, fit_many,
};
use std::path::Path;
use std::time::Instant;

/// Trains every combination of settings, into `folder`: on these traces, or on the files that the settings name. `page`
/// makes a page of what was found.
///
/// An interrupted sweep of the same folder is continued with `resume`.
///
/// # Errors
/// If a setting is wrong, a trace cannot be read, or the folder holds a sweep and `resume` is off.
pub fn sweep(
    settings: &SweepSettings,
    traces: Option<Roles<LabelledTrace>>,
    folder: &Path,
    resume: bool,
    resources: &Resources,
    progress: &dyn Progress,
    page: impl FnOnce(&SweepTable) -> Result<String, PipelineError>,
) -> Result<SweepTable, PipelineError> {
    let traces = match traces {
        Some(traces) => {
            settings.check_but_data()?;
            traces
        }
        None => {
            settings.check()?;
            SweepFolder::spare(folder, settings.inputs())?;
            settings.open()?
        }
    };
    let plan = settings.plan()?;
    let sweep = Sweep::open(settings, traces, resources, progress)?;
    let folder = SweepFolder::open(folder, resume)?;
    let (mut table, mut models, timings) = sweep.train(&plan, &folder, progress)?;
    if let Some(budget) = &settings.budget {
        let limit = resources.memory.as_ref().map(|limit| limit.mib);
        let memory = limit.map(|mib| MemoryLimit { mib, beside: folder.scratch() });
        let resources = &Resources { threads: resources.threads, memory };
        let (rows, folder) = (&sweep.rows, &folder);
        let squeezing = BestSqueezing { settings, budget, rows, folder, resources };
        squeezing.replace(&mut table, &mut models, progress)?;
    }
    folder.finish(&table, &models, &timings, &page(&table)?)?;
    Ok(table)
}

/// Trains the share `nth` of `of` of a sweep's settings into `folder`, as parts that [`sweep`]
/// takes up when it resumes there. Nothing else is written: the parts of all shares together make
/// the sweep.
///
/// # Errors
/// Those of [`sweep`].
pub fn sweep_share(
    settings: &SweepSettings,
    folder: &Path,
    (nth, of): (usize, usize),
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<(), PipelineError> {
    settings.check()?;
    let plan = settings.plan()?;
    let sweep = Sweep::open(settings, settings.open()?, resources, progress)?;
    let folder = SweepFolder::open(folder, true)?;
    progress.begin("sweep");
    sweep.train_groups(&plan, &folder, |at| at % of.max(1) == nth, progress)?;
    progress.end("a share of the forests");
    Ok(())
}

fn traces_and_split(
    settings: &SweepSettings,
    traces: Roles<LabelledTrace>,
    features: &FeatureSet,
    progress: &dyn Progress,
) -> Result<(LabelledTraces, ChosenSplit), PipelineError> {
    let choice = settings.split(traces.are_kept_apart())?;
    traces.divide(features, &choice, 0, progress)
}

/// Forests by group, by seed, in the order of sizes.
type Grown = Vec<Vec<Vec<Fitted>>>;

/// A sweep's data, and how it is used.
struct Sweep {
    rows: SweptRows,
    /// Those of the files.
    features: FeatureSet,
    front: FrontRule,
    /// For binned rows; no limit unless given.
    memory_limit_mib: Option<u64>,
}

/// A finished part, and what it took if that is known.
type KeptPart = (SweepPart, Option<PartTimes>);

/// What [`SweepFolder::finish`] writes.
type SweepResults = (SweepTable, Vec<(String, String)>, SweepTimings);

impl Sweep {
    fn open(
        settings: &SweepSettings,
        traces: Roles<LabelledTrace>,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Self, PipelineError> {
        if traces.data.is_empty() {
            return Err(no_data());
        }
        let features = settings.features()?;
        let (traces, chosen) = traces_and_split(settings, traces, &features, progress)?;
        let split = &chosen.split;
        let (validates, tests) = (split.keeps(Part::Validation), split.keeps(Part::Test));
        let front = FrontRule::new(validates, tests, settings.eta);
        let rows = SweptRows { eta: settings.eta, traces, chosen, threads: resources.threads() };
        let sweep = Sweep {
            rows,
            features,
            front,
            memory_limit_mib: resources.memory.as_ref().map(|limit| limit.mib),
        };
        if settings.eta || settings.axes.votes.iter().any(|vote| vote.replays()) {
            sweep.rows.replays(0).check()?;
        }
        Ok(sweep)
    }

    /// Trains the groups that are wanted and not finished yet, by their numbers; returns what is
    /// finished, and how long the rows were read, milliseconds.
    fn train_groups(
        &self,
        plan: &SweepPlan,
        folder: &SweepFolder,
        is_wanted: impl Fn(usize) -> bool,
        progress: &dyn Progress,
    ) -> Result<(Vec<Option<KeptPart>>, f64), PipelineError> {
        let split = self.rows.split();
        let data = self.rows.hashes();
        let key = |group| PartKey {
            tool: concat!("dropcast ", env!("CARGO_PKG_VERSION")),
            data: &data,
            split,
            front: self.front,
            eta: self.rows.eta,
            group,
        };
        let mut parts: Vec<Option<KeptPart>> = Vec::new();
        for group in &plan.groups {
            parts.push(folder.finished(&key(group))?);
        }
        let is_pending = |at: &usize| parts[*at].is_none() && is_wanted(*at);
        let pending: Vec<usize> = (0..parts.len()).filter(is_pending).collect();
        let (mut read_ms, mut rows) = (0.0, None);
        for pending in Sweep::batches(plan, pending) {
            check(progress)?;
            let groups: Vec<&SweepGroup> = pending.iter().map(|&at| &plan.groups[at]).collect();
            // By group, seed and size.
            let mut grown: Vec<Vec<Vec<Fitted>>> = vec![Vec::new(); groups.len()];
            let mut fit_ms = 0.0;
            // Seeds that divide the rows alike grow together; all groups have the same.
            let same_rows = |a: &u64, b: &u64| self.rows.split_seed(*a) == self.rows.split_seed(*b);
            for seeds in groups[0].seeds.chunk_by(same_rows) {
                let began = Instant::now();
                let rows = self.rows_for(plan, seeds[0], folder, &mut rows)?;
                read_ms += began.elapsed().as_secs_f64() * 1e3;
                let (forests, more_ms) = self.grow(rows, &groups, seeds)?;
                fit_ms += more_ms;
                grown.iter_mut().zip(forests).for_each(|(grown, forests)| grown.extend(forests));
            }
            for ((&at, group), grown) in pending.iter().zip(groups).zip(grown) {
                let began = Instant::now();
                let part = self.measure(group, &grown)?;
                let times = PartTimes { fit_ms, measure_ms: began.elapsed().as_secs_f64() * 1e3 };
                folder.keep(&key(group), &part, &times)?;
                progress.advance(group.places.len());
                parts[at] = Some((part, Some(times)));
            }
        }
        Ok((parts, read_ms))
    }

    fn train(
        &self,
        plan: &SweepPlan,
        folder: &SweepFolder,
        progress: &dyn Progress,
    ) -> Result<SweepResults, PipelineError> {
        progress.begin("sweep");
        let (traces, split) = (&self.rows.traces, self.rows.split());
        let (parts, read_ms) = self.train_groups(plan, folder, |_| true, progress)?;
        let none = vec![None; plan.rows];
        let mut timings = SweepTimings { read_ms, fit_ms: none.clone(), measure_ms: none };
        let mut finished = Vec::new();
        for (group, (part, times)) in plan.groups.iter().zip(parts.into_iter().flatten()) {
            let share = |ms: f64| ms / group.places.len() as f64;
            for place in group.places.clone() {
                timings.fit_ms[place] = times.map(|times| share(times.fit_ms));
                timings.measure_ms[place] = times.map(|times| share(times.measure_ms));
            }
            finished.push(part);
        }
        let first = plan.groups.first().and_then(|group| group.seeds.first().copied());
        let seed = first.map_or(0, |seed| self.rows.split_seed(seed));
        let split = (split.clone(), part_sizes(traces, split, seed)?);
        let (mut table, models) = assemble(plan, finished, traces.origins(), split, self.front)?;
        table.best_alpha = self.rows.best_alpha(seed)?;
        progress.end(&format!("{} forests", plan.rows));
        Ok((table, models, timings))
    }

    /// The rows that forests of this seed train on, for all features and the most bins of the sweep: those
    /// in `kept`, or they are read.
    fn rows_for<'r>(
        &self,
        plan: &SweepPlan,
        seed: u64,
        folder: &SweepFolder,
        kept: &'r mut Option<TrainingRows>,
    ) -> Result<&'r TrainingRows, PipelineError> {
        let seed = self.rows.split_seed(seed);
        // Other rows go before these come.
        kept.take_if(|rows| rows.task().seed != seed);
        if kept.is_none() {
            let task = ReadTask {
                features: self.features.clone(),
                split: self.rows.split().clone(),
                seed,
                max_bins: plan.groups.iter().map(|group| group.forest.max_bins).max().unwrap_or(2),
                switch: self.rows.traces.switch_context(),
                data: self.rows.traces.origins(),
                threads: self.rows.threads,
            };
            let limit =
                self.memory_limit_mib.map(|mib| MemoryLimit { mib, beside: folder.scratch() });
            let rows = read_rows(&self.rows.traces, task, limit.as_ref())?;
            *kept = Some(rows.map_err(|error| self.rows.traces.explain(error))?);
        }
        Ok(kept.as_ref().expect("rows were read"))
    }

    /// Groups that grow at once: as many as fit into memory with their scores.
    fn batches(plan: &SweepPlan, pending: Vec<usize>) -> Vec<Vec<usize>> {
        let trees = |at: usize| {
            let group = &plan.groups[at];
            let of_seed: usize = group.sizes().map(|(trees, _)| usize::from(trees)).sum();
            of_seed * group.seeds.len()
        };
        let mut batches: Vec<Vec<usize>> = Vec::new();
        for at in pending {
            let joins = |batch: &&mut Vec<usize>| {
                let together: usize = batch.iter().chain([&at]).map(|&of| trees(of)).sum();
                batch.len() < GROUPS_AT_ONCE && together <= TREES_AT_ONCE
            };
            match batches.last_mut().filter(joins) {
                Some(batch) => batch.push(at),
                None => batches.push(vec![at]),
            }
        }
        batches
    }

    /// Grows the forests of groups with these seeds: by group, by seed, in the order of sizes; also the milliseconds
    /// that each group took.
    fn grow(
        &self,
        rows: &TrainingRows,
        groups: &[&SweepGroup],
        seeds: &[u64],
    ) -> Result<(Grown, f64), PipelineError> {
        let mut tasks = Vec::new();
        for group in groups {
            for &seed in seeds {
                for size in group.sizes() {
                    // Votes are chosen after it.
                    let (features, vote) = (group.features.clone(), VoteRule::F1);
                    tasks.push(ForestTask { features, params: group.params(size, seed)?, vote });
                }
            }
        }
        let began = Instant::now();
        let mut fitted = fit_many(rows, &tasks, self.rows.threads)?;
        fitted.iter_mut().for_each(|fitted| fitted.record(&self.rows.chosen));
        let mut fitted = fitted.into_iter();
        let fit_ms = began.elapsed().as_secs_f64() * 1e3 / groups.len() as f64;
        let sizes = |group: &&SweepGroup| group.sizes().count();
        let of_group = |group| {
            let of_seed = |_: &u64| fitted.by_ref().take(sizes(group)).collect();
            seeds.iter().map(of_seed).collect()
        };
        Ok((groups.iter().map(of_group).collect(), fit_ms))
    }

    /// Chooses the votes of a group's forests, by seed and size, and measures them.
    fn measure(
        &self,
        group: &SweepGroup,
        grown: &[Vec<Fitted>],
    ) -> Result<SweepPart, PipelineError> {
        let cost = TableCost::new(&group.features);
        // By seed, then by size and vote.
        let mut of_seeds = Vec::new();
        for (&seed, grown) in group.seeds.iter().zip(grown) {
            let replays = self.rows.replays(seed);
            let mut by_vote: Vec<Vec<Fitted>> = Vec::new();
            for &vote in &group.votes {
                let mut fitted = grown.clone();
                choose_votes(vote, &replays, &mut fitted)?;
                by_vote.push(fitted);
            }
            let scores = self.rows.measure(&by_vote, &replays)?;
            let fitted = (0..grown.len()).flat_map(|size| by_vote.iter().map(move |of| &of[size]));
            let settings =
                group.sizes().flat_map(|size| group.votes.iter().map(move |&vote| (size, vote)));
            let row = |(((size, vote), fitted), scores): (((_, VoteRule), &Fitted), PartScores)| {
                let PartScores { train, validation, test } = scores;
                let forest = &fitted.model.forest;
                let row = SweepRow {
                    setting: group.setting(size, vote),
                    seed,
                    vote_threshold: forest.vote_threshold,
                    train,
                    validation,
                    test,
                    size: cost.size(forest),
                    pareto: false,
                    model: None,
                };
                (row, fitted.model.clone())
            };
            of_seeds.push(Vec::from_iter(settings.zip(fitted).zip(scores).map(row)).into_iter());
        }
        // In the order of rows: by size and vote, then by seed.
        let mut rows: Vec<SweepRow> = Vec::new();
        let mut models: Vec<TrainedModel> = Vec::new();
        for _ in 0..group.places.len() / group.seeds.len() {
            for (row, model) in of_seeds.iter_mut().filter_map(Iterator::next) {
                rows.push(row);
                models.push(model);
            }
        }
        Ok(SweepPart::new(self.front, group.seeds.len(), rows, &models))
    }
}

/// Groups that are grown on the same passes over the rows, and lost together if the sweep is
/// interrupted.
const GROUPS_AT_ONCE: usize = 8;

/// Trees of groups that are grown at once: the scores of each take 12 kB. A group of more is alone.
const TREES_AT_ONCE: usize = 1 << 14;
