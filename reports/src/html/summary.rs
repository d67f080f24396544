//! The heading, the verdict and the most important numbers.

use super::body::Body;
use super::table::Cell;
use crate::drift_words::drift_sentence;
use crate::plot::escape;
use crate::rival_words::{asked_sentences, comparison_sentence, model_sent, rival_sentences};
use crate::verdict_words::{cautions, sentence_of};
use crate::{gain_sentences, trace_sentences};
use dropcast_pipeline::report::{PolicySection, Report};
use dropcast_replay::ReplayPolicy;

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
            let sentences = rival_sentences(verdict, model_sent(report));
            let sentences = sentences.into_iter().chain(comparison_sentence(report));
            sentences
                .chain(asked_sentences(verdict))
                .for_each(|sentence| page.paragraph(&sentence));
        }
        None => page.section("verdict", "Summary"),
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
    let total = report.replay.as_ref().map(|replay| &replay.total);
    let is_credence = |policy: &&PolicySection| policy.policy == ReplayPolicy::Credence;
    let credence = total.and_then(|total| total.policies.iter().find(is_credence));
    let cards = [
        ("F1", report.prediction.f1),
        ("precision", report.prediction.precision),
        ("recall", report.prediction.recall),
        ("average precision", report.curve.average_precision),
        ("1/\u{3B7}, exact, packets", total.and_then(|total| total.eta.packets_inverse)),
        (
            "Credence's packets, share of LQD's",
            credence.and_then(|credence| credence.packets_to_lqd),
        ),
    ];
    let defined = cards.into_iter().filter(|(_, value)| value.is_some());
    page.cards(&Vec::from_iter(defined.map(|(name, value)| (name, Cell::Ratio(value, 4)))));
    if report.labels.drops == 0 {
        page.paragraph("Recall and average precision are undefined: there is no drop to predict.");
    }
}
