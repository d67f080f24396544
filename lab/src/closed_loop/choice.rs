//! The choice of a model and its vote threshold by what they do to flows.

use super::{Experiment, KeptRuns, Objective, Oracles, PairedRuns, PolicyRuns};
use dropcast_fabric::{Interval, paired_difference};
use dropcast_features::FeatureSet;
use dropcast_forest::{ForestScorer, OperatingPoint, ScoreHistogram};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::named_policy::NamedPolicy;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_switch::PolicySpec;
use dropcast_train::{BatchSource, TrainedModel};
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;

/// Fewer runs cannot show a difference beyond noise ([`Interval::excludes_zero`]).
const LEAST_RUNS: u32 = 5;
/// A choice must not make these worse: the mean slowdown of each kind of flow.
const UNHARMED: [&str; 3] = ["incast_slowdown_mean", "short_slowdown_mean", "long_slowdown_mean"];
/// Predicted drops of the thresholds that are tried, over the drops of LQD.
const PREDICTED_OVER_DROPS: [f64; 6] = [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0];

/// A model at a vote threshold, under Credence in a closed loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelAtThreshold {
    /// The model's name.
    pub model: String,
    /// `score > vote_threshold` predicts a drop.
    pub vote_threshold: u32,
    /// Predicted drops among all arrivals, where nothing was predicted; null without arrivals.
    pub predicted_share: Option<f64>,
    /// The objective over the runs.
    pub value: Option<Interval>,
    /// How much better it is than Credence that always accepts, run by run, in units of the objective.
    pub gain: Option<Interval>,
    /// Whether it is better beyond noise, and harms no kind of flow beyond noise.
    pub is_better: bool,
    /// Mean slowdowns that it makes worse beyond noise.
    pub harms: Vec<String>,
}

/// What was chosen among candidates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// The objective under Credence that always accepts.
    pub accepting: Option<Interval>,
    /// Everything that was tried.
    pub candidates: Vec<ModelAtThreshold>,
    /// Index of the candidate with the largest gain among those that are better; null: none is
    /// better than no model.
    pub chosen: Option<usize>,
}

/// Credence with a model of this name; without one it always accepts.
pub(crate) fn credence(model: Option<&str>) -> NamedPolicy {
    let alone = PolicySpec::Credence(Default::default());
    match model {
        Some(name) => alone.with_model(name).into(),
        None => alone.into(),
    }
}

/// Chooses by an experiment's runs. Its policies are not used.
#[derive(Clone, Debug)]
pub struct Chooser<'a> {
    experiment: &'a Experiment,
    objective: &'a Objective,
    resources: &'a Resources,
    /// Arrivals under Credence that always accepts, with every feature of the models.
    arrivals: LabelledTraces,
    kept: Option<Arc<KeptRuns>>,
}

impl<'a> Chooser<'a> {
    /// Checks the experiment, and runs Credence without a model once, to learn which scores
    /// occur. `features` are those of all models.
    ///
    /// # Errors
    /// What is wrong with the experiment.
    pub fn new(
        experiment: &'a Experiment,
        objective: &'a Objective,
        features: &FeatureSet,
        resources: &'a Resources,
    ) -> Result<Self, PipelineError> {
        Self::check(experiment)?;
        let alone = credence(None);
        let prepared = Experiment { policies: vec![alone.clone()], ..experiment.clone() };
        let trace = prepared.prepare()?.label(&alone, 0, features, "without a model")?;
        let arrivals = LabelledTraces::new(vec![trace], features)?;
        Ok(Chooser { experiment, objective, resources, arrivals, kept: None })
    }

    /// Runs that `kept` has are not repeated, and others are added to it.
    pub fn keeping(mut self, kept: Option<Arc<KeptRuns>>) -> Self {
        self.kept = kept;
        self
    }

    /// Refuses an experiment whose runs are too few to show a difference.
    pub(crate) fn check(experiment: &Experiment) -> Result<(), PipelineError> {
        if experiment.runs >= LEAST_RUNS {
            return Ok(());
        }
        let runs = experiment.runs;
        let problem = format!(
            "is {runs}, expected at least {LEAST_RUNS}: fewer cannot show a difference beyond noise"
        );
        Err(PipelineError::setting("runs", problem))
    }

    /// Tries each model at some thresholds, and its own, on the first runs of the experiment.
    ///
    /// # Errors
    /// If a model does not fit the experiment.
    pub fn choose(
        &self,
        models: &[(String, &TrainedModel)],
        progress: &dyn Progress,
    ) -> Result<Choice, PipelineError> {
        let mut tried = Vec::new();
        for (name, model) in models {
            let scores = self.scores(model)?;
            for point in thresholds(&scores, model.forest.vote_threshold) {
                tried.push((name.clone(), *model, point));
            }
        }
        let choice = self.measure(&tried, 0..self.experiment.runs, progress)?;
        Ok(choice)
    }

    /// Measures a candidate again, on as many runs that it was not chosen on. It is confirmed if it
    /// is better there, too.
    ///
    /// # Errors
    /// If the model does not fit the experiment.
    pub fn confirm(
        &self,
        candidate: &ModelAtThreshold,
        model: &TrainedModel,
        progress: &dyn Progress,
    ) -> Result<Choice, PipelineError> {
        let confusion = self.scores(model)?.confusion(candidate.vote_threshold);
        let point = OperatingPoint { threshold: candidate.vote_threshold, confusion };
        let runs = self.experiment.runs;
        self.measure(&[(candidate.model.clone(), model, point)], runs..2 * runs, progress)
    }

    /// How a model scores the arrivals.
    fn scores(&self, model: &TrainedModel) -> Result<ScoreHistogram, PipelineError> {
        let arrivals = self.arrivals.with_features(model.features.clone());
        let arrivals = arrivals.scaled_to(model.switch.buffer_bytes);
        let scorer = ForestScorer::new(&model.forest);
        let mut scores = ScoreHistogram::new(model.forest.trees.len());
        for batch in arrivals.batches()? {
            let batch = batch?.batch;
            let of_rows = scorer.score_columns(&batch.features);
            of_rows.iter().zip(&batch.drop).for_each(|(&score, &drop)| scores.add(score, drop));
        }
        Ok(scores)
    }

    fn measure(
        &self,
        tried: &[(String, &TrainedModel, OperatingPoint)],
        runs: Range<u32>,
        progress: &dyn Progress,
    ) -> Result<Choice, PipelineError> {
        let mut oracles = Oracles::default();
        let mut policies = vec![credence(None)];
        for (place, (_, model, point)) in tried.iter().enumerate() {
            let mut model = (*model).clone();
            model.forest.vote_threshold = point.threshold;
            let name = format!("candidate-{place}");
            policies.push(credence(Some(&name)));
            oracles.insert(name, model);
        }
        let experiment = Experiment { policies, ..self.experiment.clone() };
        let mut prepared = experiment.prepare_with(oracles)?;
        if let Some(kept) = &self.kept {
            prepared = prepared.keeping(Arc::clone(kept));
        }
        let comparison = prepared.compare_runs(runs, self.resources, progress)?;
        Ok(self.judge(tried, &comparison))
    }

    fn judge(
        &self,
        tried: &[(String, &TrainedModel, OperatingPoint)],
        comparison: &PairedRuns,
    ) -> Choice {
        let seed = self.experiment.traffic.seed;
        let (accepting, others) =
            comparison.policies.split_first().expect("Credence without a model is among them");
        let candidate = |(tried, runs): (&(String, &TrainedModel, OperatingPoint), &PolicyRuns)| {
            let (model, _, OperatingPoint { threshold, confusion }) = tried;
            let gain = self.objective.gain(runs, accepting, seed);
            let harms: Vec<String> = UNHARMED
                .into_iter()
                .filter(|metric| is_worse(&runs.metric(metric), &accepting.metric(metric), seed))
                .map(str::to_owned)
                .collect();
            let predicted = confusion.tp + confusion.fp;
            ModelAtThreshold {
                model: model.clone(),
                vote_threshold: *threshold,
                predicted_share: (confusion.total() > 0)
                    .then(|| predicted as f64 / confusion.total() as f64),
                value: runs.interval(self.objective.metric(), seed),
                gain,
                is_better: gain.is_some_and(is_beyond_noise) && harms.is_empty(),
                harms,
            }
        };
        let candidates: Vec<ModelAtThreshold> = tried.iter().zip(others).map(candidate).collect();
        let gain = |place: &usize| candidates[*place].gain.map_or(0.0, |gain| gain.mean);
        let better = (0..candidates.len()).filter(|&place| candidates[place].is_better);
        Choice {
            accepting: accepting.interval(self.objective.metric(), seed),
            chosen: better.max_by(|a, b| gain(a).total_cmp(&gain(b)).then_with(|| b.cmp(a))),
            candidates,
        }
    }
}

impl Choice {
    /// The gain of what was chosen; 0 where that is no model.
    pub fn gain(&self) -> f64 {
        let gain = self.chosen.and_then(|place| self.candidates[place].gain);
        gain.map_or(0.0, |gain| gain.mean)
    }
}

fn is_beyond_noise(gain: Interval) -> bool {
    gain.mean > 0.0 && gain.excludes_zero() == Some(true)
}

fn is_worse(of: &[Option<f64>], than: &[Option<f64>], seed: u64) -> bool {
    paired_difference(of, than, seed).is_some_and(is_beyond_noise)
}

/// The thresholds that are tried, ascending: those that predict about
/// [`PREDICTED_OVER_DROPS`] as many drops as LQD drops, and the model's own. None that predicts no
/// drop: that is Credence that always accepts.
fn thresholds(scores: &ScoreHistogram, own: u32) -> Vec<OperatingPoint> {
    let predicted = |point: &OperatingPoint| point.confusion.tp + point.confusion.fp;
    let (_, drops) = scores.totals();
    let points = scores.operating_points();
    let mut tried = vec![OperatingPoint { threshold: own, confusion: scores.confusion(own) }];
    for share in PREDICTED_OVER_DROPS {
        let wanted = share * drops as f64;
        let distance = |point: &&OperatingPoint| (predicted(point) as f64 / wanted).ln().abs();
        let possible = points.iter().filter(|point| predicted(point) > 0);
        tried.extend(possible.min_by(|a, b| distance(a).total_cmp(&distance(b))));
    }
    tried.retain(|point| predicted(point) > 0);
    tried.sort_unstable_by_key(|point| point.threshold);
    tried.dedup_by_key(|point| predicted(point));
    tried
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_span_the_drops_and_hold_the_models_own() {
        let mut scores = ScoreHistogram::new(1);
        for score in 0..200 {
            scores.add_rows(score, if score < 100 { [1_000, 0] } else { [0, 1] });
        }
        let tried = thresholds(&scores, 42);
        assert!(tried.is_sorted_by_key(|point| point.threshold));
        assert_eq!(tried[0].threshold, 42);
        let predicted = tried.iter().map(|point| point.confusion.tp + point.confusion.fp);
        // 200 drops are further from the 1,100 of the next threshold than from 100.
        assert_eq!(predicted.collect::<Vec<_>>(), [57_100, 100, 50, 25, 13, 6]);
    }

    #[test]
    fn nothing_is_tried_that_predicts_nothing() {
        let mut scores = ScoreHistogram::new(1);
        scores.add_rows(0, [100, 1]);
        assert_eq!(thresholds(&scores, 255), []);
        assert_eq!(thresholds(&ScoreHistogram::new(1), 0), []);
    }
}
