//! The heading, the verdict and the most important numbers.

use super::body::Body;
use super::table::Cell;
use crate::answer;
use crate::check_words::{check_sentences, failed_sentences};
use crate::drift_words::{drift_sentence, outside_sentence};
use crate::drop_words::drop_sentences;
use crate::plot::escape;
use crate::rival_words::asked_sentences;
use dropcast_measure::Report;
use dropcast_measure::verdict::{CheckResult, Verdict};

/// The heading.
pub(super) fn header(report: &Report) -> String {
    let labels = &report.labels;
    format!(
        "<h1>Drop prediction report</h1>\n<p class=\"faint\">{} on {}: {} packets, {} of \
         them dropped by push-out LQD.</p>\n",
        escape(report.model.name.as_deref().unwrap_or("A model")),
        escape(&crate::trace_words::trace_names(report)),
        Cell::Count(Some(labels.rows)).html(),
        Cell::Count(Some(labels.drops)).html()
    )
}

pub(super) fn write(page: &mut Body, report: &Report) {
    match &report.verdict {
        Some(verdict) => story(page, verdict, Some(report)),
        None => {
            page.section("verdict", "Summary");
            page.cards(&cards(report));
        }
    }
    if report.gain.is_none() {
        page.paragraph(
            "What the oracle gains over a switch without one is not known: the arrivals were not \
             replayed.",
        );
    }
    if let Some(drift) = drift_sentence(report) {
        page.paragraph(&drift);
    }
    if let Some(outside) = outside_sentence(report) {
        page.paragraph(&outside);
    }
    if report.traces.iter().any(|trace| trace.in_training_data == Some(true)) {
        page.warning(
            "The model was trained on a file that is scored here. On rows it has not seen, expect \
             lower scores.",
        );
    }
    if let (Some(held_out), None) = (crate::trace_words::held_out(report), &report.verdict) {
        page.paragraph(&held_out);
    }
    if let Some(silent) = crate::trace_words::predicts_nothing(report) {
        page.warning(&silent);
    }
    if let Some(unknown) = crate::trace_words::unknown_training_rows(report) {
        page.warning(&unknown);
    }
    if report.labels.drops == 0 {
        page.paragraph("Recall and average precision are undefined: there is no drop to predict.");
    }
}

/// What drops and what would help, with the numbers of a model's report.
pub(super) fn story(page: &mut Body, verdict: &Verdict, report: Option<&Report>) {
    let (advice, is_trusted) = (answer::advice(verdict), verdict.is_trusted());
    page.section("verdict", "What is dropped here, and what would help?");
    failed_sentences(verdict).iter().for_each(|sentence| page.warning(sentence));
    if is_trusted {
        page.lead(&advice[0]);
        advice[1..].iter().for_each(|why| page.paragraph(why));
    }
    page.paragraph(&answer::measured(verdict, report));
    check_sentences(verdict).iter().for_each(|sentence| match sentence.starts_with("Beware") {
        true => page.warning(sentence),
        false => page.paragraph(sentence),
    });
    if is_trusted {
        let losses = answer::losses(verdict);
        let rows = losses.rows.iter().map(|row| row.cells.iter().map(Cell::text).collect());
        let heads: Vec<&str> = losses.heads.iter().map(String::as_str).collect();
        page.table("What policies lose.", &heads, &rows.collect::<Vec<Vec<Cell>>>());
    }
    if let Some(report) = report {
        page.cards(&cards(report));
    }
    let row = |result: &CheckResult| {
        let (check, status) = (result.check.name(), result.status.name());
        let remedy = result.remedy.as_deref().unwrap_or("");
        Vec::from([check, status, &result.evidence, remedy].map(Cell::text))
    };
    page.fold("What was checked");
    let rows: Vec<_> = verdict.checks.iter().map(row).collect();
    page.table("What was checked", &["check", "found", "evidence", "what to do"], &rows);
    page.end_fold();
    for (label, text, _) in answer::facts(verdict, report) {
        page.paragraph(&format!("{label}: {text}."));
    }
    let held_out = report.and_then(crate::trace_words::held_out).into_iter().collect();
    let paragraphs = [held_out, drop_sentences(verdict), asked_sentences(verdict)];
    for sentences in paragraphs.iter().filter(|sentences| !sentences.is_empty()) {
        page.paragraph(&sentences.join(" "));
    }
}

/// The most important numbers, those of bytes first; what is not defined has none.
fn cards(report: &Report) -> Vec<(&'static str, Cell)> {
    let mut cards = Vec::new();
    if let Some(gain) = &report.gain {
        if let Some(best) = &gain.best_alpha {
            let alpha = best.alpha.map_or("\u{221E}".to_owned(), |alpha| format!("{alpha}"));
            cards.push(("best alpha", Cell::Text(alpha)));
            cards.push(("bytes, this model over that alpha", signed(best.gain.bytes)));
        }
        let more = gain.complete_sharing.bytes;
        cards.push(("bytes, this model over Complete Sharing", signed(more)));
    }
    let total = report.replay.as_ref().map(|replay| &replay.total);
    let ratios = [
        ("1/\u{3B7}, exact, packets", total.and_then(|total| total.eta.packets_inverse)),
        ("precision", report.prediction.precision),
        ("recall", report.prediction.recall),
    ];
    let defined = ratios.into_iter().filter(|(_, value)| value.is_some());
    cards.extend(defined.map(|(name, value)| (name, Cell::Ratio(value, 4))));
    cards
}

/// A number with its sign.
fn signed(bytes: i64) -> Cell {
    let sign = match bytes {
        0 => "",
        1.. => "+",
        _ => "\u{2212}",
    };
    Cell::Text(format!("{sign}{}", crate::numbers::count(bytes.unsigned_abs())))
}
