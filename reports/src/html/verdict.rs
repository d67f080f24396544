//! What an oracle could be worth: the page of a verdict, and what opens every report.

use super::body::Body;
use super::document::Document;
use super::{checks, queues, summary, throughput, timeline};
use crate::PageError;
use dropcast_measure::verdict::Verdict;

/// One HTML file with the verdict, what every policy transmits, drops over time and by queue, and the
/// JSON of all numbers.
///
/// # Errors
/// See [`PageError`]; none is known to happen.
pub fn verdict_page(verdict: &Verdict) -> Result<String, PageError> {
    let mut page = Body::default();
    summary::write(&mut page, verdict, None);
    throughput::write(&mut page, verdict, None);
    queues::write(&mut page, verdict);
    timeline::write(&mut page, verdict);
    checks::write(&mut page, Some(verdict), None);
    let title = summary::title(None, &verdict.traces);
    let header = summary::header(&title, Some(verdict), None);
    let json = serde_json::to_string_pretty(verdict)? + "\n";
    Ok(Document { title: &title, header: &header, json: &json }.write(page))
}
