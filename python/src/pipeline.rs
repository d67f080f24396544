//! The stages: train, sweep, report, simulate.

use crate::frame::PyFrame;
use crate::model::{Model, traces_of};
use crate::settings::{parse, resources, text, word};
use crate::trace::Trace;
use crate::{errors, work};
use dropcast_features::FeatureSet;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::closed_loop::{Experiment, NamedPolicy, RunFile};
use dropcast_pipeline::cross_validation::{Folds, cross_validate as over_folds};
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::generate::{
    Topology, Workload, WorkloadChanges, generate as generate_file, generate_frame,
};
use dropcast_pipeline::measure::measure;
use dropcast_pipeline::model_per::{ModelPer, groups, train_groups};
use dropcast_pipeline::oracle_gain::oracle_gain;
use dropcast_pipeline::report::{GainSection, ModelSource, Report as Measured};
use dropcast_pipeline::settings::TrainSettings;
use dropcast_pipeline::sweep::{SweepSettings, sweep as sweep_files, sweep_on};
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_pipeline::training::{KeptApart, OpenRoles, refuse_split, train_on};
use dropcast_pipeline::verdict::{Verdict, judge};
use dropcast_reports::{ReportFormat, experiment_text, verdict_page, verdict_text};
use pyo3::prelude::*;
use serde::Serialize;
use std::path::PathBuf;

/// Labelled traces by what they are for, and what may be used.
#[derive(FromPyObject)]
pub(crate) struct Roles<'py> {
    #[pyo3(item)]
    data: Vec<PyRef<'py, Trace>>,
    #[pyo3(item)]
    validation: Vec<PyRef<'py, Trace>>,
    #[pyo3(item)]
    test: Vec<PyRef<'py, Trace>>,
    #[pyo3(item)]
    threads: Option<usize>,
    #[pyo3(item)]
    memory_limit: Option<u64>,
    #[pyo3(item)]
    beside: Option<PathBuf>,
}

impl Roles<'_> {
    fn open(&self) -> OpenRoles {
        OpenRoles {
            data: traces_of(&self.data),
            validation: traces_of(&self.validation),
            test: traces_of(&self.test),
        }
    }

    fn resources(&self, py: Python<'_>) -> PyResult<dropcast_pipeline::resources::Resources> {
        resources(py, self.threads, self.memory_limit, self.beside.clone())
    }
}

fn json(py: Python<'_>, value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| errors::json(py, &error))
}

/// Trains a model. Also returns what it gains on the test rows, as JSON.
#[pyfunction]
pub(crate) fn train(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    roles: Roles<'_>,
    settings: Vec<String>,
    with_gain: bool,
) -> PyResult<(Model, Option<String>)> {
    let settings: TrainSettings = parse(py, settings)?;
    let (resources, open) = (roles.resources(py)?, roles.open());
    let (model, gain) = work::run(py, bar, |progress| {
        let kept_apart = if open.are_kept_apart() { KeptApart::Roles } else { KeptApart::No };
        refuse_split(&settings.split, kept_apart)?;
        let stated = settings.split.check()?;
        let (traces, split) = open.divide(&settings.features, stated)?;
        let model = train_on(&traces, &split, &settings, &resources, progress)?.model;
        let gain: Option<GainSection> = match with_gain {
            true => oracle_gain(&model, &traces, &split, settings.seed)?.ok(),
            false => None,
        };
        Ok((model, gain))
    })?;
    let gain = gain.map(|gain| json(py, &gain)).transpose()?;
    Ok((Model::of(model), gain))
}

/// Trains a model on all runs, and one for each fold. Also returns the scores of folds, as JSON.
#[pyfunction]
pub(crate) fn cross_validate(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    roles: Roles<'_>,
    settings: Vec<String>,
    folds: &str,
) -> PyResult<(Model, String)> {
    let settings: TrainSettings = parse(py, settings)?;
    let folds: Folds = text(py, "cross_validate", folds)?;
    let (resources, open) = (roles.resources(py)?, roles.open());
    let (found, fitted) = work::run(py, bar, |progress| {
        refuse_split(&settings.split, KeptApart::Folds)?;
        let traces = LabelledTraces::new(open.data, &settings.features)?;
        over_folds(&traces, folds, &settings, &resources, progress)
    })?;
    Ok((Model::of(fitted.model), json(py, &found)?))
}

/// Trains a model of each switch or role, and one of all: the first. Also returns how they compare,
/// as JSON.
#[pyfunction]
pub(crate) fn train_per(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    roles: Roles<'_>,
    settings: Vec<String>,
    per: &str,
) -> PyResult<(Vec<(String, Option<Model>)>, String)> {
    let settings: TrainSettings = parse(py, settings)?;
    let per: ModelPer = word(py, "model_per", per)?;
    let (resources, open) = (roles.resources(py)?, roles.open());
    let found = work::run(py, bar, |progress| {
        let kept_apart = if open.are_kept_apart() { KeptApart::Roles } else { KeptApart::No };
        refuse_split(&settings.split, kept_apart)?;
        let stated = settings.split.check()?;
        let (traces, split) = open.divide(&settings.features, stated)?;
        let groups = groups(&traces, per)?;
        train_groups(&traces, &split, groups, &settings, &resources, progress)
    })?;
    let compared = json(py, &found)?;
    let mut models = vec![("pooled".to_owned(), Some(Model::of(found.pooled)))];
    models.extend(found.models.into_iter().map(|of| (of.name, of.model.map(Model::of))));
    Ok((models, compared))
}

/// Sweeps into `folder`. The settings are a file's, or JSON without data. Returns JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "those of the command")]
pub(crate) fn sweep(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    config: Option<PathBuf>,
    settings: Option<&str>,
    roles: Roles<'_>,
    folder: PathBuf,
    resume: bool,
) -> PyResult<String> {
    let resources = roles.resources(py)?;
    let page = |table: &_| {
        dropcast_reports::sweep_page(table).map_err(|error| PipelineError::Encode {
            what: "report.html",
            problem: error.to_string(),
        })
    };
    let swept = match config {
        Some(config) => work::run(py, bar, |progress| {
            let settings = SweepSettings::read(&config)?;
            sweep_files(&settings, &folder, resume, &resources, progress, page)
        })?,
        None => {
            let settings: SweepSettings = serde_json::from_str(settings.unwrap_or("{}"))
                .map_err(|error| errors::argument(py, "config", &error))?;
            let open = roles.open();
            work::run(py, bar, |progress| {
                settings.check_but_data()?;
                sweep_on(&settings, open, &folder, resume, &resources, progress, page)
            })?
        }
    };
    json(py, &swept)
}

/// A model measured, or what an oracle could be worth.
#[pyclass(frozen, module = "dropcast._dropcast")]
pub(crate) struct Report(Found);

enum Found {
    Report(Box<Measured>),
    Verdict(Box<Verdict>),
}

#[pymethods]
impl Report {
    /// The report in a format: json, html or text.
    fn export(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let format: ReportFormat = text(py, "format", format)?;
        let page = |made: Result<String, dropcast_reports::ExportError>| {
            made.map_err(|error| errors::exception(py, false, &error.to_string()))
        };
        match (&self.0, format) {
            (Found::Report(report), _) => page(format.exporter().export(report)),
            (Found::Verdict(verdict), ReportFormat::Html) => page(verdict_page(verdict)),
            (Found::Verdict(verdict), ReportFormat::Text) => Ok(verdict_text(verdict)),
            (Found::Verdict(verdict), ReportFormat::Json) => json(py, verdict),
        }
    }
}

/// Measures a model on traces; without one, what an oracle could be worth on them.
#[pyfunction]
pub(crate) fn report(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    data: Vec<PyRef<'_, Trace>>,
    model: Option<PyRef<'_, Model>>,
    rows: &str,
) -> PyResult<Report> {
    let rows = word(py, "rows", rows)?;
    let traces = traces_of(&data);
    let Some(model) = model else {
        let found = work::run(py, bar, |progress| {
            let traces = LabelledTraces::new(traces, &FeatureSet::none())?;
            judge(&traces, &Default::default(), progress)
        })?;
        return Ok(Report(Found::Verdict(Box::new(found))));
    };
    let file = &model.0;
    let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let source = ModelSource { name, sha256: Some(file.sha256.clone()) };
    let found = work::run(py, bar, |progress| {
        let traces = LabelledTraces::for_model(traces, &file.model)?;
        measure(&file.model, source, &traces, rows, progress)
    })?;
    Ok(Report(Found::Report(Box::new(found))))
}

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
        let described = Workload::read(topology, workload.as_deref())?.with(&changes);
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
    config: Option<PathBuf>,
    settings: Option<&str>,
    changes: Changes,
    output: Option<PathBuf>,
) -> PyResult<(String, String)> {
    let mut experiment = match (config, settings) {
        (Some(path), _) => Experiment::read(&path).map_err(|error| errors::pipeline(py, &error))?,
        (None, Some(json)) => serde_json::from_str(json)
            .map_err(|error| errors::argument(py, "experiment", &error))?,
        (None, None) => Experiment::websearch(),
    };
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
    Ok((json(py, &summary)?, experiment_text(&summary)))
}

/// Runs the command with these arguments, the first of which is its name. Returns its exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| dropcast_cli::run_command(arguments))
}
