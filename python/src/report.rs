//! Reports, and the whole run that ends with one.

use crate::model::{Model, traces_of};
use crate::own_policy::{Raised, UntilRaised, own_policies};
use crate::settings::{parse, resources, text, word};
use crate::trace::Trace;
use crate::{errors, work};
use dropcast_features::FeatureSet;
use dropcast_measure::ModelSource;
use dropcast_measure::measure::measure;
use dropcast_measure::verdict::{AskedPolicies, judge};
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_reports::ReportFormat;
use dropcast_run::RunResult;
use dropcast_run::task::RunTask;
use dropcast_run::{run_page, run_pages};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A model measured, or what an oracle could be worth.
#[pyclass(frozen, module = "dropcast._dropcast")]
pub(crate) struct Report(RunResult);

#[pymethods]
impl Report {
    /// The report in a format: json, html or text.
    fn export(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let format: ReportFormat = text(py, "format", format)?;
        run_page(&self.0, format).map_err(|error| errors::pipeline(py, &error.into()))
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
    policies: (Vec<String>, Vec<(String, Py<PyAny>)>),
    least_gain: Option<f64>,
) -> PyResult<Report> {
    let rows = word(py, "rows", rows)?;
    let (policies, own) = policies;
    let policies = policies.iter().map(|name| text(py, "policy", name)).collect::<PyResult<_>>()?;
    let raised = Raised::default();
    let own = own_policies(own, &raised);
    let asked = AskedPolicies { policies, least_gain, own, ..Default::default() };
    let traces = traces_of(&data);
    let file = model.as_ref().map(|model| &model.0);
    let found = work::run(py, bar, |progress| match file {
        None => {
            let progress = &UntilRaised { progress, raised: &raised };
            let traces = LabelledTraces::new(traces, &FeatureSet::none())?;
            Ok(RunResult::NoDrops(Box::new(judge(&traces, &asked, &Default::default(), progress)?)))
        }
        Some(file) => {
            let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
            let source = ModelSource { name, sha256: Some(file.sha256.clone()) };
            let progress = &UntilRaised { progress, raised: &raised };
            let traces = LabelledTraces::for_model(traces, &file.model)?;
            let report = measure(&file.model, source, &traces, rows, &asked, progress)?;
            Ok(RunResult::Report(Box::new(report)))
        }
    });
    match raised.get() {
        Some(error) => Err(error.clone_ref(py)),
        None => Ok(Report(found?)),
    }
}

/// Runs the whole pipeline. Returns its report and its folder.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    settings: Vec<String>,
    threads: Option<usize>,
) -> PyResult<(Report, PathBuf)> {
    let task: RunTask = parse(py, settings)?;
    let resources = resources(py, threads, None, None)?;
    let done = work::run(py, bar, |progress| task.execute(&resources, progress, run_pages))?;
    Ok((Report(done.result), done.folder))
}
