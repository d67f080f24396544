//! Training: one forest, folds, a forest of each switch, sweeps.

use crate::model::{LeafShares, Model, traces_of};
use crate::settings::{Described, parse, resources};
use crate::trace::Trace;
use crate::{errors, work};
use dropcast_measure::oracle_gain::oracle_gain;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::traces::LabelledTrace;
use dropcast_pipeline::train::sweep::{SweepSettings, sweep as sweep_into};
use dropcast_pipeline::train::{Roles as TraceRoles, TaskResults, TrainTask};
use dropcast_reports::sweep_page;
use dropcast_train::Fitted;
use pyo3::prelude::*;
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
    fn open(&self) -> TraceRoles<LabelledTrace> {
        TraceRoles {
            data: traces_of(&self.data),
            validation: traces_of(&self.validation),
            test: traces_of(&self.test),
        }
    }

    fn resources(&self, py: Python<'_>) -> PyResult<Resources> {
        resources(py, self.threads, self.memory_limit, self.beside.clone())
    }
}

/// Models and their names; none where there were too few drops to train one.
type NamedModels = Vec<(String, Option<Model>)>;

/// Trains models, and writes them to `beside`, if that is given. Returns that of all rows; those of single switches or
/// roles; as JSON, what the model gains on the test rows, or how folds or models compare; and the shares of drops in its leaves.
#[pyfunction]
pub(crate) fn train(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    roles: Roles<'_>,
    settings: Vec<String>,
    with_gain: bool,
) -> PyResult<(Model, NamedModels, Option<String>, Option<LeafShares>)> {
    let task: TrainTask = parse(py, settings)?;
    let (open, resources) = (roles.open(), roles.resources(py)?);
    let (seed, threads) = (task.settings.seed, resources.threads());
    let trained = work::run(py, bar, |progress| {
        let output = roles.beside.as_deref();
        task.train(&open, output, &resources, progress, |model, traces, chosen| {
            let gain = with_gain
                .then(|| oracle_gain(model, traces, &chosen.split, seed, threads))
                .transpose()?
                .and_then(Result::ok);
            let cautions = gain.iter().flat_map(|gain| &gain.cautions);
            cautions.for_each(|caution| progress.note(caution));
            Ok(gain.map(|gain| gain.section))
        })
    })?;
    let mut models = NamedModels::new();
    let found = match trained.found {
        TaskResults::Gain { gain, .. } => {
            gain.map(|gain| errors::to_json(py, &gain)).transpose()?
        }
        TaskResults::Folds(folds) => Some(errors::to_json(py, &folds)?),
        TaskResults::Groups { models: groups, .. } => {
            let compared = errors::to_json(py, &groups)?;
            models.extend(groups.models.into_iter().map(|of| (of.name, of.model.map(Model::of))));
            Some(compared)
        }
    };
    let Fitted { model, leaf_shares, .. } = trained.fitted;
    Ok((Model::of(model), models, found, leaf_shares.map(LeafShares)))
}

/// Sweeps into `folder`. The settings are a file's, or JSON and `roles` are the data. Returns JSON.
#[pyfunction]
pub(crate) fn sweep(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    config: Described,
    roles: Roles<'_>,
    folder: PathBuf,
    resume: bool,
) -> PyResult<String> {
    let (open, resources) = (roles.open(), roles.resources(py)?);
    let page = |table: &_| Ok::<_, PipelineError>(sweep_page(table)?);
    let settings: SweepSettings = config.read(py, "config", SweepSettings::read)?;
    let traces = matches!(config, Described::Json(_)).then_some(open);
    let swept = work::run(py, bar, |progress| {
        sweep_into(&settings, traces, &folder, resume, &resources, progress, page)
    })?;
    errors::to_json(py, &swept)
}
