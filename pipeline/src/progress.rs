//! How far long work is, and whether to go on.

use crate::PipelineError;
use dropcast_data::InputNote;
use std::path::Path;

/// Receives how far long work is. Nothing here prints: a command draws a progress bar, a notebook
/// another, a test nothing ([`Silent`]).
pub trait Progress: Sync {
    /// A stage begins: `collect`, `train`, `report`, ...
    fn begin(&self, stage: &'static str);

    /// So many more rows of the stage are done.
    fn advance(&self, rows: usize);

    /// So many of about so many steps of the stage are done.
    fn estimate(&self, done: u64, all: u64);

    /// The rows are read once more, from the first.
    fn restart(&self);

    /// The stage is done; what it did, in a few words.
    fn end(&self, done: &str);

    /// Worth knowing, but no error.
    fn note(&self, note: &str);

    /// Worth knowing of so many rows of a file, or of all inputs together.
    fn input_note(&self, file: Option<&Path>, note: InputNote, rows: u64);

    /// Whether to stop: long work asks now and then, and ends with [`PipelineError::Cancelled`].
    /// What it would have written is not written.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// An error once the work is cancelled.
///
/// # Errors
/// [`PipelineError::Cancelled`].
pub fn check(progress: &dyn Progress) -> Result<(), PipelineError> {
    if progress.is_cancelled() { Err(PipelineError::Cancelled) } else { Ok(()) }
}

/// Ignores all of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &'static str) {}

    fn advance(&self, _: usize) {}

    fn estimate(&self, _: u64, _: u64) {}

    fn restart(&self) {}

    fn end(&self, _: &str) {}

    fn note(&self, _: &str) {}

    fn input_note(&self, _: Option<&Path>, _: InputNote, _: u64) {}
}
