//! What an oracle could be worth: the page of a verdict, and what opens every report.

use super::body::Body;
use super::document::Document;
use super::table::Cell;
use super::{queues, timeline};
use crate::plot::escape;
use crate::verdict_words::rows;
use crate::{ExportError, figures, trace_sentences, verdict_sentence};
use dropcast_pipeline::verdict::Verdict;
use dropcast_replay::Sent;

/// One HTML file with the verdict, what every policy transmits, drops over time and by queue, and the
/// JSON of all numbers.
///
/// # Errors
/// See [`ExportError`]; none is known to happen.
pub fn verdict_page(verdict: &Verdict) -> Result<String, ExportError> {
    let mut page = Body::default();
    page.section("verdict", "Is an oracle worth it here?");
    page.lead(&verdict_sentence(verdict));
    trace_sentences(verdict).iter().for_each(|sentence| page.paragraph(sentence));
    page.section("policies", "What every policy transmits");
    page.figure(
        &figures::throughput(&verdict.policies),
        "The same arrivals through every policy without an oracle. A bar is what the policy loses \
         against push-out LQD: no bar is as good as LQD, a bar to the left is better.",
        &super::throughput::data(&verdict.policies),
    );
    policies(&mut page, verdict, None);
    timeline::write(&mut page, verdict);
    queues::by_port(&mut page, verdict);
    queues::by_switch(&mut page, verdict);
    let names = verdict.traces.join(", ");
    let header = format!("<h1>Verdict</h1>\n<p class=\"faint\">{}</p>\n", escape(&names));
    let json = serde_json::to_string_pretty(verdict)? + "\n";
    let title = format!("Verdict: {names}");
    Ok(Document { title: &title, header: &header, json: &json }.write(page))
}

/// What is transmitted with and without an oracle; `model` is what Credence transmits with a model.
pub(super) fn policies(page: &mut Body, verdict: &Verdict, model: Option<Sent>) {
    let mut all = rows(verdict);
    if let Some(sent) = model {
        all.insert(1, ("Credence, this model".to_owned(), sent));
    }
    let lqd = all.first().map(|(_, sent)| *sent).unwrap_or_default();
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let cells: Vec<Vec<Cell>> = all
        .iter()
        .map(|(name, sent)| {
            vec![
                Cell::text(name),
                Cell::Count(Some(sent.packets)),
                Cell::Ratio(share(sent.packets, lqd.packets), 5),
                Cell::Count(Some(sent.bytes)),
                Cell::Ratio(share(sent.bytes, lqd.bytes), 5),
            ]
        })
        .collect();
    let heads = ["policy", "packets sent", "of LQD's", "bytes sent", "of LQD's"];
    page.table("With and without an oracle.", &heads, &cells);
}
