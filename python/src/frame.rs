//! Frames: what has `__arrow_c_stream__`, in and out without copies.

use crate::{errors, work};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use dropcast_data::{Frame, write_atomic};
use dropcast_pipeline::files;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3_arrow::{PyRecordBatchReader, PyTable};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// A frame in memory, such as generated events.
#[pyclass(frozen, name = "Frame", module = "dropcast._dropcast")]
pub(crate) struct PyFrame(pub(crate) Frame);

#[pymethods]
impl PyFrame {
    /// The rows of whatever gives them through Arrow.
    #[new]
    fn new(py: Python<'_>, table: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        of_table(py, table, name).map(PyFrame)
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Its rows as a DataFrame of pandas.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pandas")?.getattr("DataFrame")?.call_method1("from_arrow", (slf,))
    }

    /// Its rows as a DataFrame of polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    fn __repr__(&self) -> String {
        format!("Frame {}: {} rows of {}", self.0.name(), self.0.rows(), self.columns().join(", "))
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.rows()).unwrap_or(usize::MAX)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        stream_of_frame(py, &self.0, requested_schema)
    }
}

/// Columns of 32-bit integers of whatever gives them through Arrow.
#[pyfunction]
pub(crate) fn integer_columns<'py>(
    py: Python<'py>,
    table: &Bound<'py, PyAny>,
    columns: Vec<String>,
) -> PyResult<Vec<Bound<'py, PyArray1<u32>>>> {
    let frame = of_table(py, table, "X")?;
    let read = |column: &String| {
        let values = frame.integers(column).map_err(|error| errors::data(py, error))?;
        Ok(PyArray1::from_vec(py, values))
    };
    columns.iter().map(read).collect()
}

/// Writes a file, which appears whole or not at all.
#[pyfunction]
pub(crate) fn write_file(py: Python<'_>, path: PathBuf, bytes: &[u8]) -> PyResult<()> {
    work::detached(py, || write_atomic(&path, bytes))
}

/// Creates a folder, and those it lies in.
#[pyfunction]
pub(crate) fn create_folder(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    work::detached(py, || files::create_folder(&path))
}

/// The rows of a frame of Python's, shared.
///
/// A reader reads all itself: it sees where its batches have other columns, what Arrow's library cannot see and takes for granted.
/// Where that library finds less than the columns take, it panics.
pub(crate) fn of_table(py: Python<'_>, table: &Bound<'_, PyAny>, name: &str) -> PyResult<Frame> {
    let table = match table.hasattr("read_all")? {
        true => &table.call_method0("read_all")?,
        false => table,
    };
    let read = catch_unwind(AssertUnwindSafe(|| table.extract::<PyTable>()));
    let problem = "has batches with different columns; give it columns of one type each";
    let changed = |_| PyValueError::new_err(format!("{name}: {problem}"));
    let (batches, schema) = read.map_err(changed)??.into_inner();
    Frame::new(name, schema, batches).map_err(|error| errors::data(py, error))
}

/// The rows of a frame, as a capsule that shares them.
pub(crate) fn stream_of_frame<'py>(
    py: Python<'py>,
    frame: &Frame,
    requested_schema: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let table = PyTable::try_new(frame.batches().to_vec(), frame.schema().clone())?;
    capsule(&table.into_pyobject(py)?.into_any(), requested_schema)
}

/// Rows that are read while they are asked for, as a capsule.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    requested_schema: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let reader = PyRecordBatchReader::new(Box::new(Stream { schema, batches }));
    capsule(&reader.into_pyobject(py)?.into_any(), requested_schema)
}

fn capsule<'py>(
    source: &Bound<'py, PyAny>,
    requested_schema: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let arguments = PyTuple::new(source.py(), [requested_schema])?;
    source.call_method1("__arrow_c_stream__", arguments)
}

struct Stream<I> {
    schema: SchemaRef,
    batches: I,
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>>> Iterator for Stream<I> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.next()
    }
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>>> RecordBatchReader for Stream<I> {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
