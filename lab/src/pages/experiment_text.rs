//! An experiment in a closed loop, as text: tables of policies by metrics.

use crate::closed_loop::{ExperimentSummary, MetricSummary, PolicySummary};
use dropcast_fabric::{Metric, MetricUnit};
use dropcast_reports::numbers::{column_width, ratio};

/// A column: its heading, and its metric.
type Column = (&'static str, &'static str);

/// The columns of one class of flows; names follow that of the class.
const OF_CLASS: [Column; 7] = [
    ("p50", "slowdown_p50"),
    ("p95", "slowdown_p95"),
    ("p99", "slowdown_p99"),
    ("mean", "slowdown_mean"),
    (">10 ms %", "over_10_ms"),
    (">20 ms %", "over_20_ms"),
    ("timeouts", "timeouts"),
];

/// What a bucket of sizes has beside these.
const OF_BUCKET: [Column; 4] =
    [("p50", "fct_ns_p50"), ("p95", "fct_ns_p95"), ("p99", "fct_ns_p99"), ("mean", "fct_ns_mean")];

const DROPS: [Column; 6] = [
    ("full", "drops_full"),
    ("policy", "drops_policy"),
    ("push-out", "drops_push-out"),
    ("aqm", "drops_aqm"),
    ("innocents", "innocent_drops"),
    ("% of packets", "drop_share"),
];

const SWITCHES: [Column; 6] = [
    ("goodput Gbps", "goodput_bps"),
    ("while flows start", "goodput_while_starting_bps"),
    ("occupancy % p50", "leaf_occupancy_p50"),
    ("p95", "leaf_occupancy_p95"),
    ("p99", "leaf_occupancy_p99"),
    ("short flows timed out %", "innocent_timed_out"),
];

/// The tables of an experiment.
pub fn experiment_text(summary: &ExperimentSummary) -> String {
    let of = |class: &str, columns: &[Column]| -> Vec<(&str, String)> {
        columns.iter().map(|(heading, metric)| (*heading, format!("{class}_{metric}"))).collect()
    };
    let whole = |columns: &[Column]| -> Vec<(&str, String)> {
        columns.iter().map(|(heading, metric)| (*heading, (*metric).to_owned())).collect()
    };
    let mut tables: Vec<(String, Vec<(&str, String)>)> = [
        ("Slowdown of incast flows", "incast"),
        ("Slowdown of short flows (at most 100 kB)", "short"),
        ("Slowdown of middle flows (between 100 kB and 1 MB)", "middle"),
        ("Slowdown of long flows (at least 1 MB)", "long"),
    ]
    .map(|(title, class)| (title.to_owned(), of(class, &OF_CLASS)))
    .into();
    // Checked before the first run.
    let buckets = summary.experiment.size_buckets().unwrap_or_default();
    for bucket in buckets.all() {
        let (name, words) = (bucket.name(), bucket.words());
        tables.push((format!("Slowdown of {words}"), of(&name, &OF_CLASS)));
        tables.push((format!("Completion time of {words}, us"), of(&name, &OF_BUCKET)));
    }
    tables.extend([
        (
            "Dropped packets, by reason; innocents: at queues shorter than B/N".to_owned(),
            whole(&DROPS),
        ),
        ("Switches, and short flows outside incasts".to_owned(), whole(&SWITCHES)),
    ]);
    let metrics: Vec<Metric> =
        Metric::all().into_iter().chain(Metric::of_buckets(&buckets)).collect();
    let mut text = String::new();
    for (title, columns) in tables {
        text.push_str(&format!("{title}\n{}\n", table(summary, &columns, &metrics)));
    }
    text.push_str(&legend(summary));
    text
}

/// What one unit of a metric is shown as: shares in percent, rates in Gbit/s, times in microseconds.
fn shown(unit: MetricUnit) -> f64 {
    match unit {
        MetricUnit::Share => 100.0,
        MetricUnit::BitsPerSecond => 1e-9,
        MetricUnit::Nanoseconds => 1e-3,
        MetricUnit::Count
        | MetricUnit::Ratio
        | MetricUnit::GigabitsPerSecond
        | MetricUnit::Microseconds
        | MetricUnit::Packets => 1.0,
    }
}

fn table(summary: &ExperimentSummary, columns: &[(&str, String)], metrics: &[Metric]) -> String {
    let heading = std::iter::once(String::new())
        .chain(columns.iter().map(|(heading, _)| (*heading).to_owned()));
    let units: Vec<f64> = columns
        .iter()
        .map(|(_, name)| metrics.iter().find(|metric| metric.name == *name))
        .map(|metric| metric.map_or(1.0, |metric| shown(metric.unit)))
        .collect();
    let mut rows: Vec<Vec<String>> = vec![heading.collect()];
    for policy in &summary.policies {
        let cells = columns.iter().zip(&units).map(|((_, name), unit)| cell(policy, name, *unit));
        rows.push(std::iter::once(policy.policy.clone()).chain(cells).collect());
    }
    aligned(&rows)
}

/// The mean, its interval, and a mark.
fn cell(policy: &PolicySummary, metric: &str, unit: f64) -> String {
    let Some(MetricSummary { value: Some(value), is_beyond_noise, .. }) =
        policy.metrics.get(metric)
    else {
        return "-".to_owned();
    };
    let mut text = significant(value.mean * unit);
    if let Some((low, high)) = value.bounds.filter(|(low, high)| low < high) {
        text.push_str(&format!(" {}..{}", significant(low * unit), significant(high * unit)));
    }
    text.push(if *is_beyond_noise == Some(true) { '*' } else { ' ' });
    text
}

/// Three digits, or the whole part if that has more.
pub(super) fn significant(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        size if size < 10.0 => 2,
        size if size < 100.0 => 1,
        _ => 0,
    };
    ratio(value, decimals)
}

/// Rows of cells: the first column begins where it begins, the others end together.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| column_width(rows.iter().filter_map(|row| row.get(column)));
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            match at {
                0 => line.push_str(&format!("  {cell:<width$}")),
                _ => line.push_str(&format!("  {cell:>width$}")),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn legend(summary: &ExperimentSummary) -> String {
    let runs = summary.experiment.runs;
    let Some(first) = summary.policies.first() else { return String::new() };
    if runs == 1 {
        return "One run: differences may be noise; ask for several (--runs 10).\n".to_owned();
    }
    let mut text = format!("Means over {runs} runs, with 95% bootstrap intervals.");
    let has_interval = |policy: &PolicySummary| {
        policy.metrics.values().any(|metric| metric.is_beyond_noise.is_some())
    };
    if summary.policies.iter().any(has_interval) {
        let name = &first.policy;
        text.push_str(&format!(
            "\n* differs from {name} beyond the 95% interval of the difference, run by run.\n"
        ));
    } else if summary.policies.len() > 1 {
        text.push_str(" Too few runs to separate differences from noise.\n");
    } else {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let of = [0.0, 0.123, 1.234, 12.34, 123.4, 12_345.6].map(significant);
        assert_eq!(of, ["0", "0.12", "1.23", "12.3", "123", "12,346"]);
    }

    #[test]
    fn columns_are_aligned() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["", "p50", "p95"]), row(["lqd", "9.30", "1,540"])];
        assert_eq!(aligned(&rows), "        p50    p95\n  lqd  9.30  1,540\n");
    }
}
