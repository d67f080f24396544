//! A report in Prometheus' text exposition format, version 0.0.4: for the textfile collector of its node exporter.

use crate::{Exporter, PageError};
use dropcast_measure::Report;
use dropcast_measure::measures::{Measure, Measured};
use dropcast_measure::verdict::{SwitchDrops, Verdict};
use std::collections::BTreeMap;

/// A gauge for each measure that is known, and drops by switch. No label names a trace: a name with a date in it
/// would be a new series every day.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prometheus;

impl Exporter for Prometheus {
    fn export(&self, report: &Report) -> Result<String, PageError> {
        Ok(exposition(Measured::Report(report)))
    }
}

/// The measures as gauges.
pub(crate) fn exposition(measured: Measured<'_>) -> String {
    let known = |Measure { name, meaning, value }: Measure| {
        let value = value?;
        Some(gauge(name, meaning, [(String::new(), value)]))
    };
    let mut text: String = measured.measures().into_iter().filter_map(known).collect();
    if let Some(verdict) = measured.verdict() {
        text.push_str(&by_switch(verdict));
    }
    text
}

fn by_switch(verdict: &Verdict) -> String {
    let of = |count: fn(&SwitchDrops) -> Option<u64>| {
        let mut sums: BTreeMap<u16, u64> = BTreeMap::new();
        for switch in &verdict.switches {
            if let Some(packets) = count(switch) {
                *sums.entry(switch.switch_id).or_default() += packets;
            }
        }
        let label = |(switch, packets)| (format!("{{switch=\"{switch}\"}}"), packets as f64);
        sums.into_iter().map(label).collect::<Vec<_>>()
    };
    let gauges = [
        (
            "switch_arrivals",
            "packets that arrive at a switch",
            of(|of| Some(of.counts.arrived.packets)),
        ),
        (
            "switch_drops",
            "packets that LQD drops at a switch",
            of(|of| Some(of.counts.lqd.packets)),
        ),
        (
            "switch_own_drops",
            "packets that a switch's own policy drops",
            of(|of| Some(of.counts.own.packets)),
        ),
        (
            "switch_real_drops",
            "packets that a real switch drops",
            of(|of| of.counts.real.map(|real| real.packets)),
        ),
    ];
    let told = gauges.into_iter().filter(|(.., values)| !values.is_empty());
    told.map(|(name, meaning, values)| gauge(name, meaning, values)).collect()
}

fn gauge(name: &str, meaning: &str, values: impl IntoIterator<Item = (String, f64)>) -> String {
    let name = format!("dropcast_{name}");
    let head = format!("# HELP {name} {meaning}\n# TYPE {name} gauge\n");
    let lines = values.into_iter().map(|(labels, value)| format!("{name}{labels} {value}\n"));
    [head].into_iter().chain(lines).collect()
}
