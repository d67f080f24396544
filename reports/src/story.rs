//! A verdict in the order of its reader's questions: does anything drop, when and where; which alpha; what a rule, a
//! model and an oracle would add.

use crate::check_words::{check_sentences, failed_sentences};
use crate::closing::closing_sentences;
use crate::drop_words::{drop_sentences, lead};
use crate::gain_sentences;
use crate::oracle_words::oracle_sentences;
use crate::rival_words::{
    alpha_sentences, asked_sentences, comparison_sentence, model_sent, model_sentence,
};
use crate::trace_words::{held_out, rows};
use dropcast_measure::Report;
use dropcast_measure::verdict::Verdict;

/// The sentences of a verdict.
pub(crate) struct Story {
    /// Why the numbers are wrong; empty if they can be trusted.
    pub(crate) failed: Vec<String>,
    /// Whether anything drops.
    pub(crate) lead: String,
    /// Why the numbers may be wrong.
    pub(crate) checks: Vec<String>,
    /// What is dropped.
    pub(crate) drops: Vec<String>,
    /// What would help: an alpha, a model, a perfect oracle; the sentences of each.
    pub(crate) answers: Vec<Vec<String>>,
    /// What to deploy.
    pub(crate) closing: Vec<String>,
}

const CAVEAT: &str = "These are totals of an open-loop replay. Which packets are dropped matters to flows, too: \
                      `dropcast-lab simulate` shows that with senders that react.";

/// Of a verdict, and of the model's report that it belongs to, if there is one.
pub(crate) fn story(verdict: &Verdict, report: Option<&Report>) -> Story {
    let rows = report.and_then(rows);
    let mut drops: Vec<String> = report.and_then(held_out).into_iter().collect();
    drops.extend(drop_sentences(verdict));
    let mut notes = asked_sentences(verdict);
    notes.push(CAVEAT.to_owned());
    let model = report.map_or_else(Vec::new, |report| of_model(verdict, report));
    // A replay that is not of this switch says nothing of what would help it.
    let answers = match verdict.is_trusted() {
        false => vec![model, notes],
        true => vec![
            alpha_sentences(verdict),
            model,
            oracle_sentences(verdict, rows, report.is_some()),
            notes,
        ],
    };
    Story {
        failed: failed_sentences(verdict),
        lead: lead(verdict, rows),
        checks: check_sentences(verdict),
        drops,
        answers: answers.into_iter().filter(|answer| !answer.is_empty()).collect(),
        closing: closing(verdict),
    }
}

/// What to deploy; nothing where a check failed.
pub(crate) fn closing(verdict: &Verdict) -> Vec<String> {
    if verdict.is_trusted() { closing_sentences(verdict) } else { Vec::new() }
}

fn of_model(verdict: &Verdict, report: &Report) -> Vec<String> {
    let against = model_sent(report).and_then(|model| model_sentence(verdict, model));
    let gain = report.gain.iter().flat_map(gain_sentences);
    against.into_iter().chain(comparison_sentence(report)).chain(gain).collect()
}
