//! Oracles that are chosen by what they do to flows, and trained again on what they meet
//! (`lab/notes/closed-loop.md`).
//!
//! A round runs Credence with the current oracle, labels what its switches meet, trains on these
//! rows and all earlier ones, and measures the new forest in the loop: DAgger (Ross, Gordon and
//! Bagnell, AISTATS 2011), with virtual LQD as the expert.

use crate::closed_loop::{
    Choice, Chooser, Experiment, KeptRuns, MOST_RUNS, ModelAtThreshold, Objective, Oracles,
    credence,
};
use dropcast_features::FeatureSet;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::work_folder::WorkFolder;
use dropcast_pipeline::files::{check_replaced, write_files};
use dropcast_pipeline::oracle_file::{read_oracle, refuse_own};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::TrainSettings;
use dropcast_pipeline::traces::{LabelledTrace, LabelledTraces};
use dropcast_pipeline::train::train_on;
use dropcast_train::{Share, Split, SplitSettings, TrainedModel, VoteRule};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What to refine, and how.
#[derive(Clone, Debug)]
pub struct RefineTask {
    /// The fabric and traffic; its policies are not used. Its runs choose, as many others confirm.
    pub experiment: Experiment,
    /// What is chosen by.
    pub objective: Objective,
    /// Models to choose from, with their names.
    pub models: Vec<(String, TrainedModel)>,
    /// Labelled traces to train on, in addition to what the loop gives; round 0 trains on them alone.
    pub data: Vec<LabelledTrace>,
    /// How forests are trained; all rows train.
    pub train: TrainSettings,
    /// Most rounds of training on what Credence meets; 0 only chooses.
    pub rounds: u32,
    /// Runs that are labelled in each round.
    pub labelled_runs: u32,
    /// Runs to choose by that are known; others are added to it.
    pub kept: Option<Arc<KeptRuns>>,
}

/// How models are refined, as commands state it.
#[derive(Clone, Debug, clap::Args)]
pub struct RefineSettings {
    /// What chooses.
    #[command(flatten)]
    pub closed_loop: LoopSettings,
    /// Models to choose from.
    #[arg(long, num_args = 1.., value_name = "MODEL")]
    pub model: Vec<PathBuf>,
    /// Labelled traces to train on, in addition to what Credence meets.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub data: Vec<PathBuf>,
    /// Most rounds of training on what Credence meets; fewer if a round does not help. 0 only chooses.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub rounds: u32,
    /// Runs that each round labels and trains on.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub labelled_runs: u32,
    /// How forests are trained.
    #[command(flatten)]
    pub train: TrainSettings,
}

impl RefineSettings {
    /// The task, with its models and traces opened.
    ///
    /// # Errors
    /// If a file cannot be read, or the experiment has too few runs to choose by.
    pub fn open(&self) -> Result<RefineTask, PipelineError> {
        let model = |path: &PathBuf| Ok((path.display().to_string(), read_oracle(path)?));
        let RefineSettings { closed_loop, rounds, labelled_runs, train, .. } = self.clone();
        Ok(RefineTask {
            experiment: closed_loop.experiment()?,
            objective: closed_loop.objective,
            models: self.model.iter().map(model).collect::<Result<_, PipelineError>>()?,
            data: LabelledTrace::open_all(&self.data, &train.features.names())?,
            train,
            rounds,
            labelled_runs,
            kept: None,
        })
    }
}

/// The closed loop that chooses, as files and commands state it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct LoopSettings {
    /// Fabric and traffic (lab/notes/fabric.md); those of `dropcast-lab simulate` unless given.
    #[arg(long, value_name = "FILE.toml")]
    pub experiment: Option<PathBuf>,
    /// Runs to choose by, 5 or more; as many others confirm the choice.
    #[arg(long, value_name = "N")]
    pub runs: Option<u32>,
    /// What is made small: a metric of a run's summary, such as short_slowdown_p99. Goodputs are made
    /// large.
    #[arg(long, value_name = "METRIC", default_value_t)]
    pub objective: Objective,
}

impl LoopSettings {
    /// The experiment, with its runs.
    ///
    /// # Errors
    /// If its file cannot be read, or it has too few runs to choose by.
    pub fn experiment(&self) -> Result<Experiment, PipelineError> {
        let stated = self.experiment.as_deref();
        self.applied_to(stated.map_or_else(|| Ok(Experiment::websearch()), Experiment::read)?)
    }

    /// An experiment with the stated runs.
    ///
    /// # Errors
    /// If it has too few runs to choose by.
    pub fn applied_to(&self, mut experiment: Experiment) -> Result<Experiment, PipelineError> {
        experiment.runs = self.runs.unwrap_or(experiment.runs);
        Chooser::check(&experiment)?;
        Ok(experiment)
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refined {
    /// What was chosen by.
    pub objective: Objective,
    /// Round 0 chooses among the models that are there before the loop runs.
    pub rounds: Vec<Round>,
    /// The round with the best choice; null if nothing was better than no model.
    pub best_round: Option<usize>,
    /// The best choice on runs that it was not chosen on; null if there was none.
    pub confirmation: Option<ModelAtThreshold>,
    /// Whether the best choice was confirmed. If not, the model never predicts a drop.
    pub is_better: bool,
    /// The model, with the vote threshold that was chosen.
    #[serde(skip)]
    pub model: TrainedModel,
}

/// Like [`refine`]; also writes `model.json` and `rounds.json` into `folder`, together.
///
/// # Errors
/// What is wrong with the task, a file cannot be written, or another job works there.
pub fn refine_into(
    folder: &Path,
    task: &RefineTask,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Refined, PipelineError> {
    let names = ["model.json", "rounds.json"];
    check_replaced(folder, names)?;
    let work = WorkFolder::beside(folder)?;
    let refined = refine(task, resources, progress)?;
    let rounds = serde_json::to_string_pretty(&refined).map_err(|error| PipelineError::Encode {
        what: "rounds.json",
        problem: error.to_string(),
    })?;
    let [model, rounds] = [refined.model.to_json(), rounds];
    let files = names.map(str::to_owned).into_iter().zip([model, rounds]);
    write_files(work.path(), &files.collect::<Vec<_>>())?;
    work.finish(|_| false)?;
    Ok(refined)
}

/// One round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Round {
    /// Rows that the round's model was trained on; null where models were given.
    pub rows: Option<u64>,
    /// Of which LQD drops.
    pub drops: Option<u64>,
    /// What was tried and chosen.
    pub choice: Choice,
}

/// A model with its name, and the vote threshold that was chosen.
type Oracle = (String, TrainedModel);

/// Chooses among models, and trains further ones in the loop until that helps no more.
///
/// # Errors
/// What is wrong with the task.
pub fn refine(
    task: &RefineTask,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Refined, PipelineError> {
    check(task)?;
    // Before the experiment runs.
    LabelledTraces::new(task.data.clone(), &task.train.features)?;
    let features = all_features(task)?;
    let RefineTask { experiment, objective, .. } = task;
    let chooser =
        Chooser::new(experiment, objective, &features, resources)?.keeping(task.kept.clone());
    let work = Work { task, resources, progress, chooser };
    let mut models = task.models.clone();
    let (mut rows, mut labelled) = (None, Vec::new());
    if !task.data.is_empty() {
        let (model, counts) = work.train(&labelled)?;
        models.push(("round-0".to_owned(), model));
        rows = Some(counts);
    }
    let (round, mut current) = work.round(&models, rows)?;
    let mut best = current.clone().map(|oracle| (0, oracle, round.choice.clone()));
    let mut rounds = vec![round];
    for number in 1..=task.rounds {
        labelled.extend(work.label(number, current.as_ref())?);
        let (model, counts) = work.train(&labelled)?;
        models = vec![(format!("round-{number}"), model)];
        let (round, chosen) = work.round(&models, Some(counts))?;
        let best_gain = best.as_ref().map_or(0.0, |(_, _, choice)| choice.gain());
        let is_rising = round.choice.gain() > best_gain;
        if let Some(oracle) = chosen.clone().filter(|_| is_rising) {
            best = Some((number as usize, oracle, round.choice.clone()));
        }
        rounds.push(round);
        current = chosen;
        if !is_rising {
            break;
        }
    }
    work.finish(rounds, best, models)
}

fn check(task: &RefineTask) -> Result<(), PipelineError> {
    let TrainSettings { vote, split, .. } = &task.train;
    if vote.is_some() {
        let problem = "the loop chooses vote thresholds here; leave it out";
        return Err(PipelineError::setting("vote", problem));
    }
    if *split != SplitSettings::default() {
        let problem = "all rows train here, the loop measures; leave it out";
        return Err(PipelineError::setting("split", problem));
    }
    if task.models.is_empty() && task.data.is_empty() {
        let problem = "there is neither a model nor data, expected one of them";
        return Err(PipelineError::setting("model", problem));
    }
    for (name, value) in [("labelled_runs", task.labelled_runs), ("rounds", task.rounds)] {
        if value > MOST_RUNS {
            let problem = format!("is {value}, expected at most {MOST_RUNS}");
            return Err(PipelineError::setting(name, problem));
        }
    }
    if task.labelled_runs == 0 && task.rounds > 0 {
        return Err(PipelineError::setting("labelled_runs", "is 0, expected at least 1"));
    }
    Ok(())
}

/// The features of all models and of training.
fn all_features(task: &RefineTask) -> Result<FeatureSet, PipelineError> {
    let mut names = task.train.features.spelled();
    for name in task.models.iter().flat_map(|(_, model)| model.features.spelled()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let features = names.join(",").parse()?;
    refuse_own(&features).map_err(|why| PipelineError::unfit("refine", why))?;
    Ok(features)
}

/// What every round works with.
struct Work<'a> {
    task: &'a RefineTask,
    resources: &'a Resources,
    progress: &'a dyn Progress,
    chooser: Chooser<'a>,
}

impl Work<'_> {
    /// Measures models, and returns the chosen one with its vote threshold.
    fn round(
        &self,
        models: &[Oracle],
        rows: Option<[u64; 2]>,
    ) -> Result<(Round, Option<Oracle>), PipelineError> {
        let named: Vec<(String, &TrainedModel)> =
            models.iter().map(|(name, model)| (name.clone(), model)).collect();
        let choice = self.chooser.choose(&named, self.progress)?;
        let oracle = choice.chosen.map(|place| {
            let ModelAtThreshold { model: name, vote_threshold, .. } = &choice.candidates[place];
            let (_, model) =
                models.iter().find(|(own, _)| own == name).expect("candidates are of models");
            (name.clone(), with_vote(model, *vote_threshold))
        });
        let [rows, drops] = rows.map_or([None, None], |counts| counts.map(Some));
        Ok((Round { rows, drops, choice }, oracle))
    }

    /// Runs Credence with an oracle, or without one, on runs that nothing is chosen by, and
    /// labels them.
    fn label(
        &self,
        round: u32,
        oracle: Option<&Oracle>,
    ) -> Result<Vec<LabelledTrace>, PipelineError> {
        let RefineTask { experiment, labelled_runs, train, .. } = self.task;
        let mut oracles = Oracles::default();
        if let Some((_, model)) = oracle {
            oracles.insert("current", model.clone());
        }
        let policy = credence(oracle.map(|_| "current"));
        let experiment = Experiment { policies: vec![policy.clone()], ..experiment.clone() };
        let prepared = experiment.prepare_with(oracles)?;
        let first = 2 * experiment.runs + (round - 1) * labelled_runs;
        let runs = first..first + labelled_runs;
        self.progress.begin("label");
        let label = |run| {
            prepared.label(&policy, run, &train.features, &format!("round {round} run {run}"))
        };
        let traces = runs.map(label).collect();
        self.progress.end("what Credence met");
        traces
    }

    /// Trains on the data and on what was labelled; returns rows and drops, too.
    fn train(&self, labelled: &[LabelledTrace]) -> Result<(TrainedModel, [u64; 2]), PipelineError> {
        let TrainSettings { features, .. } = &self.task.train;
        let all = self.task.data.iter().chain(labelled).cloned().collect();
        let traces = LabelledTraces::new(all, features)?;
        let settings =
            TrainSettings { vote: Some(VoteRule::F1), seeds: 1, ..self.task.train.clone() };
        let fitted =
            train_on(&traces, &Split::None.into(), &settings, self.resources, self.progress)?;
        let (accepts, drops) = fitted.train_scores.totals();
        Ok((fitted.model, [accepts + drops, drops]))
    }

    /// Confirms the best on other runs.
    fn finish(
        &self,
        rounds: Vec<Round>,
        best: Option<(usize, Oracle, Choice)>,
        models: Vec<Oracle>,
    ) -> Result<Refined, PipelineError> {
        let objective = self.task.objective.clone();
        let Some((round, (_, model), choice)) = best else {
            let (_, model) = models.into_iter().next_back().expect("every round has a model");
            let model = never_predicting(&model);
            let (best_round, confirmation) = (None, None);
            return Ok(Refined {
                objective,
                rounds,
                best_round,
                confirmation,
                is_better: false,
                model,
            });
        };
        let place = choice.chosen.expect("the best was chosen");
        let confirmed = self.chooser.confirm(&choice.candidates[place], &model, self.progress)?;
        let confirmation = confirmed.candidates.into_iter().next();
        let is_better = confirmed.chosen.is_some();
        let model = if is_better { model } else { never_predicting(&model) };
        let best_round = Some(round);
        Ok(Refined { objective, rounds, best_round, confirmation, is_better, model })
    }
}

/// The model with another vote threshold; recorded as the share that gives the same.
fn with_vote(model: &TrainedModel, threshold: u32) -> TrainedModel {
    let mut model = TrainedModel { metrics: None, ..model.clone() };
    model.forest.vote_threshold = threshold;
    let most = 255.0 * model.forest.trees.len() as f64;
    let share = Share::new((f64::from(threshold) + 0.5) / most);
    if let (Some(provenance), Ok(share)) = (&mut model.provenance, share) {
        provenance.vote = VoteRule::Fixed(share);
    }
    model
}

/// The model with a vote threshold that no score exceeds. What it was trained on does not matter to
/// what it predicts, and is not recorded.
fn never_predicting(model: &TrainedModel) -> TrainedModel {
    let mut model = TrainedModel { metrics: None, provenance: None, ..model.clone() };
    model.forest.vote_threshold = 255 * model.forest.trees.len() as u32;
    model
}
