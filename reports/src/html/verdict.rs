//! What an oracle could be worth: the page of a verdict, and what opens every report.

use super::body::Body;
use super::document::Document;
use super::{queues, throughput, timeline};
use crate::plot::escape;
use crate::rival_words::{asked_sentences, rival_sentences};
use crate::verdict_words::{cautions, slack_sentence};
use crate::{PageError, figures, trace_sentences, verdict_sentence};
use dropcast_pipeline::report::verdict::Verdict;

/// One HTML file with the verdict, what every policy transmits, drops over time and by queue, and the
/// JSON of all numbers.
///
/// # Errors
/// See [`PageError`]; none is known to happen.
pub fn verdict_page(verdict: &Verdict) -> Result<String, PageError> {
    let mut page = Body::default();
    page.section("verdict", "Is an oracle worth it here?");
    page.lead(&verdict_sentence(verdict));
    cautions(verdict).iter().for_each(|caution| page.warning(caution));
    let sentences = rival_sentences(verdict, None).into_iter().chain(asked_sentences(verdict));
    sentences.for_each(|sentence| page.paragraph(&sentence));
    trace_sentences(verdict).iter().for_each(|sentence| page.paragraph(sentence));
    page.section("policies", "What every policy transmits");
    page.figure(
        &figures::throughput(&verdict.policies),
        "The same arrivals through every policy without an oracle. A bar is what the policy loses \
         against push-out LQD: no bar is as good as LQD, a bar to the left is better.",
        &throughput::data(&verdict.policies),
    );
    throughput::with_and_without(&mut page, verdict, None);
    page.paragraph(&slack_sentence(verdict.slack_bytes));
    timeline::write(&mut page, verdict);
    queues::by_port(&mut page, verdict);
    queues::by_switch(&mut page, verdict);
    let names = verdict.traces.join(", ");
    let header = format!("<h1>Verdict</h1>\n<p class=\"faint\">{}</p>\n", escape(&names));
    let json = serde_json::to_string_pretty(verdict)? + "\n";
    let title = format!("Verdict: {names}");
    Ok(Document { title: &title, header: &header, json: &json }.write(page))
}
