//! `dropcast sweep`.

use super::train::RunFiles;
use crate::args::SweepArgs;
use crate::failure::UserError;
use crate::output;
use crate::progress::Stage;
use crate::replays::Replays;
use crate::sweep_config::SweepConfig;
use crate::sweep_files::{PartKey, PartTimes, SweepFolder};
use crate::sweep_parts::sweep_parts;
use crate::table_cost::TableCost;
use crate::traces::TraceFiles;
use crate::training::{available_threads, read_rows};
use anyhow::Context;
use dropcast_features::FeatureSet;
use dropcast_replay::{VoteLane, VotePolicy};
use dropcast_train::{
    Fitted, ForestCost, ForestSize, ForestTask, FrontMeasure, FrontRule, Model, Part, ReadTask,
    Resource, Split, SweepGroup, SweepPart, SweepPlan, SweepRow, SweepScores, SweepTable,
    SweepTimings, TrainingRows, VoteRule, assemble, fit_many,
};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

pub(crate) fn run(args: &SweepArgs) -> anyhow::Result<()> {
    let (config, plan) = SweepConfig::read(&args.config)?;
    let folder_path = match &args.output {
        Some(path) => path.clone(),
        None => PathBuf::from("runs").join(args.config.file_stem().unwrap_or_default()),
    };
    let sweep = Sweep::open(config, args)?;
    let folder = SweepFolder::open(&folder_path, args.resume)?;
    let (table, models, timings) = sweep.train(&plan, &folder)?;
    folder.finish(&table, &models, &timings)?;
    output::print(args.format, &table, |table| {
        format!("{}\nAll of it is in {}.\n", text(table), folder_path.display())
    })
}

/// A sweep's data, and how it is used.
struct Sweep {
    eta: bool,
    files: TraceFiles,
    /// Those of the files.
    features: FeatureSet,
    split: Split,
    front: FrontRule,
    threads: NonZeroUsize,
    /// For binned rows; no limit unless given.
    memory_limit_mib: Option<u64>,
}

/// What [`SweepFolder::finish`] writes.
type Found = (SweepTable, Vec<(String, String)>, SweepTimings);

impl Sweep {
    fn open(config: SweepConfig, args: &SweepArgs) -> anyhow::Result<Self> {
        let stated = config.split()?;
        let run_files =
            RunFiles { data: &config.data, validation: &config.validation, test: &config.test };
        let features = all_features(&config)?;
        let files = TraceFiles::open(&run_files.all(), &features)?;
        let split = run_files.split_of(&files).unwrap_or(stated);
        let (validates, tests) = (split.keeps(Part::Validation), split.keeps(Part::Test));
        let front = FrontRule::of(validates, tests, config.eta);
        let sweep = Sweep {
            eta: config.eta,
            files,
            features,
            split,
            front,
            threads: args.threads.unwrap_or_else(available_threads),
            memory_limit_mib: args.memory_limit,
        };
        if config.eta || config.axes.votes.iter().any(|vote| vote.replays()) {
            sweep.replays(0).check()?;
        }
        Ok(sweep)
    }

    fn train(&self, plan: &SweepPlan, folder: &SweepFolder) -> anyhow::Result<Found> {
        let stage = Stage::begin("sweep");
        let data: Vec<String> =
            self.files.files.iter().map(|file| file.origin.sha256.clone()).collect();
        let key = |group| PartKey {
            tool: concat!("dropcast ", env!("CARGO_PKG_VERSION")),
            data: &data,
            split: &self.split,
            front: self.front,
            eta: self.eta,
            group,
        };
        let mut parts: Vec<Option<(SweepPart, Option<PartTimes>)>> = Vec::new();
        for group in &plan.groups {
            parts.push(folder.finished(&key(group))?);
        }
        let pending: Vec<usize> = (0..parts.len()).filter(|&at| parts[at].is_none()).collect();
        let (mut read_ms, mut rows) = (0.0, None);
        for pending in self.batches(plan, pending) {
            let groups: Vec<&SweepGroup> = pending.iter().map(|&at| &plan.groups[at]).collect();
            let began = Instant::now();
            let rows = self.rows_for(plan, groups[0], folder, &mut rows)?;
            read_ms += began.elapsed().as_secs_f64() * 1e3;
            let (grown, fit_ms) = self.grow(rows, &groups)?;
            for ((&at, group), grown) in pending.iter().zip(groups).zip(grown) {
                let began = Instant::now();
                let part = self.measure(group, &grown)?;
                let times = PartTimes { fit_ms, measure_ms: began.elapsed().as_secs_f64() * 1e3 };
                folder.keep(&key(group), &part, &times)?;
                stage.advance(group.places.len());
                parts[at] = Some((part, Some(times)));
            }
        }
        let none = vec![None; plan.rows];
        let mut timings = SweepTimings { read_ms, fit_ms: none.clone(), measure_ms: none };
        let mut finished = Vec::new();
        for (group, (part, times)) in plan.groups.iter().zip(parts.into_iter().flatten()) {
            let share = |ms: f64| ms / group.places.len() as f64;
            for &place in &group.places {
                timings.fit_ms[place] = times.map(|times| share(times.fit_ms));
                timings.measure_ms[place] = times.map(|times| share(times.measure_ms));
            }
            finished.push(part);
        }
        let origins = self.files.origins();
        let seed = plan.groups.first().map_or(0, |group| self.split_seed(group));
        let split = (self.split.clone(), sweep_parts(&self.files, &self.split, seed)?);
        let (table, models) = assemble(plan, finished, origins, split, self.front)?;
        stage.end(&format!("{} forests", plan.rows));
        Ok((table, models, timings))
    }

    /// The rows that `group` trains on, for all features and the most bins of the sweep: those
    /// in `kept`, or they are read.
    fn rows_for<'r>(
        &self,
        plan: &SweepPlan,
        group: &SweepGroup,
        folder: &SweepFolder,
        kept: &'r mut Option<TrainingRows>,
    ) -> anyhow::Result<&'r TrainingRows> {
        let seed = self.split_seed(group);
        // Other rows go before these come.
        kept.take_if(|rows| rows.task().seed != seed);
        if kept.is_none() {
            let task = ReadTask {
                features: self.features.clone(),
                split: self.split.clone(),
                seed,
                max_bins: plan.groups.iter().map(|group| group.max_bins).max().unwrap_or(2),
                switch: self.files.switch_context(),
                data: self.files.origins(),
                threads: self.threads,
            };
            let scratch = folder.scratch();
            let limit = self.memory_limit_mib.map(|mib| (mib, scratch.as_path()));
            let rows = read_rows(&self.files, task, limit)?;
            *kept = Some(rows.map_err(|error| self.files.explain(error))?);
        }
        kept.as_ref().context("rows were read")
    }

    /// Groups that train on the same rows, as many at once as fit into memory with their scores.
    fn batches(&self, plan: &SweepPlan, mut pending: Vec<usize>) -> Vec<Vec<usize>> {
        let seed = |at: usize| self.split_seed(&plan.groups[at]);
        let trees =
            |at: usize| plan.groups[at].sizes().map(|(trees, _)| usize::from(trees)).sum::<usize>();
        pending.sort_by_key(|&at| seed(at));
        let mut batches: Vec<Vec<usize>> = Vec::new();
        for at in pending {
            let joins = |batch: &&mut Vec<usize>| {
                let together: usize = batch.iter().chain([&at]).map(|&of| trees(of)).sum();
                let is_small = batch.len() < GROUPS_AT_ONCE && together <= TREES_AT_ONCE;
                is_small && batch.first().is_some_and(|&first| seed(first) == seed(at))
            };
            match batches.last_mut().filter(joins) {
                Some(batch) => batch.push(at),
                None => batches.push(vec![at]),
            }
        }
        batches
    }

    /// Only a random split has a seed.
    fn split_seed(&self, group: &SweepGroup) -> u64 {
        if self.split.is_random() { group.seed } else { 0 }
    }

    fn replays(&self, seed: u64) -> Replays<'_> {
        Replays { files: &self.files, split: &self.split, seed, threads: self.threads }
    }

    /// Grows the forests of groups, of each in the order of its sizes; also the milliseconds that
    /// each group took.
    fn grow(
        &self,
        rows: &TrainingRows,
        groups: &[&SweepGroup],
    ) -> anyhow::Result<(Vec<Vec<Fitted>>, f64)> {
        let mut tasks = Vec::new();
        for group in groups {
            for size in group.sizes() {
                // Votes are chosen after it.
                let (features, vote) = (group.features.clone(), VoteRule::F1);
                tasks.push(ForestTask { features, params: group.params(size)?, vote });
            }
        }
        let began = Instant::now();
        let mut fitted = fit_many(rows, &tasks, self.threads)?.into_iter();
        let fit_ms = began.elapsed().as_secs_f64() * 1e3 / groups.len() as f64;
        let of_group = |group: &&SweepGroup| fitted.by_ref().take(group.sizes().count()).collect();
        Ok((groups.iter().map(of_group).collect(), fit_ms))
    }

    /// Chooses the votes of a group's forests, and measures them.
    fn measure(&self, group: &SweepGroup, grown: &[Fitted]) -> anyhow::Result<SweepPart> {
        let replays = self.replays(self.split_seed(group));
        let mut by_vote: Vec<Vec<Fitted>> = Vec::new();
        for &vote in &group.votes {
            let mut fitted = grown.to_vec();
            for fitted in &mut fitted {
                let (ports, trees) = (fitted.model.switch.ports, fitted.model.forest.trees.len());
                if !vote.replays() {
                    let decision = vote.choose(fitted.vote_scores(), trees, ports)?;
                    fitted.set_vote(vote, decision.threshold);
                }
            }
            replays.choose(vote, &mut fitted)?;
            by_vote.push(fitted);
        }
        // In the order of rows: by size, then by vote.
        let fitted: Vec<&Fitted> =
            (0..grown.len()).flat_map(|size| by_vote.iter().map(move |of| &of[size])).collect();
        let validation_eta = self.eta_of(Part::Validation, grown, &by_vote, &replays)?;
        let test_eta = self.eta_of(Part::Test, grown, &by_vote, &replays)?;
        let settings =
            group.sizes().flat_map(|size| group.votes.iter().map(move |&vote| (size, vote)));
        let rows = settings.zip(&fitted).enumerate().map(|(at, ((size, vote), fitted))| {
            let Model { forest, metrics, .. } = &fitted.model;
            let metrics = metrics.as_ref();
            SweepRow {
                setting: group.setting(size, vote),
                seed: group.seed,
                vote_threshold: forest.vote_threshold,
                train: metrics.map(|m| SweepScores::of(&m.train, None)).unwrap_or_default(),
                validation: metrics
                    .and_then(|m| m.validation.as_ref())
                    .map(|part| SweepScores::of(part, validation_eta[at])),
                test: metrics
                    .and_then(|m| m.test.as_ref())
                    .map(|part| SweepScores::of(part, test_eta[at])),
                size: size_of(&fitted.model),
                pareto: false,
                model: None,
            }
        });
        let rows: Vec<SweepRow> = rows.collect();
        let models: Vec<Model> = fitted.iter().map(|fitted| fitted.model.clone()).collect();
        Ok(SweepPart::new(self.front, rows, &models))
    }

    /// The exact `eta` of each forest with the threshold of each vote on the rows of `part`, where it
    /// is wanted and there are any.
    fn eta_of(
        &self,
        part: Part,
        grown: &[Fitted],
        by_vote: &[Vec<Fitted>],
        replays: &Replays<'_>,
    ) -> anyhow::Result<Vec<Option<f64>>> {
        if !self.eta || !self.split.keeps(part) {
            return Ok(vec![None; grown.len() * by_vote.len()]);
        }
        let forests: Vec<_> = grown.iter().map(|fitted| &fitted.model.forest).collect();
        let lanes = (0..grown.len()).flat_map(|forest| {
            by_vote.iter().map(move |of| VoteLane {
                forest,
                threshold: of[forest].model.forest.vote_threshold,
                policy: VotePolicy::Followed,
            })
        });
        let lanes: Vec<VoteLane> = lanes.collect();
        let sent = replays.replay(part, &forests, &lanes)?;
        Ok((0..lanes.len()).map(|lane| sent.lqd_to_lane(lane)).collect())
    }
}

/// Groups that are grown on the same passes over the rows, and lost together if the sweep is
/// interrupted.
const GROUPS_AT_ONCE: usize = 8;

/// Trees of groups that are grown at once: the scores of each take 12 kB. A group of more is alone.
const TREES_AT_ONCE: usize = 1 << 14;

/// Every feature of any set of the sweep.
fn all_features(config: &SweepConfig) -> Result<FeatureSet, UserError> {
    let mut names: Vec<String> = Vec::new();
    for name in config.axes.features.iter().flat_map(FeatureSet::names) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    FeatureSet::try_from(names).map_err(|error| UserError(error.to_string()))
}

/// What a model takes in tables; null what its forest cannot be exported to.
fn size_of(model: &Model) -> ForestSize {
    let cost = TableCost::of(&model.features);
    ForestSize {
        dct_bytes: cost.cost(&model.forest, Resource::DctBytes),
        ternary_entries: cost.cost(&model.forest, Resource::TernaryEntries),
        thresholds: cost.cost(&model.forest, Resource::Thresholds).unwrap_or_default(),
    }
}

/// The rows by part, and the front, as tables.
pub(super) fn text(table: &SweepTable) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.4}"));
    // Where few packets drop, rows differ in the last digits.
    let eta = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.6}"));
    let part = table.front.part;
    let measure = match table.front.measure {
        FrontMeasure::EtaPackets => "eta",
        FrontMeasure::F1 => "F1",
    };
    let mut text = String::new();
    for (name, size) in table.parts.named() {
        let episodes = size.episodes.map_or_else(String::new, |n| {
            format!(" in {n} {}", if n == 1 { "episode" } else { "episodes" })
        });
        text.push_str(&format!("{name}: {} rows, {} drops{episodes}\n", size.rows, size.drops));
        if size.has_few_episodes() {
            let by_blocks = if matches!(table.split, Split::Time { .. }) {
                ", or split by time-blocks"
            } else {
                ""
            };
            text.push_str(&format!(
                "  What so few episodes say is luck for a good part: sweep over longer or more \
                 traces{by_blocks}.\n"
            ));
        }
    }
    text.push_str(&format!(
        "{} {}; by {measure} on {} rows, none is better and as small as these:\n\n\
         {:>7} {:>8} {:>8} {:>8} {:>8}  configuration\n",
        table.rows.len(),
        if table.rows.len() == 1 { "forest" } else { "forests" },
        format!("{part:?}").to_lowercase(),
        "entries",
        "eta",
        "F1",
        "test eta",
        "test F1",
    ));
    let mut front: BTreeMap<u64, &SweepRow> = BTreeMap::new();
    for row in table.rows.iter().filter(|row| row.pareto) {
        front.insert(row.size.ternary_entries.unwrap_or_default(), row);
    }
    for (entries, row) in front {
        let (own, test) = (row.scores(part), row.test.as_ref());
        let setting = &row.setting;
        text.push_str(&format!(
            "{entries:>7} {:>8} {:>8} {:>8} {:>8}  {} x {}, {}, {} bins, {} drawn, {}, weights {}, leaves \
             of {}, vote {}, seed {}\n",
            eta(own.and_then(|scores| scores.eta_packets)),
            number(own.and_then(|scores| scores.f1)),
            eta(test.and_then(|scores| scores.eta_packets)),
            number(test.and_then(|scores| scores.f1)),
            setting.trees,
            setting.max_depth,
            setting.features.join(","),
            setting.max_bins,
            setting.max_features,
            setting.criterion,
            setting.class_weight,
            setting.min_samples_leaf,
            setting.vote,
            row.seed,
        ));
    }
    text
}
