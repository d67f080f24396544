//! Work in parts for distributed engines: what goes to a worker and comes back are texts and bytes.

use dropcast_data::{
    EventColumns, EventFiles, EventOptions, OnBadRow, SwitchSpecs, TimeUnit, read_switch_file,
};
use dropcast_features::{FeatureSet, UnknownFeature};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::collect::{collect_piece, cut_switches, join_pieces};
use dropcast_pipeline::partitions::{
    PartitionedTraining, ReplayTask, ReplayedLanes, TracePartition, TraceSummary, TracesByRole,
};
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::{MemoryLimit, Resources};
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_pipeline::sweep::{SweepSettings, sweep, sweep_share};
use dropcast_train::merge_answers;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// An error in Python: a `ValueError` if the user's input is at fault.
fn raised(error: PipelineError) -> PyErr {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    match error.is_the_users() {
        true => PyValueError::new_err(text),
        false => PyRuntimeError::new_err(text),
    }
}

fn parse<T: DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(format!("{what}: {error}")))
}

fn text<T: Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

fn one_at_least(name: &str, count: usize) -> PyResult<NonZeroUsize> {
    NonZeroUsize::new(count)
        .ok_or_else(|| PyValueError::new_err(format!("{name}: expected 1 or more")))
}

fn resources(threads: usize, memory_limit_mib: Option<u64>, scratch: &str) -> PyResult<Resources> {
    // The folder of a file that is never made.
    let beside = Path::new(scratch).join("rows");
    let memory = memory_limit_mib.map(|mib| MemoryLimit { mib, beside });
    Ok(Resources { threads: Some(one_at_least("threads", threads)?), memory })
}

fn train_settings(settings: &str, seed: u64) -> PyResult<TrainSettings> {
    let settings: Value = parse("settings", settings)?;
    Ok(TrainSettings { seed, ..from_value("settings", with_names(settings)?)? })
}

/// Settings with the names of their features, where these are a text as options take it.
fn with_names(mut settings: Value) -> PyResult<Value> {
    if let Some(text) = settings.get("features").and_then(Value::as_str) {
        let features: FeatureSet = text
            .parse()
            .map_err(|error: UnknownFeature| PyValueError::new_err(format!("features: {error}")))?;
        settings["features"] = features.names().into();
    }
    Ok(settings)
}

fn from_value<T: DeserializeOwned>(what: &str, value: Value) -> PyResult<T> {
    serde_json::from_value(value).map_err(|error| PyValueError::new_err(format!("{what}: {error}")))
}

/// What a training needs to know of a trace file with these settings.
#[pyfunction]
pub(crate) fn summarize_trace(py: Python<'_>, path: PathBuf, settings: &str) -> PyResult<String> {
    let settings = train_settings(settings, 0)?;
    let summary = py.detach(|| TraceSummary::read(&path, &settings.features)).map_err(raised)?;
    text(&summary)
}

/// The sum of the answers of partitions.
#[pyfunction(name = "merge_answers")]
pub(crate) fn merge(py: Python<'_>, answers: Vec<Vec<u8>>) -> PyResult<Bound<'_, PyBytes>> {
    let sum = py.detach(|| merge_answers(answers)).map_err(|error| raised(error.into()))?;
    Ok(PyBytes::new(py, &sum))
}

/// What one replay task transmits.
#[pyfunction]
pub(crate) fn replay(py: Python<'_>, task: &str, threads: usize) -> PyResult<String> {
    let task: ReplayTask = parse("task", task)?;
    let resources = resources(threads, None, "")?;
    text(&py.detach(|| task.replay(&resources)).map_err(raised)?)
}

/// The sum of what replay tasks transmit.
#[pyfunction]
pub(crate) fn merge_replays(replays: Vec<String>) -> PyResult<String> {
    let mut sum = ReplayedLanes::default();
    for replay in replays {
        sum.merge(&parse("replay", &replay)?);
    }
    text(&sum)
}

/// A training whose rows are in partitions.
#[pyclass]
pub(crate) struct Training(PartitionedTraining);

#[pymethods]
impl Training {
    #[new]
    fn new(
        data: Vec<String>,
        validation: Vec<String>,
        test: Vec<String>,
        settings: &str,
        seed: u64,
    ) -> PyResult<Self> {
        let summaries = |texts: Vec<String>| -> PyResult<Vec<TraceSummary>> {
            texts.iter().map(|text| parse("summary", text)).collect()
        };
        let (data, validation) = (summaries(data)?, summaries(validation)?);
        let roles = TracesByRole { data, validation, test: summaries(test)? };
        let settings = train_settings(settings, seed)?;
        Ok(Training(PartitionedTraining::new(&roles, &settings, &Silent).map_err(raised)?))
    }

    /// At most `count` partitions: each with its number of rows and what its worker begins with.
    fn partitions(&self, count: usize) -> PyResult<Vec<(u64, String)>> {
        let specs = self.0.partitions(one_at_least("partitions", count)?);
        specs.iter().map(|spec| Ok((spec.rows(), text(spec)?))).collect()
    }

    /// The next question to every partition; `None` once all are answered.
    fn question<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0.question().map(|question| PyBytes::new(py, &question))
    }

    /// What is being done, in a few words.
    #[getter]
    fn stage(&self) -> String {
        self.0.stage()
    }

    /// Takes the merged answer of all partitions.
    fn tell(&mut self, py: Python<'_>, answer: &[u8]) -> PyResult<()> {
        py.detach(|| self.0.tell(answer)).map_err(raised)
    }

    /// The replays that the vote rule needs, in about `count` tasks; none if it needs none.
    fn replays(&self, count: usize) -> PyResult<Vec<String>> {
        self.0.replays(one_at_least("count", count)?).iter().map(text).collect()
    }

    /// Takes the sum of what all replays transmitted.
    fn tell_replayed(&mut self, sum: &str) -> PyResult<()> {
        let sum: ReplayedLanes = parse("replay", sum)?;
        self.0.tell_replayed(&sum).map_err(raised)
    }

    /// The text of `model.json`; `None` while there is something to ask or to replay.
    fn model_json(&self) -> Option<String> {
        self.0.fitted().map(|fitted| fitted.model.to_json())
    }
}

/// The rows of a partition.
#[pyclass]
pub(crate) struct Partition(TracePartition);

#[pymethods]
impl Partition {
    #[new]
    fn new(
        spec: &str,
        threads: usize,
        memory_limit_mib: Option<u64>,
        scratch: &str,
    ) -> PyResult<Self> {
        let resources = resources(threads, memory_limit_mib, scratch)?;
        let spec = parse("partition", spec)?;
        Ok(Partition(TracePartition::new(&spec, &resources).map_err(raised)?))
    }

    /// The answer to a question.
    fn answer<'py>(&mut self, py: Python<'py>, question: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = py.detach(|| self.0.answer(question)).map_err(raised)?;
        Ok(PyBytes::new(py, &answer))
    }

    /// Bytes of binned rows in memory.
    #[getter]
    fn bytes_in_memory(&self) -> u64 {
        self.0.bytes_in_memory()
    }

    /// Bytes of binned rows in a file.
    #[getter]
    fn spilled_bytes(&self) -> u64 {
        self.0.spilled_bytes()
    }
}

/// Which events are labelled, and how.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CollectTask {
    events: Vec<PathBuf>,
    #[serde(default)]
    switch: Option<PathBuf>,
    #[serde(default)]
    columns: Vec<String>,
    #[serde(default)]
    time_unit: Option<TimeUnit>,
    #[serde(default)]
    skip_bad_rows: bool,
    max_waiting_rows: usize,
    settings: TracerSettings,
}

impl CollectTask {
    fn parse(text: &str) -> PyResult<Self> {
        let mut task: Value = parse("collect", text)?;
        task["settings"] = with_names(task["settings"].take())?;
        from_value("collect", task)
    }

    fn open(&self) -> Result<(EventFiles, SwitchSpecs), PipelineError> {
        let switch = self.switch.as_deref().map(read_switch_file).transpose()?;
        let (specs, maps) = switch.map(|file| (file.specs, file.maps)).unzip();
        let options = EventOptions {
            columns: EventColumns::parse(&self.columns)?,
            time_unit: self.time_unit,
            specs,
            maps: maps.unwrap_or_default(),
            on_bad_row: if self.skip_bad_rows { OnBadRow::Skip } else { OnBadRow::Fail },
            ..EventOptions::default()
        };
        let files = EventFiles::open(&self.events, &options)?;
        let specs = files.specs().clone();
        Ok((files, specs))
    }
}

/// The pieces of the switches of a run, of about `rows` arrivals each.
#[pyfunction]
pub(crate) fn cut_events(py: Python<'_>, task: &str, rows: u64) -> PyResult<Vec<String>> {
    let task = CollectTask::parse(task)?;
    let cut = || {
        let (events, specs) = task.open()?;
        cut_switches(events, &specs, &task.settings, rows)
    };
    py.detach(cut).map_err(raised)?.iter().map(text).collect()
}

/// Labels a piece of a switch into a trace.
#[pyfunction(name = "collect_piece")]
pub(crate) fn label_piece(
    py: Python<'_>,
    task: &str,
    piece: &str,
    path: PathBuf,
) -> PyResult<String> {
    let task = CollectTask::parse(task)?;
    let piece = parse("piece", piece)?;
    let waiting = task.max_waiting_rows;
    let label = || {
        let (events, specs) = task.open()?;
        collect_piece(events, specs, &task.settings, &piece, waiting, &path, &Silent)
    };
    text(&py.detach(label).map_err(raised)?)
}

/// Makes one trace of the pieces of a switch.
#[pyfunction(name = "join_pieces")]
pub(crate) fn join(py: Python<'_>, pieces: Vec<PathBuf>, path: PathBuf) -> PyResult<()> {
    py.detach(|| join_pieces(&pieces, &path)).map_err(raised)
}

/// Trains a share of a sweep into a folder, as parts.
#[pyfunction(name = "sweep_share")]
pub(crate) fn share_of_sweep(
    py: Python<'_>,
    config: PathBuf,
    folder: PathBuf,
    nth: usize,
    of: usize,
    threads: usize,
) -> PyResult<()> {
    let resources = resources(threads, None, "")?;
    let share = || {
        let settings = SweepSettings::read(&config)?;
        sweep_share(&settings, &folder, (nth, of), &resources, &Silent)
    };
    py.detach(share).map_err(raised)
}

/// Completes a sweep in a folder whose parts are there.
#[pyfunction]
pub(crate) fn finish_sweep(
    py: Python<'_>,
    config: PathBuf,
    folder: PathBuf,
    threads: usize,
) -> PyResult<String> {
    let resources = resources(threads, None, "")?;
    let page = |table: &_| {
        dropcast_reports::sweep_page(table).map_err(|error| PipelineError::Encode {
            what: "report.html",
            problem: error.to_string(),
        })
    };
    let finish = || {
        let settings = SweepSettings::read(&config)?;
        sweep(&settings, &folder, true, &resources, &Silent, page)
    };
    text(&py.detach(finish).map_err(raised)?)
}
