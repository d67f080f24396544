//! Finished runs of `map`, `refine` and `simulate`, kept in a file.

use crate::closed_loop::KeptRuns;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::Progress;
use dropcast_terminal::Failure;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens the file. Runs of another build of this program do not count as known.
pub(super) fn open(path: &Path, progress: &dyn Progress) -> Result<Arc<KeptRuns>, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        PipelineError::setting("keep", format!("this program does not find its own file: {error}"))
    })?;
    Ok(Arc::new(KeptRuns::open(path, &program, progress)?))
}

/// What a job that simulates a part of the runs did.
#[derive(Serialize)]
pub(super) struct SimulatedPart {
    /// Runs of the part.
    pub(super) runs: usize,
    /// The file that has them.
    pub(super) keep: PathBuf,
}

impl SimulatedPart {
    pub(super) fn text(&self) -> String {
        format!("{} runs are in {}.\n", self.runs, dropcast_terminal::shown(&self.keep))
    }
}
