//! Work in parts for distributed engines: what goes to a worker and comes back are texts and bytes.

use crate::settings::resources;
use crate::{errors, settings, work};
use dropcast_data::{EventFiles, OnBadRow, SwitchSpecs, TimeUnit};
use dropcast_features::FeatureSet;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::collect::event_reading::{CollectReading, EventReading};
use dropcast_pipeline::collect::{
    CollectTask, EvenTrace, EventData, PieceEvents, collect, cut_switches, join_pieces,
};
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_pipeline::train::Roles;
use dropcast_pipeline::train::partitions::{
    PartitionedTraining, ReplayTask, ReplayedLanes, TracePartition, TraceSummary,
};
use dropcast_pipeline::train::sweep::{SweepSettings, sweep, sweep_share};
use dropcast_train::merge_answers;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::num::NonZeroUsize;
use std::path::PathBuf;

fn parse<T: DeserializeOwned>(py: Python<'_>, what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| errors::argument(py, what, &error))
}

fn from_value<T: DeserializeOwned>(py: Python<'_>, what: &str, value: Value) -> PyResult<T> {
    serde_json::from_value(value).map_err(|error| errors::argument(py, what, &error))
}

fn text<T: Serialize>(py: Python<'_>, value: &T) -> PyResult<String> {
    errors::to_json(py, value)
}

fn one_at_least(py: Python<'_>, name: &str, count: usize) -> PyResult<NonZeroUsize> {
    let none = || errors::exception(py, true, &format!("{name}: is 0, expected at least 1"));
    NonZeroUsize::new(count).ok_or_else(none)
}

fn train_settings(py: Python<'_>, settings: &str, seed: u64) -> PyResult<TrainSettings> {
    let settings: Value = parse(py, "settings", settings)?;
    Ok(TrainSettings { seed, ..from_value(py, "settings", with_names(py, settings)?)? })
}

/// Settings with the names of their features, where these are a text as options take it.
fn with_names(py: Python<'_>, mut settings: Value) -> PyResult<Value> {
    if let Some(names) = settings.get("features").and_then(Value::as_str) {
        let features: FeatureSet = settings::text(py, "features", names)?;
        settings["features"] = features.spelled().into();
    }
    Ok(settings)
}

/// What a training needs to know of a trace file with these settings.
#[pyfunction]
pub(crate) fn summarize_trace(py: Python<'_>, path: PathBuf, settings: &str) -> PyResult<String> {
    let settings = train_settings(py, settings, 0)?;
    text(py, &work::detached(py, || TraceSummary::read(&path, &settings.features))?)
}

/// The sum of the answers of partitions.
#[pyfunction(name = "merge_answers")]
pub(crate) fn merge(py: Python<'_>, answers: Vec<Vec<u8>>) -> PyResult<Bound<'_, PyBytes>> {
    let sum = work::detached(py, || merge_answers(answers))?;
    Ok(PyBytes::new(py, &sum))
}

/// What one replay task transmits.
#[pyfunction]
pub(crate) fn replay(py: Python<'_>, task: &str, threads: usize) -> PyResult<String> {
    let task: ReplayTask = parse(py, "task", task)?;
    let resources = resources(py, Some(threads), None, None)?;
    text(py, &work::detached(py, || task.replay(&resources))?)
}

/// The sum of what replay tasks transmit.
#[pyfunction]
pub(crate) fn merge_replays(py: Python<'_>, replays: Vec<String>) -> PyResult<String> {
    let mut sum = ReplayedLanes::default();
    for replay in replays {
        sum.merge(&parse(py, "replay", &replay)?);
    }
    text(py, &sum)
}

/// A training whose rows are in partitions.
#[pyclass]
pub(crate) struct Training(PartitionedTraining);

#[pymethods]
impl Training {
    #[new]
    fn new(
        py: Python<'_>,
        data: Vec<String>,
        validation: Vec<String>,
        test: Vec<String>,
        settings: &str,
        seed: u64,
    ) -> PyResult<Self> {
        let summaries = |texts: Vec<String>| -> PyResult<Vec<TraceSummary>> {
            texts.iter().map(|text| parse(py, "summary", text)).collect()
        };
        let (data, validation) = (summaries(data)?, summaries(validation)?);
        let roles = Roles { data, validation, test: summaries(test)? };
        let settings = train_settings(py, settings, seed)?;
        work::detached(py, || PartitionedTraining::new(&roles, &settings, &Silent)).map(Training)
    }

    /// At most `count` partitions: each with its number of rows and what its worker begins with.
    fn partitions(&self, py: Python<'_>, count: usize) -> PyResult<Vec<(u64, String)>> {
        let specs = self.0.partitions(one_at_least(py, "partitions", count)?);
        specs.iter().map(|spec| Ok((spec.rows(), text(py, spec)?))).collect()
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
        work::detached(py, || self.0.receive(answer))
    }

    /// The replays that the vote rule needs, in about `count` tasks; none if it needs none.
    fn replays(&self, py: Python<'_>, count: usize) -> PyResult<Vec<String>> {
        let tasks = self.0.replays(one_at_least(py, "count", count)?);
        tasks.iter().map(|task| text(py, task)).collect()
    }

    /// Takes the sum of what all replays transmitted.
    fn tell_replayed(&mut self, py: Python<'_>, sum: &str) -> PyResult<()> {
        let sum: ReplayedLanes = parse(py, "replay", sum)?;
        work::detached(py, || self.0.receive_replayed(&sum))
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
        py: Python<'_>,
        spec: &str,
        threads: usize,
        memory_limit: Option<u64>,
        scratch: PathBuf,
    ) -> PyResult<Self> {
        // The folder of a file that is never made.
        let beside = scratch.join("rows");
        let resources = resources(py, Some(threads), memory_limit, Some(beside))?;
        let spec = parse(py, "partition", spec)?;
        work::detached(py, || TracePartition::new(&spec, &resources)).map(Partition)
    }

    /// The answer to a question.
    fn answer<'py>(&mut self, py: Python<'py>, question: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = work::detached(py, || self.0.answer(question))?;
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
struct PieceTask {
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

impl PieceTask {
    fn parse(py: Python<'_>, text: &str) -> PyResult<Self> {
        let mut task: Value = parse(py, "collect", text)?;
        task["settings"] = with_names(py, task["settings"].take())?;
        from_value(py, "collect", task)
    }

    fn open(&self) -> Result<(EventFiles, SwitchSpecs), PipelineError> {
        let reading = EventReading {
            switch: self.switch.clone(),
            columns: self.columns.clone(),
            time_unit: self.time_unit,
        };
        let on_bad_row = self.skip_bad_rows.then_some(OnBadRow::Skip);
        let reading = CollectReading { reading, on_bad_row, ..CollectReading::default() };
        let settings = self.settings.clone();
        let task = CollectTask { reading, settings, ..CollectTask::default() };
        let files = task.open(&EventData::Paths(self.events.clone()))?;
        let specs = files.specs().clone();
        Ok((files, specs))
    }
}

/// The pieces of the switches of a run, of about `rows` arrivals each.
#[pyfunction]
pub(crate) fn cut_events(py: Python<'_>, task: &str, rows: u64) -> PyResult<Vec<String>> {
    let task = PieceTask::parse(py, task)?;
    let cut = || {
        let (events, specs) = task.open()?;
        cut_switches(events, &specs, &task.settings, rows)
    };
    let pieces = work::detached(py, cut)?;
    pieces.iter().map(|piece| text(py, piece)).collect()
}

/// Labels a piece of a switch into a trace.
#[pyfunction(name = "collect_piece")]
pub(crate) fn label_piece(
    py: Python<'_>,
    task: &str,
    piece: &str,
    path: PathBuf,
) -> PyResult<String> {
    let task = PieceTask::parse(py, task)?;
    let piece = parse(py, "piece", piece)?;
    let waiting = task.max_waiting_rows;
    let label = || {
        let (events, specs) = task.open()?;
        let events = PieceEvents::among(events, &piece, &task.settings);
        collect::<EvenTrace>(events, specs, &task.settings, waiting, path, &Silent)
    };
    text(py, &work::detached(py, label)?)
}

/// Makes one trace of the pieces of a switch.
#[pyfunction(name = "join_pieces")]
pub(crate) fn join(py: Python<'_>, pieces: Vec<PathBuf>, path: PathBuf) -> PyResult<()> {
    work::detached(py, || join_pieces(&pieces, path))
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
    let resources = resources(py, Some(threads), None, None)?;
    let share = || {
        let settings = SweepSettings::read(&config)?;
        sweep_share(&settings, &folder, (nth, of), &resources, &Silent)
    };
    work::detached(py, share)
}

/// Completes a sweep in a folder whose parts are there.
#[pyfunction]
pub(crate) fn finish_sweep(
    py: Python<'_>,
    config: PathBuf,
    folder: PathBuf,
    threads: usize,
) -> PyResult<String> {
    let resources = resources(py, Some(threads), None, None)?;
    let page = |table: &_| {
        dropcast_reports::sweep_page(table).map_err(|error| PipelineError::Encode {
            what: "report.html",
            problem: error.to_string(),
        })
    };
    let finish = || {
        let settings = SweepSettings::read(&config)?;
        sweep(&settings, None, &folder, true, &resources, &Silent, page)
    };
    text(py, &work::detached(py, finish)?)
}
