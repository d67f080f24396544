//! The heading, the verdict and the most important numbers.

use super::body::Body;
use super::table::Cell;
use crate::drift_words::drift_sentence;
use crate::plot::escape;
use crate::rival_words::{asked_sentences, comparison_sentence, model_sent, rival_sentences};
use crate::verdict_words::{cautions, sentence_of};
use crate::{gain_sentences, trace_sentences};
use dropcast_pipeline::report::Report;

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
        Some(verdict) => {
            page.section("verdict", "Is the oracle worth it here?");
            page.lead(&sentence_of(verdict, crate::trace_words::rows(report)));
            cautions(verdict).iter().for_each(|caution| page.warning(caution));
            page.cards(&cards(report));
            let sentences = rival_sentences(verdict, model_sent(report));
            let sentences = sentences.into_iter().chain(comparison_sentence(report));
            sentences
                .chain(asked_sentences(verdict))
                .for_each(|sentence| page.paragraph(&sentence));
        }
        None => {
            page.section("verdict", "Summary");
            page.cards(&cards(report));
        }
    }
    match &report.gain {
        Some(gain) => gain_sentences(gain).iter().for_each(|sentence| page.paragraph(sentence)),
        None => page.paragraph(
            "What the oracle gains over a switch without one is not known: the arrivals were not \
             replayed.",
        ),
    }
    if let Some(drift) = drift_sentence(report) {
        page.paragraph(&drift);
    }
    if report.traces.iter().any(|trace| trace.in_training_data == Some(true)) {
        page.warning(
            "The model was trained on a file that is scored here. On rows it has not seen, expect \
             lower scores.",
        );
    }
    if let Some(held_out) = crate::trace_words::held_out(report) {
        page.paragraph(&held_out);
    }
    if let Some(silent) = crate::trace_words::predicts_nothing(report) {
        page.warning(&silent);
    }
    if let Some(unknown) = crate::trace_words::unknown_training_rows(report) {
        page.warning(&unknown);
    }
    if let Some(verdict) = &report.verdict {
        trace_sentences(verdict).iter().for_each(|sentence| page.paragraph(sentence));
    }
    if report.labels.drops == 0 {
        page.paragraph("Recall and average precision are undefined: there is no drop to predict.");
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
