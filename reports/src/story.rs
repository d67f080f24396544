//! A verdict in the order of its reader's questions: does anything drop, when and where; which alpha; what a rule, a
//! model and an oracle would add.

use crate::closing::closing_sentences;
use crate::drop_words::{cautions, drop_sentences, lead};
use crate::gain_sentences;
use crate::oracle_words::oracle_sentences;
use crate::rival_words::{
    alpha_sentences, asked_sentences, comparison_sentence, model_sent, model_sentences,
    rule_sentences,
};
use crate::trace_words::{held_out, rows};
use dropcast_measure::Report;
use dropcast_measure::verdict::Verdict;

/// The sentences of a verdict.
pub(crate) struct Story {
    /// Whether anything drops.
    pub(crate) lead: String,
    /// Why the numbers may be wrong.
    pub(crate) cautions: Vec<String>,
    /// What is dropped.
    pub(crate) drops: Vec<String>,
    /// What would help: an alpha, the untrained rule, a model, a perfect oracle; the sentences of each.
    pub(crate) answers: Vec<Vec<String>>,
    /// What to deploy.
    pub(crate) closing: Vec<String>,
}

const CAVEAT: &str = "These are totals of an open-loop replay. Which packets are dropped matters to flows, too: \
                      `dropcast simulate` shows that with senders that react.";

/// Of a verdict, and of the model's report that it belongs to, if there is one.
pub(crate) fn story(verdict: &Verdict, report: Option<&Report>) -> Story {
    let rows = report.and_then(rows);
    let mut drops: Vec<String> = report.and_then(held_out).into_iter().collect();
    drops.extend(drop_sentences(verdict));
    let mut notes = asked_sentences(verdict);
    notes.push(CAVEAT.to_owned());
    let answers = [
        alpha_sentences(verdict),
        rule_sentences(verdict),
        report.map_or_else(Vec::new, |report| of_model(verdict, report)),
        oracle_sentences(verdict, rows, report.is_some()),
        notes,
    ];
    Story {
        lead: lead(verdict, rows),
        cautions: cautions(verdict),
        drops,
        answers: answers.into_iter().filter(|answer| !answer.is_empty()).collect(),
        closing: closing_sentences(verdict),
    }
}

fn of_model(verdict: &Verdict, report: &Report) -> Vec<String> {
    let against = model_sent(report).map(|model| model_sentences(verdict, model));
    let gain = report.gain.iter().flat_map(gain_sentences);
    against.into_iter().flatten().chain(comparison_sentence(report)).chain(gain).collect()
}
