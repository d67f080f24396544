//! Training: one forest, folds, a forest of each switch, sweeps.

use crate::model::{LeafShares, Model, traces_of};
use crate::settings::{Described, WithOwn, add_own, parse, resources, text, word};
use crate::trace::Trace;
use crate::{errors, work};
use dropcast_measure::GainSection;
use dropcast_measure::oracle_gain::oracle_gain;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::TrainSettings;
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_pipeline::train::cross_validation::{Folds, cross_validate as over_folds};
use dropcast_pipeline::train::model_per::{ModelPer, groups, train_groups};
use dropcast_pipeline::train::sweep::{SweepSettings, sweep as sweep_files, sweep_on};
use dropcast_pipeline::train::{KeptApart, OpenRoles, refuse_split, train_on};
use dropcast_reports::sweep_page;
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

/// What a training begins with.
struct Task {
    open: OpenRoles,
    settings: TrainSettings,
    resources: Resources,
}

impl Roles<'_> {
    fn open(&self) -> OpenRoles {
        OpenRoles {
            data: traces_of(&self.data),
            validation: traces_of(&self.validation),
            test: traces_of(&self.test),
        }
    }

    fn resources(&self, py: Python<'_>) -> PyResult<Resources> {
        resources(py, self.threads, self.memory_limit, self.beside.clone())
    }

    fn task(&self, py: Python<'_>, settings: Vec<String>) -> PyResult<Task> {
        let WithOwn { mut settings, own }: WithOwn<TrainSettings> = parse(py, settings)?;
        add_own(py, &mut settings.features, &own)?;
        Ok(Task { open: self.open(), settings, resources: self.resources(py)? })
    }
}

/// Trains a model. Also returns what it gains on the test rows, as JSON, and the shares of drops in its leaves.
#[pyfunction]
pub(crate) fn train(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    roles: Roles<'_>,
    settings: Vec<String>,
    with_gain: bool,
) -> PyResult<(Model, Option<String>, Option<LeafShares>)> {
    let Task { open, settings, resources } = roles.task(py, settings)?;
    let (model, gain, shares) = work::run(py, bar, |progress| {
        let (traces, chosen) = open.divided(&settings, resources.kept_bytes(), progress)?;
        let fitted = train_on(&traces, &chosen, &settings, &resources, progress)?;
        let model = fitted.model;
        let gain = match with_gain {
            true => {
                oracle_gain(&model, &traces, &chosen.split, settings.seed, resources.threads())?
                    .ok()
            }
            false => None,
        };
        let cautions = gain.iter().flat_map(|gain| &gain.cautions);
        cautions.for_each(|caution| progress.note(caution));
        let gain: Option<GainSection> = gain.map(|gain| gain.section);
        Ok((model, gain, fitted.leaf_shares))
    })?;
    let gain = gain.map(|gain| errors::to_json(py, &gain)).transpose()?;
    Ok((Model::of(model), gain, shares.map(LeafShares)))
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
    let folds: Folds = text(py, "cross_validate", folds)?;
    let Task { open, settings, resources } = roles.task(py, settings)?;
    let (found, fitted) = work::run(py, bar, |progress| {
        refuse_split(&settings.split, KeptApart::Folds)?;
        let traces = LabelledTraces::new(open.data, &settings.features)?;
        over_folds(&traces, folds, &settings, &resources, progress)
    })?;
    Ok((Model::of(fitted.model), errors::to_json(py, &found)?))
}

/// Models and their names; none where there were too few drops to train one.
type NamedModels = Vec<(String, Option<Model>)>;

/// Trains a model of each switch or role, and one of all: the first. Also returns how they compare,
/// as JSON.
#[pyfunction]
pub(crate) fn train_per(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    roles: Roles<'_>,
    settings: Vec<String>,
    per: &str,
) -> PyResult<(NamedModels, String)> {
    let per: ModelPer = word(py, "model_per", per)?;
    let Task { open, settings, resources } = roles.task(py, settings)?;
    let found = work::run(py, bar, |progress| {
        let (traces, chosen) = open.divided(&settings, resources.kept_bytes(), progress)?;
        let groups = groups(&traces, per)?;
        train_groups(&traces, &chosen, groups, &settings, &resources, progress)
    })?;
    let compared = errors::to_json(py, &found)?;
    let mut models = vec![("pooled".to_owned(), Some(Model::of(found.pooled)))];
    models.extend(found.models.into_iter().map(|of| (of.name, of.model.map(Model::of))));
    Ok((models, compared))
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
    let swept = work::run(py, bar, |progress| match config {
        Described::Path(_) => sweep_files(&settings, &folder, resume, &resources, progress, page),
        Described::Json(_) => {
            settings.check_but_data()?;
            sweep_on(&settings, open, &folder, resume, &resources, progress, page)
        }
    })?;
    errors::to_json(py, &swept)
}
