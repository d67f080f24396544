//! Runs of every policy under every condition.

use super::advice::MapAdvice;
use super::conditions::MapCondition;
use super::findings::{MapFinding, Tally, judge};
use super::point::MapPoint;
use super::settings::{MapSettings, MeasureName, Subject};
use crate::closed_loop::{
    JobPart, KeptRuns, NamedPolicy, Oracles, PairedRuns, PolicyRuns, Prepared, in_parallel, run_all,
};
use crate::fabric_oracle::{train_oracles, training_experiment_for};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::work_folder::WorkFolder;
use dropcast_pipeline::files::{check_replaced, write_files};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_train::TrainError;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// What every map has, beside its pictures.
const FILES: [&str; 2] = ["map.csv", "map.json"];

/// What was measured, and what follows.
#[derive(Clone, Debug, Serialize)]
pub struct Map {
    /// What was asked for.
    pub settings: MapSettings,
    /// Whether policies with an oracle ran: where LQD drops nothing, none can be learned.
    pub has_oracles: bool,
    /// How many points and measures hold a gain, and how many by chance.
    pub tally: Tally,
    /// What to deploy.
    pub advice: MapAdvice,
    /// By point, in the order of the grids.
    pub points: Vec<MapPoint>,
}

/// Trains the oracles, and runs every policy at every point, but for runs that are `kept`. The same with any number of threads.
///
/// # Errors
/// If a setting is wrong, before the first run.
pub fn map(
    settings: &MapSettings,
    kept: Option<Arc<KeptRuns>>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Map, PipelineError> {
    let (measured, prepared) = prepare(settings, kept, resources, progress)?;
    let mut points = measure(&measured, prepared, resources, progress)?;
    let mut all: Vec<&mut MapFinding> =
        points.iter_mut().flat_map(|point| &mut point.findings).collect();
    judge(&mut all);
    let findings: Vec<&[MapFinding]> = points.iter().map(|point| &point.findings[..]).collect();
    let tally = Tally::count(&findings);
    let advice = MapAdvice::new(&tally.settings, &measured.subjects(), &points);
    Ok(Map {
        settings: settings.clone(),
        has_oracles: !measured.oracles.is_empty(),
        tally,
        advice,
        points,
    })
}

/// Simulates a part of the runs of [`map`] into `kept`, and returns how many they are.
///
/// # Errors
/// If a setting is wrong, before the first run, or a run cannot be kept.
pub fn simulate_part(
    settings: &MapSettings,
    part: JobPart,
    kept: Arc<KeptRuns>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<usize, PipelineError> {
    let (measured, prepared) = prepare(settings, Some(kept), resources, progress)?;
    let subjects = measured.subjects();
    let tasks = part.of(tasks(&measured, &subjects, &prepared));
    let runs = run_all("map", tasks, resources, progress, |(prepared, policy, run)| {
        prepared.summarize(policy, run)
    })?;
    Ok(runs.len())
}

/// Trains the oracles, and checks each point. Returns the settings without oracles if none can be learned.
fn prepare(
    settings: &MapSettings,
    kept: Option<Arc<KeptRuns>>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<(MapSettings, Vec<(MapCondition, Prepared)>), PipelineError> {
    let mut settings = settings.clone();
    let mut points = settings.points()?;
    let named: Vec<_> = settings.oracles.iter().collect();
    // What could be wrong with a point is found before the time for training is spent.
    for (_, experiment) in &points {
        let mut plain = experiment.clone();
        plain.policies.retain(|policy| policy.spec.model().is_none());
        plain.prepare()?;
    }
    let trained = train_oracles(
        &training_experiment_for(&settings.fabric, &settings.traffic),
        named.iter().map(|(_, settings)| *settings),
        resources,
        progress,
    );
    let mut oracles = Oracles::default();
    match trained {
        Ok(models) => {
            for ((name, _), model) in named.into_iter().zip(models) {
                oracles.insert(name.as_str(), model);
            }
        }
        Err(PipelineError::Train(TrainError::NoDrops { .. })) => {
            progress.note(
                "no oracle is measured: LQD drops nothing in the map's own network and traffic, so none can be learned; \
                 make its buffer smaller or its bursts larger",
            );
            settings.oracles.clear();
            points = settings.points()?;
        }
        Err(error) => return Err(error),
    }
    let mut prepared = Vec::new();
    for (condition, experiment) in points {
        let point = experiment.prepare_with(oracles.clone())?;
        if prepared.is_empty() {
            point.note_sizes(progress);
        }
        prepared.push((
            condition,
            match &kept {
                Some(kept) => point.keeping(Arc::clone(kept)),
                None => point,
            },
        ));
    }
    Ok((settings, prepared))
}

/// Every run of every policy at every point.
fn tasks<'a>(
    settings: &MapSettings,
    subjects: &'a [Subject],
    prepared: &'a [(MapCondition, Prepared)],
) -> Vec<(&'a Prepared, &'a NamedPolicy, u32)> {
    let runs = |subject: &Subject| 0..subject.runs(settings);
    prepared
        .iter()
        .flat_map(|(_, prepared)| subjects.iter().map(move |subject| (prepared, subject)))
        .flat_map(|(prepared, own)| runs(own).map(move |run| (prepared, &own.policy, run)))
        .collect()
}

/// Like [`map`]; also writes `files` of it into `folder`, in place of those of an earlier map.
///
/// # Errors
/// Those of [`map`], if a file cannot be written, or another job works there.
pub fn map_into(
    folder: &Path,
    settings: &MapSettings,
    kept: Option<Arc<KeptRuns>>,
    resources: &Resources,
    progress: &dyn Progress,
    files: impl Fn(&Map) -> Result<Vec<(String, String)>, PipelineError>,
) -> Result<Map, PipelineError> {
    check_replaced(folder, FILES)?;
    let work = WorkFolder::beside(folder)?;
    let map = map(settings, kept, resources, progress)?;
    write_files(work.path(), &files(&map)?)?;
    let measures: Vec<String> =
        MeasureName::known().iter().map(|measure| format!("-{measure}-")).collect();
    work.finish(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_picture =
            || name.contains("-bytes_") || measures.iter().any(|measure| name.contains(measure));
        FILES.contains(&&*name)
            || [".svg", ".tex"].iter().any(|end| name.ends_with(end)) && is_picture()
    })?;
    Ok(map)
}

fn measure(
    settings: &MapSettings,
    prepared: Vec<(MapCondition, Prepared)>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Vec<MapPoint>, PipelineError> {
    let subjects = settings.subjects();
    let tasks = tasks(settings, &subjects, &prepared);
    let all = tasks.len();
    let summaries = in_parallel("map", tasks, resources, progress, |(prepared, policy, run)| {
        prepared.summarize(policy, run)
    })?;
    let mut summaries = summaries.into_iter();
    let mut points = Vec::new();
    for (condition, _) in prepared {
        let mut policies = Vec::new();
        for subject in &subjects {
            let runs = summaries.by_ref().take(subject.runs(settings) as usize).collect();
            policies.push(PolicyRuns { policy: subject.policy.label.clone(), runs });
        }
        points.push(MapPoint::new(settings, condition, &PairedRuns { policies }));
    }
    progress.end(&format!("{} points, {all} runs", points.len()));
    Ok(points)
}
