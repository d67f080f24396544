//! Where and when packets are dropped, what the forest finds, how far to trust all of it, and what was assumed.

use crate::drift_words::outside_sentence;
use crate::drop_words::dropped;
use crate::numbers::{count, percent, time_unit};
use crate::rival_words::asked_sentences;
use crate::trace_words::training_rows;
use crate::verdict_figures::{port_name, switch_name};
use dropcast_measure::Report;
use dropcast_measure::verdict::{CheckResult, CheckStatus, EpisodeSection, Verdict};
use dropcast_pipeline::wall_clock::is_since_1970;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Ports and episodes that are listed, at most.
const MOST: usize = 3;

/// A label, the text, and the lines that it may take.
type Fact = (&'static str, String, usize);

/// All that is known; of the model, too, if there is a report of one.
pub(crate) fn facts(verdict: &Verdict, report: Option<&Report>) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    facts.extend(places(verdict).map(|text| ("Where", text, 1)));
    facts.extend(times(verdict).map(|text| ("When", text, 1)));
    facts.extend(report.map(|report| ("Forest", forest(report), 1)));
    facts.push(("Trust", trust(verdict, report), 2));
    facts.push(("Assumed", assumed(verdict), 1));
    facts
}

/// What is known of a model whose report replays nothing.
pub(crate) fn of_model(report: &Report) -> Vec<Fact> {
    let mut facts = vec![("Forest", forest(report), 1)];
    let doubts = doubts_of_model(report);
    if !doubts.is_empty() {
        facts.push(("Trust", doubts.join("; "), 2));
    }
    facts
}

/// The ports with drops, the worst first: their names, and the packets that are dropped there.
pub(crate) fn worst_ports(verdict: &Verdict) -> Vec<(String, u64)> {
    let mut ports: BTreeMap<(usize, u16, u16), u64> = BTreeMap::new();
    for queue in &verdict.queues {
        let [drops, _] = dropped(&queue.counts);
        *ports.entry((queue.trace, queue.switch_id, queue.port)).or_default() += drops;
    }
    let mut ports: Vec<_> = ports.into_iter().filter(|(_, drops)| *drops > 0).collect();
    ports.sort_by_key(|(_, drops)| Reverse(*drops));
    let named = ports.into_iter().map(|((trace, switch_id, port), drops)| {
        let switch = match verdict.switches.len() {
            0 | 1 => String::new(),
            _ => format!("{} ", name_of_switch(verdict, trace, switch_id)),
        };
        (format!("{switch}{}", port_name(verdict, (trace, switch_id), port)), drops)
    });
    named.collect()
}

fn places(verdict: &Verdict) -> Option<String> {
    let ports = worst_ports(verdict);
    let shown = ports.iter().take(MOST).map(|(name, drops)| format!("{} at {name}", count(*drops)));
    let shown: Vec<String> = shown.collect();
    let all: u64 = ports.iter().map(|(_, drops)| drops).sum();
    let real = if verdict.counts.real.is_some() { "real " } else { "" };
    let left_out = if verdict.queues_left_out > 0 { " at least" } else { "" };
    (all > 0).then(|| format!("of{left_out} {} {real}drops {}", count(all), shown.join(", ")))
}

fn name_of_switch(verdict: &Verdict, trace: usize, switch_id: u16) -> String {
    let mut switches = verdict.switches.iter();
    let of = switches.find(|of| (of.trace, of.switch_id) == (trace, switch_id));
    of.and_then(|of| of.name.clone()).unwrap_or_else(|| switch_name(verdict, trace, switch_id))
}

/// The worst episodes, in one unit of time.
fn times(verdict: &Verdict) -> Option<String> {
    let drops = |episode: &&EpisodeSection| dropped(&episode.counts)[0];
    let mut worst: Vec<&EpisodeSection> =
        verdict.episodes.iter().filter(|episode| drops(episode) > 0).collect();
    worst.sort_by_key(|episode| Reverse(drops(episode)));
    worst.truncate(MOST);
    let first = worst.first()?;
    let begin = |episode: &EpisodeSection| {
        verdict.timelines.get(episode.trace).map_or(0, |timeline| timeline.begin_ns)
    };
    if is_since_1970(first.first_ns) {
        let clock = verdict.utc_offset;
        let mut last = String::new();
        let at = |episode: &&EpisodeSection| {
            let (date, time) = clock.date_and_time(episode.first_ns);
            let day = if date == last { String::new() } else { format!("{date} ") };
            last = date;
            format!("{day}{} ({})", time.get(..12).unwrap_or(&time), count(drops(episode)))
        };
        let times: Vec<String> = worst.iter().map(at).collect();
        return Some(format!("most at {} ({clock})", times.join(", ")));
    }
    let after = |episode: &EpisodeSection| episode.first_ns.saturating_sub(begin(episode));
    let longest = worst.iter().map(|episode| after(episode)).max().unwrap_or(0);
    let unit = time_unit(longest);
    let at = |episode: &&EpisodeSection| {
        format!("{:.2} {} ({})", after(episode) as f64 / unit.ns, unit.name, count(drops(episode)))
    };
    let times: Vec<String> = worst.iter().map(at).collect();
    Some(format!("most at {} after the first arrival", times.join(", ")))
}

/// What the model finds of LQD's drops.
fn forest(report: &Report) -> String {
    let prediction = &report.prediction;
    let confusion = prediction.confusion;
    if confusion.tp + confusion.fp == 0 && report.labels.rows > 0 {
        let drops = count(confusion.fn_);
        return format!(
            "predicts none of LQD's {drops} drops: Credence does what it does without an oracle"
        );
    }
    let share = |value: Option<f64>| value.map_or_else(|| "undefined".to_owned(), percent);
    let comparison = report.one_comparison.as_ref().map(|one| match one.does_as_well {
        true => "; one comparison does as well",
        false => "; one comparison does worse",
    });
    format!(
        "recall {} ({} of LQD's {} drops), precision {}{}",
        share(prediction.recall),
        count(confusion.tp),
        count(confusion.tp + confusion.fn_),
        share(prediction.precision),
        comparison.unwrap_or_default()
    )
}

/// What makes the numbers doubtful, or that nothing does.
fn trust(verdict: &Verdict, report: Option<&Report>) -> String {
    let of = |status: CheckStatus| verdict.checks.iter().filter(move |of| of.status == status);
    let mut doubts = report.map_or_else(Vec::new, doubts_of_model);
    let doubtful = |of: &CheckResult| format!("doubtful ({}): {}", of.check.name(), of.evidence);
    doubts.extend(asked_sentences(verdict));
    doubts.extend(of(CheckStatus::Doubtful).map(doubtful));
    if !doubts.is_empty() {
        return doubts.join("; ");
    }
    let names = |status| of(status).map(|of| of.check.name()).collect::<Vec<_>>().join(", ");
    match (names(CheckStatus::Failed), names(CheckStatus::Ok), names(CheckStatus::NotChecked)) {
        (failed, ok, _) if !failed.is_empty() => format!("failed: {failed}; ok: {ok}"),
        (_, ok, unknown) if unknown.is_empty() => format!("all checks are ok: {ok}"),
        (_, ok, unknown) if ok.is_empty() => format!("not checked: {unknown}"),
        (_, ok, unknown) => format!("ok: {ok}; this input cannot say: {unknown}"),
    }
}

fn doubts_of_model(report: &Report) -> Vec<String> {
    let unlike =
        outside_sentence(report).map(|_| "these packets are unlike those that trained the forest");
    training_rows(report).into_iter().chain(unlike).map(str::to_owned).collect()
}

fn assumed(verdict: &Verdict) -> String {
    let senders = "senders do not react to other drops";
    match verdict.alpha_is_assumed {
        true => {
            format!("{senders}; no dt_alpha is known: Complete Sharing")
        }
        false => senders.to_owned(),
    }
}
