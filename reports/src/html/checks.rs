//! What was checked, and what makes a report doubtful.

use super::body::Body;
use super::table::Cell;
use crate::drift_words::{drift_sentence, outside_sentence};
use crate::rival_words::asked_sentences;
use crate::trace_words::{held_out, unknown_training_rows};
use dropcast_measure::Report;
use dropcast_measure::verdict::{CheckResult, Verdict};

pub(super) fn write(page: &mut Body, verdict: Option<&Verdict>, report: Option<&Report>) {
    page.folded_section("checks", "Checks");
    if let Some(verdict) = verdict {
        let row = |result: &CheckResult| {
            let (check, status) = (result.check.name(), result.status.name());
            let remedy = result.remedy.as_deref().unwrap_or("");
            Vec::from([check, status, &result.evidence, remedy].map(Cell::text))
        };
        let rows: Vec<_> = verdict.checks.iter().map(row).collect();
        page.table("What was checked", &["check", "found", "evidence", "what to do"], &rows);
        asked_sentences(verdict).iter().for_each(|sentence| page.paragraph(sentence));
    }
    let Some(report) = report else { return };
    let sentences = [
        held_out(report),
        unknown_training_rows(report),
        drift_sentence(report),
        outside_sentence(report),
    ];
    sentences.iter().flatten().for_each(|sentence| page.paragraph(sentence));
}
