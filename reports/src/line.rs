//! A report in one line, for logs: of which trace and time, and `name=value` of each measure; a line more for each of several
//! switches.

use crate::advice_value::advice;
use crate::switch_totals::{SwitchLabel, SwitchTotal, switch_totals};
use crate::{Exporter, PageError};
use dropcast_measure::Report;
use dropcast_measure::measures::{Measure, ReportOrVerdict};
use dropcast_measure::verdict::{CheckResult, CheckStatus};
use dropcast_replay::Sent;

/// One line, and one for each of several switches; what is not known is `null`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line;

impl Exporter for Line {
    fn export(&self, report: &Report) -> Result<String, PageError> {
        Ok(line(ReportOrVerdict::Report(report)))
    }
}

/// The measures, what each check found and the advice in one line; then, of several switches, a line for each.
pub(crate) fn line(measured: ReportOrVerdict<'_>) -> String {
    let mut parts = traces(&measured).to_vec();
    let measures = measured.measures().into_iter();
    parts.extend(measures.map(|Measure { name, value, .. }| shown(name, value)));
    let Some(verdict) = measured.verdict() else { return parts.join(" ") + "\n" };
    let status = |result: &CheckResult| match result.status {
        CheckStatus::NotChecked => "null",
        status => status.name(),
    };
    let checks = verdict.checks.iter();
    parts.extend(checks.map(|of| format!("check_{}={}", of.check.name(), status(of))));
    let advice = advice(verdict);
    let policy = advice.policy.map_or("null".to_owned(), word);
    parts.push(format!("advice={} advice_policy={policy}", advice.decision));
    parts.push(shown("advice_alpha", advice.alpha));
    let switches = switch_totals(verdict);
    let lines = switches.iter().filter(|_| switches.len() > 1);
    let lines = lines.map(|(label, total)| switch_line(label, total) + "\n");
    [parts.join(" ") + "\n"].into_iter().chain(lines).collect()
}

fn switch_line(label: &SwitchLabel, total: &SwitchTotal) -> String {
    let SwitchTotal { counts, peak_occupancy } = total;
    let packets = |sent: Option<Sent>| sent.map(|sent| sent.packets as f64);
    let values = [
        ("arrivals", packets(Some(counts.arrived))),
        ("switch_drops", packets(Some(counts.own))),
        ("real_drops", packets(counts.real)),
        ("avoidable_drops", packets(counts.only_real)),
        ("lqd_drops", packets(Some(counts.lqd))),
        ("peak_occupancy", Some(*peak_occupancy)),
    ];
    let values = values.map(|(name, value)| shown(name, value)).join(" ");
    format!("name={} switch={} {values}", word(&label.name), label.switch_id)
}

fn shown(name: &str, value: Option<f64>) -> String {
    value.map_or_else(|| format!("{name}=null"), |value| format!("{name}={value}"))
}

/// In quotes where it is no plain word.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("{text:?}")
    }
}

/// The name of the first trace, in quotes where it is no plain word, how many traces there are, and when the first arrival
/// was.
fn traces(measured: &ReportOrVerdict<'_>) -> [String; 3] {
    let timelines = measured.verdict().map_or(&[][..], |verdict| &verdict.timelines);
    let begin = timelines.iter().min_by_key(|timeline| timeline.begin_ns);
    let begin = begin.and_then(|timeline| timeline.begin_utc.as_deref()).unwrap_or("null");
    let names = measured.verdict().map_or(&[][..], |verdict| &verdict.traces);
    let first = names.first().map_or("null".to_owned(), |name| word(name));
    [format!("trace={first}"), format!("traces={}", names.len()), format!("begin_utc={begin}")]
}
