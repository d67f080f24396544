//! What a run ends with, in each format.

use crate::line::line;
use crate::prometheus::exposition;
use crate::{PageError, ReportFormat, verdict_page, verdict_text};
use dropcast_measure::measures::Measured;
use dropcast_measure::verdict::Verdict;
use dropcast_pipeline::PipelineError;
use dropcast_run::RunResult;

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

/// A verdict in a format of reports.
///
/// # Errors
/// See [`PageError`].
pub fn verdict_in(verdict: &Verdict, format: ReportFormat) -> Result<String, PageError> {
    Ok(match format {
        ReportFormat::Json => serde_json::to_string_pretty(verdict)? + "\n",
        ReportFormat::Html => verdict_page(verdict)?,
        ReportFormat::Text => verdict_text(verdict),
        ReportFormat::Line => line(Measured::Verdict(verdict)),
        ReportFormat::Prometheus => exposition(Measured::Verdict(verdict)),
    })
}
