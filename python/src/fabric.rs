//! Generated arrivals, and what is run in the fabric.

use crate::frame::PyFrame;
use crate::model::{Model, traces_of};
use crate::settings::{Described, parse, parse_subcommand, resources, text, word};
use crate::trace::Trace;
use crate::{errors, work};
use dropcast_lab::closed_loop::{Experiment, NamedPolicy, RunFile};
use dropcast_lab::map::{MapSettings, map as find_where_it_pays, map_into};
use dropcast_lab::pages::{experiment_text, refined_text, reproduced};
use dropcast_lab::refine::{RefineSettings, refine as refine_models, refine_into};
use dropcast_lab::reproduce::Figure;
use dropcast_pipeline::collect::generate::{
    Topology, WorkloadChanges, WorkloadSettings, generate as generate_file, generate_frame,
};
use dropcast_pipeline::files::check_output;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Generates arrivals: into a file, or a frame without `output`.
#[pyfunction]
pub(crate) fn generate(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    topology: &str,
    workload: Option<PathBuf>,
    changes: Vec<String>,
    output: Option<PathBuf>,
) -> PyResult<Option<PyFrame>> {
    let topology: Topology = word(py, "topology", topology)?;
    let changes: WorkloadChanges = parse(py, changes)?;
    work::run(py, bar, |progress| {
        let described = WorkloadSettings::read(topology, workload.as_deref())?.with(&changes);
        match output {
            None => Ok(Some(PyFrame(generate_frame(&described, progress)?))),
            Some(path) => {
                check_output(&path, &workload)?;
                generate_file(&described, &path, progress)?;
                Ok(None)
            }
        }
    })
}

/// How an experiment differs from its file.
#[derive(FromPyObject)]
pub(crate) struct Changes {
    #[pyo3(item)]
    policies: Vec<String>,
    #[pyo3(item)]
    runs: Option<u32>,
    #[pyo3(item)]
    seed: Option<u64>,
    #[pyo3(item)]
    record: Vec<String>,
    #[pyo3(item)]
    threads: Option<usize>,
}

/// Compares policies in the fabric. Returns the summary as JSON and as text.
#[pyfunction]
pub(crate) fn experiment(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    config: Option<Described>,
    changes: Changes,
    output: Option<PathBuf>,
) -> PyResult<(String, String)> {
    let read = |config: Described| config.read(py, "experiment", Experiment::read);
    let mut experiment = config.map(read).transpose()?.unwrap_or_else(Experiment::websearch);
    if !changes.policies.is_empty() {
        let read = |name: &String| text::<NamedPolicy>(py, "policy", name);
        experiment.policies = changes.policies.iter().map(read).collect::<PyResult<_>>()?;
    }
    experiment.runs = changes.runs.unwrap_or(experiment.runs);
    if let Some(seed) = changes.seed {
        experiment.set_seed(seed);
    }
    let read = |name: &String| word::<RunFile>(py, "record", name);
    let files: Vec<RunFile> = changes.record.iter().map(read).collect::<PyResult<_>>()?;
    let files = if files.is_empty() { RunFile::USUAL.to_vec() } else { files };
    let resources = resources(py, changes.threads, None, None)?;
    let summary = work::run(py, bar, |progress| {
        let prepared = experiment.prepare()?;
        match output {
            Some(folder) => prepared.write(&files, &folder, &resources, progress),
            None => Ok(prepared.compare(&resources, progress)?.summary(&experiment)),
        }
    })?;
    Ok((errors::to_json(py, &summary)?, experiment_text(&summary)))
}

/// Compares policies over many conditions. The settings are a file's, or JSON. Returns what was
/// found as JSON and as text; writes it into `folder`, if there is one.
#[pyfunction]
pub(crate) fn map(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    config: Described,
    threads: Option<usize>,
    folder: Option<PathBuf>,
) -> PyResult<(String, String)> {
    let settings: MapSettings = config.read(py, "config", MapSettings::read)?;
    let resources = resources(py, threads, None, None)?;
    let found = work::run(py, bar, |progress| {
        let files = |found: &_| Ok(dropcast_lab::pages::map::files(found)?);
        match &folder {
            Some(folder) => map_into(folder, &settings, &resources, progress, files),
            None => find_where_it_pays(&settings, &resources, progress),
        }
    })?;
    Ok((errors::to_json(py, &found)?, dropcast_lab::pages::map::summary(&found)))
}

/// What is refined besides the files in the settings.
#[derive(FromPyObject)]
pub(crate) struct Refinable<'py> {
    #[pyo3(item)]
    models: Vec<(String, PyRef<'py, Model>)>,
    #[pyo3(item)]
    data: Vec<PyRef<'py, Trace>>,
    /// The experiment as JSON, in place of a file.
    #[pyo3(item)]
    experiment: Option<String>,
}

/// Chooses and trains models by what they do to flows. Returns the model, and what came of it as
/// JSON and as text; writes both into `folder`, if there is one.
#[pyfunction]
pub(crate) fn refine(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    refinable: Refinable<'_>,
    settings: Vec<String>,
    threads: Option<usize>,
    folder: Option<PathBuf>,
) -> PyResult<(Model, String, String)> {
    let settings: RefineSettings = parse(py, settings)?;
    let resources = resources(py, threads, None, None)?;
    let mut task = work::detached(py, || settings.open())?;
    if let Some(json) = refinable.experiment {
        let experiment = serde_json::from_str(&json)
            .map_err(|error| errors::argument(py, "experiment", &error))?;
        task.experiment = work::detached(py, || settings.closed_loop.applied_to(experiment))?;
    }
    let models = refinable.models.iter();
    task.models.extend(models.map(|(name, model)| (name.clone(), model.0.model.clone())));
    task.data.extend(traces_of(&refinable.data));
    let refined = work::run(py, bar, |progress| match &folder {
        Some(folder) => refine_into(folder, &task, &resources, progress),
        None => refine_models(&task, &resources, progress),
    })?;
    let (found, text) = (errors::to_json(py, &refined)?, refined_text(&refined));
    Ok((Model::of(refined.model), found, text))
}

/// Measures a figure of the paper: its name, then settings. Returns the files that were written.
#[pyfunction]
pub(crate) fn reproduce(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    settings: Vec<String>,
) -> PyResult<Vec<PathBuf>> {
    let figure: Figure = parse_subcommand(py, settings)?;
    work::run(py, bar, |progress| {
        let files = |measured: &_| reproduced::files(figure.name(), measured);
        Ok(figure.reproduce(progress, files)?.1)
    })
}
