//! A report in Prometheus' text exposition format, version 0.0.4: for the textfile collector of its node exporter.

use crate::advice_value::advice;
use crate::switch_totals::{SwitchLabel, SwitchTotal, port_totals, switch_totals};
use crate::{Exporter, PageError};
use dropcast_measure::Report;
use dropcast_measure::measures::{Measure, ReportOrVerdict};
use dropcast_measure::verdict::{DropCounts, Verdict};
use dropcast_replay::Sent;

/// A gauge for each measure that is known; packets by switch and port. No label names a trace: a name with a date in it
/// would be a new series every day.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prometheus;

impl Exporter for Prometheus {
    fn export(&self, report: &Report) -> Result<String, PageError> {
        Ok(exposition(ReportOrVerdict::Report(report)))
    }
}

type OfSwitch = fn(&SwitchTotal) -> Option<f64>;

/// The measures that are known by switch.
const BY_SWITCH: [(&str, OfSwitch); 7] = [
    ("arrivals", |of| packets(Some(of.counts.arrived))),
    ("switch_drops", |of| packets(Some(of.counts.own))),
    ("real_drops", |of| packets(of.counts.real)),
    ("avoidable_drops", |of| packets(of.counts.only_real)),
    ("lqd_drops", |of| packets(Some(of.counts.lqd))),
    ("lqd_drop_share", |of| {
        let arrived = of.counts.arrived.packets;
        (arrived > 0).then(|| of.counts.lqd.packets as f64 / arrived as f64)
    }),
    ("peak_occupancy", |of| Some(of.peak_occupancy)),
];

/// The measures as gauges.
pub(crate) fn exposition(measured: ReportOrVerdict<'_>) -> String {
    let switches = measured.verdict().map(switch_totals).unwrap_or_default();
    let known = |Measure { name, meaning, value }: Measure| {
        let by_switch = BY_SWITCH.iter().find(|(known, _)| *known == name);
        let values: Vec<(String, f64)> = match by_switch.filter(|_| !switches.is_empty()) {
            // A sum over switches is the reader's to make.
            Some((_, of)) => {
                let values = switches.iter();
                let values =
                    values.filter_map(|(label, total)| Some((of_switch(label), of(total)?)));
                values.map(|(labels, value)| (format!("{{{labels}}}"), value)).collect()
            }
            None => value.map(|value| (String::new(), value)).into_iter().collect(),
        };
        (!values.is_empty()).then(|| gauge(name, meaning, values))
    };
    let mut text: String = measured.measures().into_iter().filter_map(known).collect();
    if let Some(verdict) = measured.verdict() {
        text.push_str(&by_port(verdict));
        text.push_str(&checks_and_advice(verdict));
    }
    text
}

fn packets(sent: Option<Sent>) -> Option<f64> {
    sent.map(|sent| sent.packets as f64)
}

fn of_switch(label: &SwitchLabel) -> String {
    format!("name=\"{}\",switch=\"{}\"", label.name, label.switch_id)
}

fn by_port(verdict: &Verdict) -> String {
    type Count = fn(&DropCounts) -> Option<Sent>;
    let gauges: [(&str, &str, Count); 3] = [
        (
            "port_switch_drops",
            "packets for a port that the switch's own policy drops in the replay",
            |counts| Some(counts.own),
        ),
        ("port_real_drops", "packets for a port that the switch reports to drop", |counts| {
            counts.real
        }),
        ("port_lqd_drops", "packets for a port that LQD drops", |counts| Some(counts.lqd)),
    ];
    let ports = port_totals(verdict);
    let families = gauges.into_iter().filter_map(|(name, meaning, count)| {
        let values = ports.iter().filter_map(|((label, port), counts)| {
            let labels = format!("{{{},port=\"{port}\"}}", of_switch(label));
            Some((labels, packets(count(counts))?))
        });
        let values: Vec<_> = values.collect();
        (!values.is_empty()).then(|| gauge(name, meaning, values))
    });
    families.collect()
}

/// What each check found, and the policy to set.
fn checks_and_advice(verdict: &Verdict) -> String {
    let checks = verdict.checks.iter().filter_map(|result| {
        let label = format!("{{check=\"{}\"}}", result.check.name());
        Some((label, f64::from(result.status.level()?)))
    });
    let meaning = "what a check found: 0 nothing, 1 a doubt, 2 that the numbers are wrong";
    let mut text = gauge("check", meaning, checks);
    let advice = advice(verdict);
    let policy = advice.policy.unwrap_or_default().replace('\\', "\\\\").replace('"', "\\\"");
    let labels = format!("{{decision=\"{}\",policy=\"{policy}\"}}", advice.decision);
    text.push_str(&gauge(
        "advice",
        "1 for what to do: set this policy, keep what the switch has",
        [(labels, 1.0)],
    ));
    if let Some(alpha) = advice.alpha {
        let meaning = "alpha of the policy to set, +Inf for Complete Sharing";
        text.push_str(&gauge("advice_alpha", meaning, [(String::new(), alpha)]));
    }
    text
}

fn gauge(name: &str, meaning: &str, values: impl IntoIterator<Item = (String, f64)>) -> String {
    let name = format!("dropcast_{name}");
    let head = format!("# HELP {name} {meaning}\n# TYPE {name} gauge\n");
    let value =
        |value: f64| if value == f64::INFINITY { "+Inf".to_owned() } else { value.to_string() };
    let lines = values.into_iter().map(|(labels, of)| format!("{name}{labels} {}\n", value(of)));
    [head].into_iter().chain(lines).collect()
}
