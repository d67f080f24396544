//! Labelled traces: files, and frames in memory.

use crate::frame::{of_table, stream, stream_of_frame};
use crate::settings::{Described, parse, resources};
use crate::{errors, work};
use arrow_schema::ArrowError;
use dropcast_data::{
    Frame, LabelledBatch, RowOrder, TraceMeta, TraceReader, record_batch, trace_frame, trace_schema,
};
use dropcast_pipeline::collect::{CollectTask, EventData, Labelled};
use dropcast_pipeline::files::trace_files as files_of;
use dropcast_pipeline::traces::LabelledTrace;
use dropcast_pipeline::traces::timeline::Timeline;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Rows of a batch that is made of columns.
const BATCH_ROWS: usize = 65_536;

/// A labelled trace.
#[pyclass(frozen, module = "dropcast._dropcast")]
pub(crate) struct Trace {
    pub(crate) trace: LabelledTrace,
    source: Source,
    collected: Option<String>,
}

enum Source {
    File(PathBuf),
    Frame(Frame),
}

impl Trace {
    fn of(py: Python<'_>, frame: Frame, switch: Option<Described>) -> PyResult<Self> {
        let switch = switch.map(|switch| switch.switch(py)).transpose()?.map(|file| file.specs);
        let trace = work::detached(py, || LabelledTrace::of_frame(frame.clone(), switch))?;
        Ok(Trace { trace, source: Source::Frame(frame), collected: None })
    }

    fn of_file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let trace = work::detached(py, || LabelledTrace::open(&path, &[]))?;
        Ok(Trace { trace, source: Source::File(path), collected: None })
    }
}

#[pymethods]
impl Trace {
    /// A trace file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Trace::of_file(py, path)
    }

    /// A trace that is a frame.
    #[staticmethod]
    #[pyo3(signature = (table, name, switch=None))]
    fn of_frame(
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        name: &str,
        switch: Option<Described>,
    ) -> PyResult<Self> {
        Trace::of(py, of_table(py, table, name)?, switch)
    }

    /// Rows without arrivals: a column for each feature, and whether LQD dropped the packet.
    #[staticmethod]
    fn of_columns(
        py: Python<'_>,
        name: &str,
        features: Vec<String>,
        columns: Vec<PyReadonlyArray1<'_, u32>>,
        drop: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<Self> {
        let drop = drop.as_slice()?;
        let columns = columns.iter().map(|column| column.as_slice());
        let columns: Vec<&[u32]> = columns.collect::<Result<_, _>>()?;
        let meta = TraceMeta::unknown(RowOrder::Departure, features);
        let batches = (0..drop.len()).step_by(BATCH_ROWS).map(|from| {
            let rows = from..drop.len().min(from + BATCH_ROWS);
            let part = |column: &&[u32]| column.get(rows.clone()).unwrap_or_default().to_vec();
            LabelledBatch {
                features: columns.iter().map(part).collect(),
                drop: drop[rows.clone()].to_vec(),
                ..LabelledBatch::default()
            }
        });
        let frame = trace_frame(name, &meta, batches.collect());
        Trace::of(py, frame.map_err(|error| errors::data(py, error))?, None)
    }

    /// What errors call it.
    #[getter]
    fn name(&self) -> &str {
        &self.trace.name
    }

    /// Its file; none if it is in memory. As text: Python's paths drop a slash of a URL.
    #[getter]
    fn path(&self) -> Option<OsString> {
        match &self.source {
            Source::File(path) => Some(path.clone().into_os_string()),
            Source::Frame(_) => None,
        }
    }

    /// SHA-256 of its file, or of its columns.
    #[getter]
    fn sha256(&self) -> &str {
        &self.trace.origin.sha256
    }

    /// Whether it has what a replay of its arrivals needs.
    #[getter]
    fn is_replayable(&self) -> bool {
        self.trace.is_replayable()
    }

    /// What it says of itself, as JSON.
    fn meta_json(&self, py: Python<'_>) -> PyResult<String> {
        errors::to_json(py, &self.trace.meta)
    }

    /// What came of labelling, as JSON; none if it was not labelled here.
    fn collected_json(&self) -> Option<&str> {
        self.collected.as_deref()
    }

    /// The first arrival, the length of a bin (both nanoseconds), arrivals and drops by bin.
    fn timeline(&self, py: Python<'_>, bins: usize) -> PyResult<(u64, u64, Vec<u64>, Vec<u64>)> {
        let of = work::detached(py, || Timeline::of(&self.trace, bins))?;
        Ok((of.start_ns, of.bin_ns, of.arrivals, of.drops))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let path = match &self.source {
            Source::Frame(frame) => return stream_of_frame(py, frame, requested_schema),
            Source::File(path) => path,
        };
        let meta = &self.trace.meta;
        let reader = work::detached(py, || TraceReader::open(path, &meta.features))?;
        let schema =
            trace_schema(meta, reader.columns()).map_err(|error| errors::data(py, error))?;
        let (name, columns) = (self.trace.name.clone(), schema.clone());
        let batches = reader.map(move |batch| {
            let batch = batch.and_then(|batch| record_batch(&name, &columns, batch));
            batch.map_err(|error| ArrowError::ExternalError(Box::new(error)))
        });
        stream(py, schema, batches, requested_schema)
    }
}

/// The trace files among paths, and those in the folders among them; as text, as [`Trace::path`].
#[pyfunction]
pub(crate) fn trace_files(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Vec<OsString>> {
    let files = work::detached(py, || files_of(&paths))?;
    Ok(files.into_iter().map(PathBuf::into_os_string).collect())
}

/// Whether a path is a folder: one of a disk, or of objects.
#[pyfunction]
pub(crate) fn is_folder(path: PathBuf) -> bool {
    dropcast_data::is_folder(&path)
}

/// Whether a path is the URL of an object, or of a folder of objects.
#[pyfunction]
pub(crate) fn is_object(path: PathBuf) -> bool {
    dropcast_data::is_object(&path)
}

/// Where events come from: files or frames, not both; and a description of their switches.
#[derive(FromPyObject)]
pub(crate) struct EventSource<'py> {
    #[pyo3(item)]
    paths: Vec<PathBuf>,
    #[pyo3(item)]
    frames: Vec<(String, Bound<'py, PyAny>)>,
    #[pyo3(item)]
    switch: Option<Described>,
}

/// Labels events; into a file, a folder if they are one, or in memory without `output`. Returns the trace, or what was done
/// in a folder as JSON.
#[pyfunction]
pub(crate) fn collect<'py>(
    py: Python<'py>,
    bar: &Bound<'_, PyAny>,
    events: EventSource<'_>,
    settings: Vec<String>,
    output: Option<PathBuf>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut task: CollectTask = parse(py, settings)?;
    task.switch = events.switch.map(|switch| switch.switch(py)).transpose()?;
    let data = match events.frames.is_empty() {
        true => EventData::Paths(events.paths),
        false => {
            let frame = |(name, table): &(String, Bound<'_, PyAny>)| of_table(py, table, name);
            EventData::Frames(events.frames.iter().map(frame).collect::<PyResult<_>>()?)
        }
    };
    let resources = resources(py, threads, None, None)?;
    let labelled =
        work::run(py, bar, |progress| task.collect(data, output.as_deref(), &resources, progress))?;
    let (collected, mut trace) = match labelled {
        Labelled::Folder(collected) => {
            return Ok(errors::to_json(py, &collected)?.into_pyobject(py)?.into_any());
        }
        Labelled::Trace { collected, rows: Some(rows) } => (collected, Trace::of(py, rows, None)?),
        Labelled::Trace { collected, rows: None } => {
            let trace = Trace::of_file(py, collected.trace.clone())?;
            (collected, trace)
        }
    };
    trace.collected = Some(errors::to_json(py, &collected)?);
    Ok(Bound::new(py, trace)?.into_any())
}
