//! How metrics are written.

use dropcast_fabric::{Metric, MetricUnit};

/// A metric's name in words, with its unit if that does not go without saying: `goodput, bit/s`.
pub(crate) fn metric_label(metric: &Metric) -> String {
    match metric.unit {
        MetricUnit::Count | MetricUnit::Share | MetricUnit::Ratio => metric.words.clone(),
        MetricUnit::BitsPerSecond
        | MetricUnit::GigabitsPerSecond
        | MetricUnit::Nanoseconds
        | MetricUnit::Microseconds
        | MetricUnit::Packets => format!("{}, {}", metric.words, metric.unit.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::metric_label;
    use crate::reproduce::fabric::figure_metric;

    #[test]
    fn metrics_have_names_in_words() {
        let words = [
            "incast_slowdown_p95",
            "leaf_occupancy_p9999",
            "incast_over_10_ms",
            "innocent_timeouts",
            "drops_full",
            "cubic_short_slowdown_p99",
            "small_fct_us_p99",
            "flow_2_gbps",
            "goodput_bps",
            "counted_flows_mean",
            "theta-power-tcp_incast_slowdown_p99",
        ]
        .map(|name| metric_label(&figure_metric(name)));
        let expected = [
            "p95 slowdown of incast flows",
            "p99.99 occupancy of a leaf's buffer",
            "share of incast flows of 10 ms or more",
            "timeouts of innocent short flows",
            "drops full",
            "p99 slowdown of cubic short flows",
            "p99 FCT of small flows, us",
            "throughput of long flow 2, Gbit/s",
            "goodput, bit/s",
            "flows as counted, mean",
            "p99 slowdown of theta-power-tcp incast flows",
        ];
        assert_eq!(words, expected);
    }
}
