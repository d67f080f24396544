//! Errors as exceptions of `dropcast.errors`, with the words of the command.

use dropcast_data::DataError;
use dropcast_pipeline::PipelineError;
use pyo3::prelude::*;
use serde::Serialize;
use std::error::Error;

/// An exception whose message is `message`. If `is_the_users`, it is also a `ValueError`, else a
/// `RuntimeError`.
pub(crate) fn exception(py: Python<'_>, is_the_users: bool, message: &str) -> PyErr {
    let name = if is_the_users { "InputError" } else { "InternalError" };
    let make = || py.import("dropcast.errors")?.getattr(name)?.call1((message,));
    make().map_or_else(|error| error, PyErr::from_value)
}

/// What the pipeline says.
pub(crate) fn pipeline(py: Python<'_>, error: &PipelineError) -> PyErr {
    exception(py, error.is_the_users(), &dropcast_terminal::message(error))
}

/// What a file or frame lacks.
pub(crate) fn data(py: Python<'_>, error: DataError) -> PyErr {
    pipeline(py, &error.into())
}

/// An argument that is not understood.
pub(crate) fn argument(py: Python<'_>, name: &str, error: &dyn Error) -> PyErr {
    exception(py, true, &dropcast_features::with_suggestion(&format!("{name}: {error}")))
}

/// A result as JSON. That it cannot be written is a defect of ours.
pub(crate) fn to_json(py: Python<'_>, value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| {
        exception(py, false, &format!("the result cannot be written as JSON: {error}"))
    })
}
