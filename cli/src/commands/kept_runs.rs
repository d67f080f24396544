//! Finished runs of `map`, `refine` and `simulate --experiment`, kept in a file.

use crate::failure::Failure;
use crate::output;
use dropcast_lab::closed_loop::KeptRuns;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::Progress;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens the file. Runs of another build of this program do not count as known.
pub(crate) fn open(path: &Path, progress: &dyn Progress) -> Result<Arc<KeptRuns>, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        PipelineError::setting("keep", format!("this program does not find its own file: {error}"))
    })?;
    Ok(Arc::new(KeptRuns::open(path, &program, progress)?))
}

/// What a job that simulates a part of the runs did.
#[derive(Serialize)]
pub(crate) struct SimulatedPart {
    /// Runs of the part.
    pub(crate) runs: usize,
    /// The file that has them.
    pub(crate) keep: PathBuf,
}

impl SimulatedPart {
    pub(crate) fn text(&self) -> String {
        format!("{} runs are in {}.\n", self.runs, output::shown(&self.keep))
    }
}
