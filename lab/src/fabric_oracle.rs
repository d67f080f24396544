//! The oracles that Credence asks in the fabric, made as the Credence paper makes its own (NSDI '24,
//! section 4.1): LQD runs in the fabric, websearch at 80% load with bursts of 75% of the buffer and
//! DCTCP, its packets are labelled, and forests are trained on them once, to be used unchanged under
//! every other traffic.

use crate::closed_loop::{Experiment, lqd};
use dropcast_fabric::{FabricConfig, Incast, PoissonFlows, TrafficConfig};
use dropcast_features::FeatureSet;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::TrainSettings;
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_pipeline::train::{choose_split, train_on};
use dropcast_train::TrainedModel;

/// Seed of the traffic that oracles learn from; no experiment that counts its seeds from 1 meets it.
const SEED: u64 = 1 << 40;

/// The traffic and the fabric that oracles learn from: the Credence artifact's fabric, websearch at
/// 80% and bursts of 75%. Each server requests 30 times per second, not twice as in the paper, so
/// that 100 ms hold about 100 bursts.
pub fn training_experiment() -> Experiment {
    let incast = Incast { burst: 0.75, per_server_hz: 30.0, ..Incast::artifact() };
    Experiment {
        policies: vec![lqd()],
        fabric: FabricConfig { seed: SEED, ..FabricConfig::artifact() },
        traffic: TrafficConfig {
            seed: SEED,
            flows: vec![PoissonFlows { load: 0.8, ..PoissonFlows::default() }],
            incasts: vec![incast],
            ..TrafficConfig::default()
        },
        ..Experiment::default()
    }
}

/// A map's own network and traffic, with seeds and a duration of their own: its oracles learn from packets like those that they will
/// meet.
pub fn training_experiment_for(fabric: &FabricConfig, traffic: &TrafficConfig) -> Experiment {
    let plain = training_experiment();
    Experiment {
        fabric: FabricConfig { seed: SEED, ..fabric.clone() },
        traffic: TrafficConfig {
            seed: SEED,
            duration_ns: plain.traffic.duration_ns,
            ..traffic.clone()
        },
        ..plain
    }
}

/// The oracles that are compared unless others are asked for: the default of `dropcast train`, and
/// the same on the paper's features.
pub fn default_oracles() -> Vec<(String, TrainSettings)> {
    let with = |features| TrainSettings { features, ..TrainSettings::default() };
    let oracle = |name: &str, features| (name.to_owned(), with(features));
    vec![oracle("level4", FeatureSet::level4()), oracle("paper4", FeatureSet::paper4())]
}

/// Trains an oracle for each of `settings`, all on one labelled run of `experiment`. The same with
/// any number of threads.
///
/// # Errors
/// If a setting is wrong, or a forest cannot be trained on that run.
pub fn train_oracles<'a>(
    experiment: &Experiment,
    settings: impl IntoIterator<Item = &'a TrainSettings>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Vec<TrainedModel>, PipelineError> {
    let settings: Vec<_> = settings.into_iter().collect();
    if settings.is_empty() {
        return Ok(Vec::new());
    }
    for one in &settings {
        one.params()?;
    }
    progress.begin("label");
    let features = settings.iter().flat_map(|one| one.features.features()).copied().collect();
    let trace = experiment.prepare()?.label(&lqd(), 0, &features, "LQD in the fabric")?;
    progress.end("LQD's run");
    let train = |settings: &TrainSettings| {
        let traces = LabelledTraces::new(vec![trace.clone()], &settings.features)?;
        let split = choose_split(&traces, &settings.split.check()?, progress)?;
        // What is run is one model.
        let settings = &TrainSettings { seeds: 1, ..settings.clone() };
        Ok(train_on(&traces, &split, settings, resources, progress)?.model)
    };
    settings.into_iter().map(train).collect()
}
