//! The page of a verdict: what an oracle could be worth on a trace.

use super::body::Body;
use super::document::Document;
use super::table::Cell;
use crate::plot::escape;
use crate::verdict_words::rows;
use crate::{ExportError, figures, trace_sentences, verdict_sentence};
use dropcast_pipeline::verdict::Verdict;

/// One HTML file with the verdict, what every policy transmits, and the JSON of all numbers.
///
/// # Errors
/// See [`ExportError`]; none is known to happen.
pub fn verdict_page(verdict: &Verdict) -> Result<String, ExportError> {
    let mut page = Body::default();
    page.section("verdict", "Is an oracle worth it here?");
    page.paragraph(&verdict_sentence(verdict));
    trace_sentences(verdict).iter().for_each(|sentence| page.paragraph(sentence));
    page.section("policies", "Throughput by policy");
    page.figure(
        &figures::throughput(&verdict.policies),
        "The same arrivals through every policy without an oracle. A bar is what the policy loses \
         against push-out LQD: no bar is as good as LQD, a bar to the left is better.",
        &super::throughput::data(&verdict.policies),
    );
    let all = rows(verdict);
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
    let names = verdict.traces.join(", ");
    let header = format!("<h1>Verdict</h1>\n<p class=\"faint\">{}</p>\n", escape(&names));
    let json = serde_json::to_string_pretty(verdict)? + "\n";
    let title = format!("Verdict: {names}");
    Ok(Document { title: &title, header: &header, json: &json }.write(page))
}
