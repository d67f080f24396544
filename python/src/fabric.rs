//! Generated arrivals, and what is run in the fabric.

use crate::fleet::{PythonFleet, Raised};
use crate::frame::PyFrame;
use crate::keeping::Keeping;
use crate::model::{Model, traces_of};
use crate::settings::{Described, parse, parse_subcommand, resources, text, word};
use crate::trace::Trace;
use crate::{errors, work};
use dropcast_lab::closed_loop::{Experiment, NamedPolicy, RunFile};
use dropcast_lab::map::{MapSettings, map as find_where_it_pays, map_into, simulate_part};
use dropcast_lab::pages::{experiment_text, flow_times, refined_text, reproduced};
use dropcast_lab::refine::{RefineSettings, refine as refine_models, refine_into};
use dropcast_lab::reproduce::Figure;
use dropcast_pipeline::collect::generate::{
    Topology, WorkloadChanges, WorkloadSettings, generate as generate_file, generate_frame,
};
use dropcast_pipeline::files::check_output;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

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

/// What was compared, or how many runs were simulated of a part of it.
enum Done<T> {
    All(T),
    Part(usize),
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

/// Compares policies in the fabric. Returns the summary as JSON and as text; of a part, the number of runs.
#[pyfunction]
pub(crate) fn experiment(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    config: Option<Described>,
    changes: Changes,
    keeping: Keeping,
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
    let part = keeping.part(py)?;
    let done = work::run(py, bar, |progress| {
        let mut prepared = experiment.prepare()?;
        if let Some(kept) = keeping.open(progress)? {
            prepared = prepared.keeping_flow_times(Arc::new(kept));
        }
        Ok(match (output, part) {
            (_, Some(part)) => Done::Part(prepared.simulate_part(part, &resources, progress)?),
            (Some(folder), None) => {
                Done::All(prepared.write(&files, &folder, &resources, progress, flow_times)?)
            }
            (None, None) => Done::All(prepared.compare(&resources, progress)?.summary(&experiment)),
        })
    })?;
    match done {
        Done::All(summary) => Ok((errors::to_json(py, &summary)?, experiment_text(&summary))),
        Done::Part(runs) => Ok((runs.to_string(), String::new())),
    }
}

/// Compares policies over many conditions. The settings are a file's, or JSON. Returns what was
/// found as JSON and as text, of a part the number of runs; writes it into `folder`, if there is one.
#[pyfunction]
pub(crate) fn map(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    config: Described,
    threads: Option<usize>,
    keeping: Keeping,
    folder: Option<PathBuf>,
) -> PyResult<(String, String)> {
    let settings: MapSettings = config.read(py, "config", MapSettings::read)?;
    let resources = resources(py, threads, None, None)?;
    let part = keeping.part(py)?;
    let done = work::run(py, bar, |progress| {
        let kept = keeping.open(progress)?.map(Arc::new);
        let files = |found: &_| Ok(dropcast_lab::pages::map::files(found)?);
        Ok(match (&folder, part, kept) {
            (_, Some(part), Some(kept)) => {
                Done::Part(simulate_part(&settings, part, kept, &resources, progress)?)
            }
            (Some(folder), _, kept) => {
                Done::All(map_into(folder, &settings, kept, &resources, progress, files)?)
            }
            (None, _, kept) => {
                Done::All(find_where_it_pays(&settings, kept, &resources, progress)?)
            }
        })
    })?;
    match done {
        Done::All(found) => {
            Ok((errors::to_json(py, &found)?, dropcast_lab::pages::map::summary(&found)))
        }
        Done::Part(runs) => Ok((runs.to_string(), String::new())),
    }
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
    #[pyo3(item)]
    keeping: Keeping,
    /// Simulates runs elsewhere ([`PythonFleet`]), if there is a file to keep them.
    #[pyo3(item)]
    simulate: Option<Py<PyAny>>,
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
    let raised = Raised::default();
    let keeping = refinable.keeping;
    let fleet = refinable.simulate.map(|simulate| PythonFleet::new(simulate, raised.clone()));
    let refined = work::run(py, bar, |progress| {
        let kept = keeping.open(progress)?;
        task.kept = kept.map(|kept| match fleet {
            Some(fleet) => Arc::new(kept.asking(Box::new(fleet))),
            None => Arc::new(kept),
        });
        match &folder {
            Some(folder) => refine_into(folder, &task, &resources, progress),
            None => refine_models(&task, &resources, progress),
        }
    });
    let refined = raised.or(refined)?;
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
