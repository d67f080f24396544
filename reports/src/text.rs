//! A report as text: what a terminal shows, and all of it.

use crate::drift_words::{drift_sentence, outside_sentence};
use crate::numbers::{count, optional};
use crate::verdict_words::{fact_lines, rows, sent_lines, slack_sentence, text_of};
use crate::{Exporter, PageError, answer};
use dropcast_measure::verdict::Verdict;
use dropcast_measure::{ReplaySection, Report, ScoreIntervals, TraceSection};
use dropcast_replay::ReplayPolicy;

/// At most 22 lines of plain text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Text;

impl Exporter for Text {
    fn export(&self, report: &Report) -> Result<String, PageError> {
        Ok(match &report.verdict {
            Some(verdict) => answer::answer(verdict, Some(report)),
            None => answer::unreplayed(report),
        })
    }
}

/// Every fact in plain text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Details;

impl Exporter for Details {
    fn export(&self, report: &Report) -> Result<String, PageError> {
        let mut lines = heading(report);
        lines.extend(predictions(report));
        match (&report.replay, &report.replay_omitted) {
            (Some(replay), _) => lines.extend(replays(replay, report.verdict.as_ref())),
            (None, reason) => {
                let reason = reason.as_deref().unwrap_or("no reason given");
                lines.push(format!("eta and throughput: not replayed, because {reason}"));
            }
        }
        Ok(Text.export(report)? + "\n" + &text_of(&lines))
    }
}

fn heading(report: &Report) -> Vec<String> {
    let (model, labels) = (&report.model, &report.labels);
    let drops = labels.drop_share.map(|share| share * 100.0);
    let mut lines = Vec::new();
    if let Some(verdict) = &report.verdict {
        lines.extend(crate::trace_words::held_out(report));
        lines.extend(fact_lines(verdict));
        lines.push(String::new());
    }
    lines.extend([
        format!("model    {}", model.name.as_deref().unwrap_or("(in memory)")),
        format!(
            "         {} of depth {}, vote threshold {} of {}, features {}",
            trees(model.trees),
            model.depth,
            model.vote_threshold,
            model.max_score,
            model.features.join(",")
        ),
        format!("traces   {}", crate::trace_words::trace_names(report)),
        format!(
            "         {} packets, {} drops ({} %)",
            count(labels.rows),
            count(labels.drops),
            optional(drops, 4)
        ),
    ]);
    let of = |is: &dyn Fn(&TraceSection) -> bool| {
        let names: Vec<&str> = report
            .traces
            .iter()
            .filter(|trace| is(trace))
            .map(|trace| trace.name.as_str())
            .collect();
        match names.len() {
            0 => None,
            all if all == report.traces.len() => Some(String::new()),
            _ => Some(format!("of {}: ", names.join(", "))),
        }
    };
    if let Some(of) = of(&|trace| trace.in_training_data == Some(true)) {
        lines.push(format!("         {of}the model was trained on some of these rows"));
    }
    if let Some(of) = of(&|trace| trace.held_out) {
        lines.push(format!("         {of}only rows that the model's split kept for testing"));
    }
    if let Some(scaling) = crate::trace_words::scaling(report) {
        lines.push(format!("         {scaling}"));
    }
    if let Some(over_seeds) = crate::words::model::training_over_seeds(report) {
        lines.push(format!("         {over_seeds}"));
    }
    lines.push(String::new());
    if let Some(unknown) = crate::trace_words::unknown_training_rows(report) {
        lines.extend([unknown, String::new()]);
    }
    if let Some(silent) = crate::trace_words::predicts_nothing(report) {
        lines.extend([silent, String::new()]);
    }
    if let Some(drift) = drift_sentence(report) {
        lines.extend([drift, String::new()]);
    }
    if let Some(outside) = outside_sentence(report) {
        lines.extend([outside, String::new()]);
    }
    lines
}

fn trees(count: usize) -> String {
    if count == 1 { "1 tree".to_owned() } else { format!("{count} trees") }
}

fn predictions(report: &Report) -> Vec<String> {
    let prediction = &report.prediction;
    let confusion = prediction.confusion;
    let score = |name: &str, value| format!("{name:<22}{:>10}", optional(value, 4));
    let intervals = prediction.intervals.unwrap_or_default();
    let sure = |name: &str, value, interval: Option<[f64; 2]>| {
        let range = interval.map(|[low, high]| format!("   {low:.4} to {high:.4}"));
        score(name, value) + &range.unwrap_or_default()
    };
    let row = |name: &str, predicted, accepted| {
        format!("{name:<22}{:>16}{:>18}", count(predicted), count(accepted))
    };
    vec![
        format!("{:<22}{:>16}{:>18}", "", "predicted drop", "predicted accept"),
        row("dropped by LQD", confusion.tp, confusion.fn_),
        row("transmitted by LQD", confusion.fp, confusion.tn),
        String::new(),
        score("accuracy", prediction.accuracy),
        sure("precision", prediction.precision, intervals.precision),
        sure("recall", prediction.recall, intervals.recall),
        sure("F1", prediction.f1, intervals.f1),
        score("average precision", report.curve.average_precision),
        interval_sentence(report),
        String::new(),
    ]
}

/// How sure the scores are.
pub(crate) fn interval_sentence(report: &Report) -> String {
    let Some(ScoreIntervals { episodes, recall, eta_packets, .. }) = report.prediction.intervals
    else {
        return "No intervals: without a replay, episodes of drops are not known.".to_owned();
    };
    let of = match episodes {
        1 => "1 episode of drops".to_owned(),
        all => format!("{} episodes of drops", count(all)),
    };
    let eta = eta_packets.map(|[low, high]| format!(" Eta in packets is {low:.4} to {high:.4}."));
    match recall {
        None => format!("These are scores of {of}: too few for intervals."),
        Some(_) => format!("95% intervals are over {of}.{}", eta.unwrap_or_default()),
    }
}

fn replays(replay: &ReplaySection, verdict: Option<&Verdict>) -> Vec<String> {
    let (total, eta) = (&replay.total, &replay.total.eta);
    let error = |name: &str, eta, inverse| {
        format!("{name:<22}{:>10}{:>12}", optional(eta, 4), optional(inverse, 4))
    };
    let of_credence = total.policies.iter().filter(|of| of.policy == ReplayPolicy::Credence);
    let credence = of_credence.map(|of| ("Credence, this model".to_owned(), of.sent));
    let mut rows = verdict.map_or_else(Vec::new, rows);
    rows.splice(1.min(rows.len())..1.min(rows.len()), credence);
    let mut lines = vec![
        format!("{:<22}{:>10}{:>12}", "error", "eta", "1/eta"),
        error("exact, packets", eta.packets, eta.packets_inverse),
        error("exact, bytes", eta.bytes, eta.bytes_inverse),
        error("Theorem 2's formula", eta.bound, eta.bound_inverse),
        String::new(),
    ];
    lines.extend(sent_lines("transmitted", rows, eta.lqd));
    lines.push(String::new());
    lines.push(format!(
        "The replay's LQD and the trace's labels agree on {} of all packets (F1 {}).",
        optional(total.lqd_agreement.share, 4),
        optional(total.lqd_agreement.f1, 4)
    ));
    lines.push(slack_sentence(replay.slack_bytes));
    lines
}
