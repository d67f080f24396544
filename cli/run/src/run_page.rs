//! What a run ends with, in each format.

use crate::RunResult;
use dropcast_pipeline::PipelineError;
use dropcast_reports::{PageError, ReportFormat, verdict_in};

/// The pages of a run: `report.json` and `report.html`.
///
/// # Errors
/// See [`PageError`].
pub fn run_pages(result: &RunResult) -> Result<[String; 2], PipelineError> {
    Ok([run_page(result, ReportFormat::Json)?, run_page(result, ReportFormat::Html)?])
}

/// What a run ends with: a report, or where there is nothing to train on a verdict.
///
/// # Errors
/// See [`PageError`].
pub fn run_page(result: &RunResult, format: ReportFormat) -> Result<String, PageError> {
    match result {
        RunResult::Report(report) => format.exporter().export(report),
        RunResult::NoDrops(verdict) => verdict_in(verdict, format),
    }
}
