//! Verdicts, in each format.

use crate::answer::answer;
use crate::line::line;
use crate::prometheus::exposition;
use crate::{PageError, ReportFormat, verdict_page, verdict_text};
use dropcast_measure::measures::ReportOrVerdict;
use dropcast_measure::verdict::Verdict;

/// A verdict in a format of reports.
///
/// # Errors
/// See [`PageError`].
pub fn verdict_in(verdict: &Verdict, format: ReportFormat) -> Result<String, PageError> {
    Ok(match format {
        ReportFormat::Json => serde_json::to_string_pretty(verdict)? + "\n",
        ReportFormat::Html => verdict_page(verdict)?,
        ReportFormat::Text => answer(verdict, None),
        ReportFormat::Details => verdict_text(verdict),
        ReportFormat::Line => line(ReportOrVerdict::Verdict(verdict)),
        ReportFormat::Prometheus => exposition(ReportOrVerdict::Verdict(verdict)),
    })
}
