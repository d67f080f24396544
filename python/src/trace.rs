//! Labelled traces: files, and frames in memory.

use crate::frame::{of_table, stream, stream_of_frame};
use crate::settings::{Described, WithOwn, add_own, parse, resources, word};
use crate::{errors, work};
use arrow_schema::ArrowError;
use dropcast_data::{
    DataError, EventFiles, EventOptions, EventReader, Frame, LabelledBatch, RowOrder, SwitchFile,
    TraceMeta, TraceReader, record_batch, trace_frame, trace_schema,
};
use dropcast_pipeline::collect::event_reading::CollectReading;
use dropcast_pipeline::collect::folder::FolderJob;
use dropcast_pipeline::collect::{Collected, InMemory, TraceFile, collect as label};
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::files::trace_files as files_of;
use dropcast_pipeline::settings::TracerSettings;
use dropcast_pipeline::traces::LabelledTrace;
use dropcast_pipeline::traces::timeline::Timeline;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
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
        table: PyTable,
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

    /// Whether it tells what a replay of its arrivals needs.
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

/// Where events come from: files or frames, not both.
#[derive(FromPyObject)]
pub(crate) struct EventSource<'py> {
    #[pyo3(item)]
    paths: Vec<PathBuf>,
    #[pyo3(item)]
    frames: Vec<(String, Bound<'py, PyAny>)>,
    #[pyo3(item)]
    switch: Option<Described>,
    /// The command's arguments that tell how they are read.
    #[pyo3(item)]
    reading: Vec<String>,
    #[pyo3(item)]
    on_bad_row: Option<String>,
}

impl EventSource<'_> {
    /// How the events are read, with these columns of the user's own.
    fn options(&self, py: Python<'_>, own: Vec<String>) -> PyResult<EventOptions> {
        let mut reading: CollectReading = parse(py, self.reading.clone())?;
        let on_bad_row = self.on_bad_row.as_ref().map(|text| word(py, "on_bad_row", text));
        reading.on_bad_row = on_bad_row.transpose()?;
        let mut options = work::detached(py, || reading.options())?;
        options.columns.own = own;
        if let Some(switch) = &self.switch {
            let SwitchFile { specs, maps } = switch.switch(py)?;
            (options.specs, options.maps) = (Some(specs), maps);
        }
        Ok(options)
    }

    /// Opens the events.
    fn open(self, py: Python<'_>, options: &EventOptions) -> PyResult<EventFiles> {
        if self.frames.is_empty() {
            return work::detached(py, || EventFiles::open(&self.paths, options));
        }
        let failed = |error: DataError| errors::data(py, error);
        let mut readers = Vec::new();
        for (name, table) in self.frames {
            let frame = of_table(py, table.extract()?, &name)?;
            readers.push(EventReader::of_frame(&frame, options).map_err(failed)?);
        }
        EventFiles::merge(readers).map_err(failed)
    }
}

/// How packets are labelled.
fn tracer_settings(py: Python<'_>, settings: Vec<String>) -> PyResult<TracerSettings> {
    let WithOwn { mut settings, own }: WithOwn<TracerSettings> = parse(py, settings)?;
    add_own(py, &mut settings.features, &own)?;
    Ok(settings)
}

/// Labels events; into a file, or in memory without `output`.
#[pyfunction]
pub(crate) fn collect(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    events: EventSource<'_>,
    settings: Vec<String>,
    max_waiting_rows: usize,
    output: Option<PathBuf>,
) -> PyResult<Trace> {
    let settings = tracer_settings(py, settings)?;
    if let Some(path) = &output {
        work::detached(py, || check_output(path, &events.paths))?;
    }
    let options = events.options(py, settings.features.split_own().1.names())?;
    let reader = events.open(py, &options)?;
    let specs = reader.specs().clone();
    let (collected, mut trace) = match output {
        Some(path) => {
            let collected = work::run(py, bar, |progress| {
                label::<TraceFile>(reader, specs, &settings, max_waiting_rows, path, progress)
            })?;
            let trace = Trace::of_file(py, collected.trace.clone())?;
            (collected, trace)
        }
        None => {
            let name = "trace".to_owned();
            let (collected, frame) = work::run(py, bar, |progress| {
                let labelled = label::<InMemory>(
                    reader,
                    specs,
                    &settings,
                    max_waiting_rows,
                    name.clone(),
                    progress,
                )?;
                let Collected { trace, counts, skipped, notes } = labelled;
                let collected = Collected { trace: name.into(), counts, skipped, notes };
                Ok((collected, trace.frame()?))
            })?;
            (collected, Trace::of(py, frame, None)?)
        }
    };
    trace.collected = Some(errors::to_json(py, &collected)?);
    Ok(trace)
}

/// Labels the folders of events under the only path, into a folder. Returns what was done as JSON.
#[pyfunction]
pub(crate) fn collect_folder(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    events: EventSource<'_>,
    settings: Vec<String>,
    max_waiting_rows: usize,
    output: PathBuf,
    threads: Option<usize>,
) -> PyResult<String> {
    let settings = tracer_settings(py, settings)?;
    let job = FolderJob {
        options: events.options(py, settings.features.split_own().1.names())?,
        settings: &settings,
        max_waiting_rows,
        resources: resources(py, threads, None, None)?,
    };
    let folder = events.paths.first().cloned().unwrap_or_default();
    let collected = work::run(py, bar, |progress| job.run(&folder, &output, progress))?;
    errors::to_json(py, &collected)
}
