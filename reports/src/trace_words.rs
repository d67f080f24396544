//! Words about the traces of a report, and those that trained its model.

use crate::numbers::count;
use dropcast_data::SwitchSpecs;
use dropcast_measure::Report;
use dropcast_train::why_split;
use std::collections::BTreeSet;

/// Names in one line, at most.
const MOST_NAMED: usize = 6;

/// The traces' names in one line.
pub(crate) fn trace_names(report: &Report) -> String {
    let names: Vec<&str> = report.traces.iter().map(|trace| trace.name.as_str()).collect();
    listed(&names)
}

/// The first names, and how many more there are.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let first: Vec<&str> = names.iter().take(MOST_NAMED).map(AsRef::as_ref).collect();
    let more = match names.len() - first.len() {
        0 => String::new(),
        more => format!(" and {} more", count(more as u64)),
    };
    first.join(", ") + &more
}

/// Which switches' features are scaled to the model's buffer, if any.
pub(crate) fn scaling(report: &Report) -> Option<String> {
    let own = report.model.switch.buffer_bytes?;
    let switches = report.traces.iter().filter_map(|trace| trace.meta.switches.as_ref());
    let buffers = switches.flat_map(SwitchSpecs::all).map(|spec| spec.buffer_bytes);
    let others: BTreeSet<u32> = buffers.filter(|&bytes| bytes != own).collect();
    let others: Vec<String> = others.into_iter().map(|bytes| count(bytes.into())).collect();
    (!others.is_empty()).then(|| {
        let (others, own) = (others.join(", "), count(own.into()));
        format!("bytes of buffers of {others} are scaled to the model's {own}")
    })
}

/// A warning if the model does not say which rows it was trained on.
pub(crate) fn unknown_training_rows(report: &Report) -> Option<String> {
    let model = &report.model;
    let whence = match &model.imported {
        Some(origin) => format!("The model was imported ({}); its file", origin.format),
        None => "The model".to_owned(),
    };
    (!model.training_rows_known).then(|| {
        format!(
            "{whence} does not say which rows it was trained on. If they are among the rows scored \
             here, these scores flatter it."
        )
    })
}

/// Why a model may do worse on rows that it has not seen; none if these are such.
pub(crate) fn training_rows(report: &Report) -> Option<&'static str> {
    let has_trained = report.traces.iter().any(|trace| trace.in_training_data == Some(true));
    let is_unknown = !report.model.training_rows_known;
    (has_trained || is_unknown).then_some(match has_trained {
        true => "the forest was trained on some of these rows, so it may do worse elsewhere",
        false => "the model does not say which rows trained it: on these it may look too good",
    })
}

/// The rows that a report is of, in its sentences; none if these are whole traces.
pub(crate) fn rows(report: &Report) -> Option<&'static str> {
    let held_out = report.traces.iter().filter(|trace| trace.held_out).count();
    match held_out {
        0 => None,
        all if all == report.traces.len() => Some("the test rows"),
        _ => Some("the rows scored here"),
    }
}

/// Which rows a report is of, if not of all; how many drops the others have, and how they were
/// divided, if the model has that.
pub(crate) fn held_out(report: &Report) -> Option<String> {
    rows(report)?;
    let metrics = report.model.metrics.as_ref();
    let others = metrics.map(|metrics| {
        let validation = metrics.validation.iter();
        let drops = metrics.train.drops + validation.map(|part| part.drops).sum::<u64>();
        format!(" Of the rows that made the model, LQD drops {}.", count(drops))
    });
    let provenance = report.model.provenance.as_ref();
    let why = provenance.and_then(|made| why_split(&made.split, &made.passed_over));
    let why = why.map(|why| format!(" Rows are {why}."));
    Some(format!(
        "This is of the test rows alone, those that the model's split kept for testing.{}{} For whole traces: \
         `dropcast report --data` without --model.",
        others.unwrap_or_default(),
        why.unwrap_or_default()
    ))
}

/// That the model predicts no drop among rows, if so: then it is no oracle.
pub(crate) fn predicts_nothing(report: &Report) -> Option<String> {
    let confusion = report.prediction.confusion;
    let is_silent = confusion.tp + confusion.fp == 0 && report.labels.rows > 0;
    is_silent.then(|| {
        format!(
            "The model predicts a drop for none of these {} packets (vote threshold {} of {}): with it Credence \
             does what it does without an oracle.",
            count(report.labels.rows),
            report.model.vote_threshold,
            report.model.max_score
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_counted() {
        assert_eq!(listed(&["a", "b"]), "a, b");
        let days: Vec<String> = (1..=8).map(|day| format!("day={day}")).collect();
        assert_eq!(listed(&days), "day=1, day=2, day=3, day=4, day=5, day=6 and 2 more");
    }
}
