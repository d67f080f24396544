//! An experiment in a closed loop, as text: tables of policies by metrics.

use crate::closed_loop::{ExperimentSummary, MetricSummary, PolicySummary};
use dropcast_reports::numbers::ratio;

/// A column: its heading, its metric, and what one unit of the metric is shown as.
type Column = (&'static str, &'static str, f64);

/// The columns of one class of flows.
macro_rules! class_columns {
    ($class:literal) => {
        [
            ("p50", concat!($class, "_slowdown_p50"), 1.0),
            ("p95", concat!($class, "_slowdown_p95"), 1.0),
            ("p99", concat!($class, "_slowdown_p99"), 1.0),
            ("mean", concat!($class, "_slowdown_mean"), 1.0),
            (">10 ms %", concat!($class, "_over_10_ms"), 100.0),
            (">20 ms %", concat!($class, "_over_20_ms"), 100.0),
            ("timeouts", concat!($class, "_timeouts"), 1.0),
        ]
    };
}

const DROPS: [Column; 6] = [
    ("full", "drops_full", 1.0),
    ("policy", "drops_policy", 1.0),
    ("push-out", "drops_push-out", 1.0),
    ("aqm", "drops_aqm", 1.0),
    ("innocents", "innocent_drops", 1.0),
    ("% of packets", "drop_share", 100.0),
];

const SWITCHES: [Column; 5] = [
    ("goodput Gbps", "goodput_bps", 1e-9),
    ("occupancy % p50", "leaf_occupancy_p50", 100.0),
    ("p95", "leaf_occupancy_p95", 100.0),
    ("p99", "leaf_occupancy_p99", 100.0),
    ("short flows timed out %", "innocent_timed_out", 100.0),
];

/// The tables of an experiment.
pub fn experiment_text(summary: &ExperimentSummary) -> String {
    let tables: [(&str, &[Column]); 6] = [
        ("Slowdown of incast flows", &class_columns!("incast")),
        ("Slowdown of short flows (at most 100 kB)", &class_columns!("short")),
        ("Slowdown of middle flows (between 100 kB and 1 MB)", &class_columns!("middle")),
        ("Slowdown of long flows (at least 1 MB)", &class_columns!("long")),
        ("Dropped packets, by reason; innocents: at queues shorter than B/N", &DROPS),
        ("Switches, and short flows outside incasts", &SWITCHES),
    ];
    let mut text = String::new();
    for (title, columns) in tables {
        text.push_str(&format!("{title}\n{}\n", table(summary, columns)));
    }
    text.push_str(&legend(summary));
    text
}

fn table(summary: &ExperimentSummary, columns: &[Column]) -> String {
    let heading = std::iter::once(String::new())
        .chain(columns.iter().map(|(heading, _, _)| (*heading).to_owned()));
    let mut rows: Vec<Vec<String>> = vec![heading.collect()];
    for policy in &summary.policies {
        let cells = columns.iter().map(|(_, metric, unit)| cell(policy, metric, *unit));
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
fn significant(value: f64) -> String {
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
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
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
    let can_tell = |policy: &PolicySummary| {
        policy.metrics.values().any(|metric| metric.is_beyond_noise.is_some())
    };
    if summary.policies.iter().any(can_tell) {
        let name = &first.policy;
        text.push_str(&format!(
            "\n* differs from {name} beyond the 95% interval of the difference, run by run.\n"
        ));
    } else if summary.policies.len() > 1 {
        text.push_str(" Too few runs to tell differences from noise.\n");
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
