//! Many traces at a glance: each as a whole, and all of them by the hour.

use crate::drop_words::{better_alpha, dropped, own_name};
use crate::numbers::{self, column_width, count, percent};
use dropcast_measure::verdict::{DropCounts, HourSection, TraceDrops, Verdict};
use std::cmp::Reverse;

/// Traces that are listed, at most.
const MOST_LISTED: usize = 200;

/// The traces, those with the most drops first, with their names, and how many are left out; none if there is only one.
pub(crate) fn traces(verdict: &Verdict) -> (Vec<(&str, &TraceDrops)>, usize) {
    if verdict.traces.len() < 2 {
        return (Vec::new(), 0);
    }
    let names = verdict.traces.iter().map(String::as_str);
    let mut traces: Vec<(&str, &TraceDrops)> = names.zip(&verdict.by_trace).collect();
    traces.sort_by_key(|(_, trace)| Reverse(dropped(&trace.counts)));
    let left_out = traces.len().saturating_sub(MOST_LISTED);
    traces.truncate(MOST_LISTED);
    (traces, left_out)
}

/// The hours in which packets arrive; none if there is only one trace or hour, or times are not since 1970.
pub(crate) fn hours(verdict: &Verdict) -> &[HourSection] {
    let hours = verdict.hours.as_slice();
    let is_known = hours.first().is_some_and(|hour| hour.begin_utc.is_some());
    if is_known && hours.len() > 1 && verdict.traces.len() > 1 { hours } else { &[] }
}

/// When an hour begins, by the verdict's clock.
pub(crate) fn begin(verdict: &Verdict, hour: &HourSection) -> String {
    let (date, time) = verdict.utc_offset.date_and_time(hour.begin_ns);
    format!("{date} {}", time.get(..5).unwrap_or(&time))
}

/// Both as tables of text; nothing for one trace.
pub(crate) fn overview_lines(verdict: &Verdict) -> Vec<String> {
    let (traces, left_out) = traces(verdict);
    if traces.is_empty() {
        return Vec::new();
    }
    let rows = traces.iter().map(|(name, trace)| {
        let peak = trace.peak_occupancy.map_or(numbers::UNDEFINED.to_owned(), percent);
        ((*name).to_owned(), &trace.counts, peak)
    });
    let mut lines = vec![String::new()];
    lines.extend(table(verdict, ("trace, packets dropped by", "fullest"), rows.collect()));
    if left_out > 0 {
        lines.push(format!("{} more traces are in the JSON.", count(left_out as u64)));
    }
    let hours = hours(verdict);
    if !hours.is_empty() {
        let rows = hours.iter().map(|hour| (begin(verdict, hour), &hour.counts, String::new()));
        let length = hours.first().map_or(1, |hour| hour.hours);
        let (long, clock) = (hours_long(length), verdict.utc_offset);
        let title = format!("{long} from ({clock}), packets dropped by");
        lines.push(String::new());
        lines.extend(table(verdict, (&title, ""), rows.collect()));
    }
    lines
}

/// How long the rows are.
pub(crate) fn hours_long(hours: u64) -> String {
    if hours == 1 { "hour".to_owned() } else { format!("{} hours", count(hours)) }
}

fn table(
    verdict: &Verdict,
    (first, last): (&str, &str),
    rows: Vec<(String, &DropCounts, String)>,
) -> Vec<String> {
    let alpha = better_alpha(verdict);
    let has_real = rows.iter().any(|(_, counts, _)| counts.real.is_some());
    let own = own_name(verdict);
    let mut heads = vec![own.as_str()];
    heads.extend(alpha.as_deref());
    heads.push("LQD");
    heads.extend(has_real.then_some("the real switch"));
    heads.extend(["arrivals", last]);
    let cells = |counts: &DropCounts, last: &str| {
        let mut sent = vec![Some(counts.own)];
        sent.extend(alpha.is_some().then_some(counts.best_alpha));
        sent.push(Some(counts.lqd));
        sent.extend(has_real.then_some(counts.real));
        sent.push(Some(counts.arrived));
        let packets = sent
            .into_iter()
            .map(|sent| sent.map_or(numbers::UNDEFINED.to_owned(), |sent| count(sent.packets)));
        packets.chain([last.to_owned()]).collect::<Vec<_>>()
    };
    let wide = column_width(rows.iter().map(|(name, ..)| name.as_str()).chain([first]));
    let line = |name: &str, cells: &[String]| {
        let mut line = format!("{name:<wide$}");
        for (head, cell) in heads.iter().zip(cells) {
            let column = column_width([head]).max(13) + 2;
            line.push_str(&format!("{cell:>column$}"));
        }
        line.trim_end().to_owned()
    };
    let names: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let head = line(first, &names);
    let rows = rows.iter().map(|(name, counts, last)| line(name, &cells(counts, last)));
    std::iter::once(head).chain(rows).collect()
}
