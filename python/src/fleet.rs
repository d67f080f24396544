//! Machines that Python reaches, such as those of Ray, simulate runs.

use crate::keeping::Keeping;
use crate::settings::resources;
use crate::{errors, work};
use dropcast_lab::closed_loop::{Fleet, simulate_share as simulate};
use dropcast_pipeline::PipelineError;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// A callable that takes a job and how many runs it has, and returns an iterator over the lines of each part.
#[derive(Debug)]
pub(crate) struct PythonFleet {
    simulate: Py<PyAny>,
    raised: Raised,
}

/// What the callable raised.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Raises it, if there is something, in place of what the pipeline made of it.
    pub(crate) fn or<T>(&self, result: PyResult<T>) -> PyResult<T> {
        let raised = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        result.map_err(|error| raised.unwrap_or(error))
    }

    fn keep(&self, error: PyErr) -> PipelineError {
        let wrapped = PipelineError::unfit("fleet", error.to_string());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        wrapped
    }
}

impl PythonFleet {
    pub(crate) fn new(simulate: Py<PyAny>, raised: Raised) -> Self {
        PythonFleet { simulate, raised }
    }
}

impl Fleet for PythonFleet {
    fn simulate(
        &self,
        job: &str,
        runs: usize,
        ended: &mut dyn FnMut(&str) -> Result<(), PipelineError>,
    ) -> Result<(), PipelineError> {
        Python::attach(|py| {
            let raise = |error| self.raised.keep(error);
            let parts = self.simulate.bind(py).call1((job, runs)).map_err(raise)?;
            for part in parts.try_iter().map_err(raise)? {
                let lines: String = part.and_then(|part| part.extract()).map_err(raise)?;
                ended(&lines)?;
            }
            Ok(())
        })
    }
}

/// Simulates a part of a job's runs into a file. Returns how many they are.
#[pyfunction]
pub(crate) fn simulate_share(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    job: &str,
    keeping: Keeping,
) -> PyResult<usize> {
    let none =
        || errors::exception(py, true, "keep and part: are None, expected a file and a part");
    let resources = resources(py, Some(1), None, None)?;
    let part = keeping.part(py)?.ok_or_else(none)?;
    work::run(py, bar, |progress| {
        let nothing = || PipelineError::setting("keep", "is None, expected a file");
        let kept = keeping.open(progress)?.ok_or_else(nothing)?;
        simulate(job, part, Arc::new(kept), &resources, progress)
    })
}
