//! What the numbers of a run are called.

/// A metric's name in words: `incast_slowdown_p95` as `p95 slowdown of incast flows`.
pub(crate) fn metric_words(metric: &str) -> String {
    match metric {
        "goodput_bps" => return "goodput, bit/s".to_owned(),
        "uplink_gbps" => return "throughput of a leaf's uplinks, Gbit/s".to_owned(),
        "queue_packets_mean" => return "mean queue, packets".to_owned(),
        "queue_packets_most" => return "longest queue, packets".to_owned(),
        "queue_packets_p99" => return "p99 of the queue, packets".to_owned(),
        "bottleneck_gbps" => return "throughput, Gbit/s".to_owned(),
        "counted_flows_mean" => return "flows as counted, mean".to_owned(),
        "innocent_timeouts" => return "timeouts of innocent short flows".to_owned(),
        _ => {}
    }
    for (part, before, after) in
        [("_slowdown_", "slowdown of", " flows"), ("_occupancy_", "occupancy of a", "'s buffer")]
    {
        if let Some((class, statistic)) = metric.split_once(part) {
            let statistic = if statistic == "p9999" { "p99.99" } else { statistic };
            let class = class.replace('_', " ");
            return format!("{statistic} {before} {class}{after}");
        }
    }
    if let Some(flow) = metric.strip_prefix("flow_").and_then(|rest| rest.strip_suffix("_gbps")) {
        return format!("throughput of long flow {flow}, Gbit/s");
    }
    if let Some((class, statistic)) = metric.split_once("_fct_us_") {
        return format!("{statistic} FCT of {class} flows, us");
    }
    match metric.split_once("_over_") {
        Some((class, time)) => {
            format!("share of {class} flows of {} or more", time.replace('_', " "))
        }
        None => metric.replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::metric_words;

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
        ]
        .map(metric_words);
        let expected = [
            "p95 slowdown of incast flows",
            "p99.99 occupancy of a leaf's buffer",
            "share of incast flows of 10 ms or more",
            "timeouts of innocent short flows",
            "drops full",
            "p99 slowdown of cubic short flows",
            "p99 FCT of small flows, us",
            "throughput of long flow 2, Gbit/s",
        ];
        assert_eq!(words, expected);
    }
}
