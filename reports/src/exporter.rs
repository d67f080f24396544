//! The interface of report formats.

use dropcast_measure::Report;
use dropcast_pipeline::PipelineError;

/// Writes a report in one format. The same report gives the same bytes.
pub trait Exporter {
    /// The report as text.
    ///
    /// # Errors
    /// See [`PageError`]; a report from a builder causes none that we know of.
    fn export(&self, report: &Report) -> Result<String, PageError>;
}

/// A report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The numbers could not be written.
    #[error("the report could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl From<PageError> for PipelineError {
    fn from(error: PageError) -> Self {
        PipelineError::Encode { what: "a page", problem: error.to_string() }
    }
}
