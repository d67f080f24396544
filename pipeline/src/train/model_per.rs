//! A model of each switch or role, beside one of all switches.

use super::replays::Replays;
use super::{Training, cautions};
use crate::PipelineError;
use crate::export::models::ModelFile;
use crate::files::check_output;
use crate::files::work_folder::WorkFolder;
use crate::progress::Progress;
use crate::table_cost::TableCost;
use crate::traces::{LabelledTraces, in_common};
use dropcast_data::write_atomic;
use dropcast_forest::{Confusion, ForestScorer, PartMetrics, ScoreHistogram, VoteLane, VotePolicy};
use dropcast_replay::LanesSent;
use dropcast_train::{
    BatchSource, ChosenSplit, Fitted, ForestCost, Part, Resource, RunSwitch, Split, TrainError,
    TrainedModel, rows_of_part,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Which switches share a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ModelPer {
    /// All of them.
    #[default]
    Pooled,
    /// None: each number has its own, in all runs.
    Switch,
    /// Those with the same role in their description (docs/switch.md).
    Role,
}

/// The models, each beside the pooled one on the same rows.
#[derive(Debug, Serialize)]
pub struct GroupModels {
    /// Which rows were measured: `test`, or `train` if the split has no others.
    pub rows: &'static str,
    /// By group.
    pub models: Vec<GroupModel>,
    /// All rows, each decided by the own model of its switch, or by the pooled one where there is
    /// none.
    pub own: Total,
    /// All rows, decided by the pooled model.
    pub all_pooled: Total,
}

/// The model of one switch or role.
#[derive(Debug, Serialize)]
pub struct GroupModel {
    /// The group: `switch-3`, `leaf`.
    pub name: String,
    /// The model, with thresholds for its switches' buffer; none if it could not be trained.
    #[serde(skip)]
    pub model: Option<TrainedModel>,
    /// Why it could not be trained.
    pub problem: Option<String>,
    /// What it is worth on the rows of its switches.
    pub own: Option<GroupScores>,
    /// What the pooled model is worth on the same rows.
    pub pooled: GroupScores,
}

/// What a model is worth on some rows.
#[derive(Debug, Serialize)]
pub struct GroupScores {
    /// Its scores.
    #[serde(flatten)]
    pub scores: PartMetrics,
    /// Exact `eta` (Credence, Definition 1), by replay; null where the rows can't be replayed.
    pub eta_packets: Option<f64>,
    /// Bytes of its `.dct` table.
    pub dct_bytes: Option<u64>,
}

/// What some models together are worth on all rows.
#[derive(Debug, Default, Serialize)]
pub struct Total {
    /// Predictions by truth.
    pub confusion: Confusion,
    /// Their F1.
    pub f1: Option<f64>,
    /// Exact `eta`, by replay.
    pub eta_packets: Option<f64>,
    #[serde(skip)]
    sent: LanesSent,
}

impl Total {
    /// Adds rows, and what was sent of them in `lane`.
    fn add(&mut self, scores: &PartMetrics, sent: &LanesSent, lane: usize) {
        self.confusion.merge(&scores.confusion);
        let lanes = sent.lanes.get(lane).copied().into_iter().collect();
        self.sent.add(&LanesSent { lqd: sent.lqd, lanes, ..LanesSent::default() });
        self.f1 = self.confusion.f1();
        self.eta_packets = self.sent.lqd_to_lane(0);
    }
}

/// The switches of each group, by its name.
///
/// # Errors
/// If rows do not name their switch, or a switch has no role.
pub(super) fn groups(
    traces: &LabelledTraces,
    per: ModelPer,
) -> Result<BTreeMap<String, Vec<RunSwitch>>, PipelineError> {
    let mut switches: BTreeSet<RunSwitch> = BTreeSet::new();
    for batch in traces.batches()? {
        let batch = batch?;
        let arrivals = batch.batch.arrivals.as_ref();
        let arrivals = arrivals.ok_or(TrainError::NoSwitches { run: batch.run });
        let arrivals = arrivals.map_err(|error| traces.explain(error))?;
        switches.extend(arrivals.switch_id.iter().map(|&id| (batch.run, id)));
    }
    let mut groups: BTreeMap<String, Vec<RunSwitch>> = BTreeMap::new();
    for (run, switch) in switches {
        let name = match per {
            ModelPer::Pooled => "all".to_owned(),
            ModelPer::Switch => format!("switch-{switch}"),
            ModelPer::Role => role(traces, run, switch)?,
        };
        groups.entry(name).or_default().push((run, switch));
    }
    Ok(groups)
}

/// Trains a model of all switches, and one of each group; compares them on the same rows.
///
/// # Errors
/// Those of training. What one group lacks is in its [`GroupModel::problem`].
pub(super) fn train_groups(
    training: &Training<'_>,
    chosen: &ChosenSplit,
    groups: BTreeMap<String, Vec<RunSwitch>>,
    progress: &dyn Progress,
) -> Result<(GroupModels, Fitted), PipelineError> {
    progress.begin("train");
    let (traces, split) = (training.traces, &chosen.split);
    let part = if split.keeps(Part::Test) { Part::Test } else { Part::Train };
    let all_of = training.fit_recorded(chosen, 1)?;
    let pooled = &all_of.model;
    cautions(pooled).iter().for_each(|caution| progress.note(caution));
    let mut all = GroupModels {
        rows: if part == Part::Test { "test" } else { "train" },
        models: Vec::new(),
        own: Total::default(),
        all_pooled: Total::default(),
    };
    for (name, switches) in groups {
        let specs = switches.iter().filter_map(|&(run, id)| traces.spec(run, id));
        let buffer_bytes = in_common(specs).buffer_bytes;
        let only = Split::Only { switches, of: Box::new(split.clone()) };
        let chosen = ChosenSplit { split: only, ..chosen.clone() };
        let (own, problem) = match training.fit_recorded(&chosen, 1) {
            Ok(own) => (Some(own.model), None),
            // What one group lacks is its problem alone; the others have their models.
            Err(PipelineError::Train(error)) if error.is_lack_of_rows() => {
                (None, Some(error.to_string()))
            }
            Err(error) => return Err(error),
        };
        let rows = MeasuredRows { training, split: &chosen.split, part };
        let models: Vec<&TrainedModel> = own.iter().chain([pooled]).collect();
        let (mut measured, sent) = rows.measure(&models)?;
        // The pooled model is the last, and the first too where there is no other.
        let Some(pooled) = measured.pop() else { continue };
        let own_or_pooled = measured.first().unwrap_or(&pooled);
        all.own.add(&own_or_pooled.scores, &sent, 0);
        all.all_pooled.add(&pooled.scores, &sent, models.len() - 1);
        // Measured on the scale of all; returned for its switches as they are.
        let model = own.map(|own| match buffer_bytes {
            Some(bytes) => own.for_buffer(bytes).unwrap_or(own),
            None => own,
        });
        all.models.push(GroupModel { name, model, problem, own: measured.pop(), pooled });
    }
    progress.end(&format!("{} models and one of all", all.models.len()));
    Ok((all, all_of))
}

/// The files of models, and the right to write them.
pub(super) struct ModelFiles {
    pooled: PathBuf,
    groups: Vec<PathBuf>,
    /// Where there are several models.
    work: Option<WorkFolder>,
}

impl ModelFiles {
    /// For the models of these groups, if there are any, beside that of all, `pooled`, before any is trained: the group
    /// `leaf` beside `model.json` has `model.leaf.json`.
    ///
    /// # Errors
    /// If a file would replace one of `inputs`, or another job writes them.
    pub(super) fn begin(
        pooled: &Path,
        groups: Option<&BTreeMap<String, Vec<RunSwitch>>>,
        inputs: &[PathBuf],
    ) -> Result<Self, PipelineError> {
        let folder = pooled.parent().unwrap_or(Path::new(""));
        let name = pooled.file_name().unwrap_or_default().to_string_lossy();
        let work = groups.map(|_| WorkFolder::inside(folder, &name)).transpose()?;
        let groups = groups.into_iter().flatten();
        let groups: Vec<PathBuf> = groups.map(|(name, _)| file_of(pooled, name)).collect();
        groups.iter().try_for_each(|path| check_output(path, inputs))?;
        Ok(ModelFiles { pooled: pooled.to_owned(), groups, work })
    }

    /// Writes the models, that of all last: where it is, the others are, too. Those of an earlier training, also of other
    /// groups, are removed. Returns the groups' files, in their order; none where a group has no model.
    ///
    /// # Errors
    /// If one cannot be written. The earlier ones are then there again.
    pub(super) fn write(
        mut self,
        pooled: &TrainedModel,
        models: &[GroupModel],
    ) -> Result<Vec<Option<PathBuf>>, PipelineError> {
        let Some(work) = self.work.take() else {
            write_atomic(&self.pooled, pooled.to_json().as_bytes())?;
            return Ok(Vec::new());
        };
        let write = |path: &Path, model: &TrainedModel| {
            let path = work.path().join(path.file_name().unwrap_or_default());
            write_atomic(&path, model.to_json().as_bytes())
        };
        write(&self.pooled, pooled)?;
        let mut files = Vec::new();
        for GroupModel { name, model, .. } in models {
            let path = file_of(&self.pooled, name);
            model.as_ref().map(|model| write(&path, model)).transpose()?;
            files.push(model.as_ref().map(|_| path));
        }
        work.finish(|path| self.is_named(path) && (self.is_own(path) || is_of_a_group(path)))?;
        Ok(files)
    }

    /// Whether a file has a name like those of groups.
    fn is_named(&self, path: &Path) -> bool {
        let text = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let (stem, kind) = (text(self.pooled.file_stem()), text(self.pooled.extension()));
        let dot = if kind.is_empty() { "" } else { "." };
        text(path.file_name()).strip_prefix(&format!("{stem}.")).is_some_and(|group| {
            group.strip_suffix(&format!("{dot}{kind}")).is_some_and(|group| !group.is_empty())
        })
    }

    fn is_own(&self, path: &Path) -> bool {
        self.groups.iter().any(|own| own.file_name() == path.file_name())
    }
}

/// Whether a file is a model of some switches, by what it records of its training.
fn is_of_a_group(path: &Path) -> bool {
    let provenance = ModelFile::read(path).ok().and_then(|file| file.model.provenance);
    provenance.is_some_and(|provenance| matches!(provenance.split, Split::Only { .. }))
}

/// `model.json` becomes `model.switch-3.json`.
fn file_of(pooled: &Path, group: &str) -> PathBuf {
    let stem = pooled.file_stem().unwrap_or_default().to_string_lossy();
    let extension = pooled.extension().unwrap_or_default().to_string_lossy();
    let dot = if extension.is_empty() { "" } else { "." };
    pooled.with_file_name(format!("{stem}.{group}{dot}{extension}"))
}

/// The rows of some switches that models are measured on.
struct MeasuredRows<'a> {
    training: &'a Training<'a>,
    split: &'a Split,
    part: Part,
}

impl MeasuredRows<'_> {
    /// What each model is worth, and what was sent with it.
    fn measure(
        &self,
        models: &[&TrainedModel],
    ) -> Result<(Vec<GroupScores>, LanesSent), PipelineError> {
        let sent = self.replay(models)?;
        let mut measured = Vec::new();
        for (lane, model) in models.iter().enumerate() {
            measured.push(GroupScores {
                scores: self.scores(model)?,
                eta_packets: sent.lqd_to_lane(lane),
                dct_bytes: TableCost::new(&model.features).cost(&model.forest, Resource::DctBytes),
            });
        }
        Ok((measured, sent))
    }

    fn scores(&self, model: &TrainedModel) -> Result<PartMetrics, PipelineError> {
        let forest = &model.forest;
        let scorer = ForestScorer::new(forest);
        let mut scores = ScoreHistogram::new(forest.trees.len());
        let traces = self.training.traces;
        let columns = traces.features().len();
        for batch in rows_of_part(traces, columns, self.split, self.training.seed(), self.part)? {
            let batch = batch?.batch;
            let of_rows = scorer.score_columns(&batch.features);
            of_rows.iter().zip(&batch.drop).for_each(|(&score, &drop)| scores.add(score, drop));
        }
        Ok(PartMetrics::measure(&scores, forest.vote_threshold, model.switch.ports))
    }

    /// What LQD sends, and what FollowLQD does without the drops that each model predicts;
    /// nothing where the rows cannot be replayed.
    fn replay(&self, models: &[&TrainedModel]) -> Result<LanesSent, PipelineError> {
        let replays = Replays {
            traces: self.training.traces,
            split: self.split,
            seed: self.training.seed(),
            threads: self.training.threads(),
        };
        if !replays.are_possible() {
            return Ok(LanesSent::default());
        }
        let forests: Vec<_> = models.iter().map(|model| &model.forest).collect();
        let lane = |(forest, model): (usize, &&TrainedModel)| VoteLane {
            forest,
            threshold: model.forest.vote_threshold,
            policy: VotePolicy::Followed,
        };
        let lanes: Vec<VoteLane> = models.iter().enumerate().map(lane).collect();
        replays.replay(self.part, &forests, &lanes)
    }
}

/// The role in the description of a switch.
fn role(traces: &LabelledTraces, run: u64, switch: u16) -> Result<String, PipelineError> {
    let role = traces.spec(run, switch).and_then(|spec| spec.role.clone());
    role.ok_or_else(|| {
        let trace = traces.traces().iter().find(|trace| trace.origin.run == run);
        let name = trace.map_or("", |trace| trace.name.as_str());
        let problem = format!(
            "switch {switch} has no role; give it one in the switch description \
             (docs/switch.md) and collect again, or train a model per switch"
        );
        PipelineError::unfit(name, problem)
    })
}
