//! Finished runs that a file keeps.

use crate::settings::text;
use dropcast_lab::closed_loop::{JobPart, KeptRuns};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::Progress;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Where finished runs are kept, and which are simulated.
#[derive(FromPyObject)]
pub(crate) struct Keeping {
    #[pyo3(item)]
    keep: Option<PathBuf>,
    #[pyo3(item)]
    part: Option<String>,
    /// The file of this program: runs of another one do not count.
    #[pyo3(item)]
    program: PathBuf,
}

impl Keeping {
    pub(crate) fn part(&self, py: Python<'_>) -> PyResult<Option<JobPart>> {
        self.part.as_ref().map(|part| text(py, "part", part)).transpose()
    }

    pub(crate) fn open(&self, progress: &dyn Progress) -> Result<Option<KeptRuns>, PipelineError> {
        self.keep.as_ref().map(|path| KeptRuns::open(path, &self.program, progress)).transpose()
    }
}
