//! What an oracle could be worth: the page of a verdict, and what opens every report.

use super::body::Body;
use super::document::Document;
use super::{overview, queues, summary, throughput, timeline};
use crate::plot::escape;
use crate::verdict_words::{self, slack_sentence};
use crate::{PageError, figures};
use dropcast_measure::verdict::Verdict;

/// One HTML file with the verdict, what every policy transmits, drops over time and by queue, and the
/// JSON of all numbers.
///
/// # Errors
/// See [`PageError`]; none is known to happen.
pub fn verdict_page(verdict: &Verdict) -> Result<String, PageError> {
    let mut page = Body::default();
    summary::story(&mut page, verdict, None);
    overview::write(&mut page, verdict);
    page.section("policies", "What every policy transmits");
    let rows = verdict_words::rows(verdict);
    page.figure(
        &figures::throughput(&rows),
        "The same arrivals through every policy. A bar is what the policy loses \
         against push-out LQD: no bar is as good as LQD, a bar to the left is better.",
        &throughput::data(&rows),
    );
    throughput::with_and_without(&mut page, verdict, &rows);
    page.paragraph(&slack_sentence(verdict.slack_bytes));
    timeline::write(&mut page, verdict);
    queues::by_port(&mut page, verdict);
    queues::by_switch(&mut page, verdict);
    let names = crate::trace_words::listed(&verdict.traces);
    let header = format!("<h1>Verdict</h1>\n<p class=\"faint\">{}</p>\n", escape(&names));
    let json = serde_json::to_string_pretty(verdict)? + "\n";
    let title = format!("Verdict: {names}");
    Ok(Document { title: &title, header: &header, json: &json }.write(page))
}
