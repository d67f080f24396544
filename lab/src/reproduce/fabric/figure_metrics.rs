//! What the numbers of figures are: the metrics of a run, the same of one transport's flows, and those of the figures alone.

use Better::{Less, More, Neither};
use MetricUnit::{Count, GigabitsPerSecond, Microseconds, Packets, Share};
use dropcast_fabric::{Better, Metric, MetricUnit, Transport};

/// Name, words, unit and direction of what only figures have.
const OF_FIGURES: [(&str, &str, MetricUnit, Better); 27] = [
    ("uplink_gbps", "throughput of a leaf's uplinks", GigabitsPerSecond, More),
    ("bottleneck_gbps", "throughput", GigabitsPerSecond, More),
    ("flow_1_gbps", "throughput of long flow 1", GigabitsPerSecond, Neither),
    ("flow_2_gbps", "throughput of long flow 2", GigabitsPerSecond, Neither),
    ("flow_3_gbps", "throughput of long flow 3", GigabitsPerSecond, Neither),
    ("queue_packets_mean", "mean queue", Packets, Less),
    ("queue_packets_p99", "p99 of the queue", Packets, Less),
    ("queue_packets_most", "longest queue", Packets, Less),
    ("counted_flows_mean", "flows as counted, mean", Count, Neither),
    ("small_fct_us_mean", "mean FCT of small flows", Microseconds, Less),
    ("small_fct_us_p99", "p99 FCT of small flows", Microseconds, Less),
    ("large_fct_us_mean", "mean FCT of large flows", Microseconds, Less),
    ("large_fct_us_p99", "p99 FCT of large flows", Microseconds, Less),
    ("all_fct_us_mean", "mean FCT of all flows", Microseconds, Less),
    ("all_fct_us_p99", "p99 FCT of all flows", Microseconds, Less),
    ("bursts_overlapping", "bursts during one at another port of the leaf", Share, Neither),
    ("bursts_of_a_leaf", "bursts of a leaf", Count, Neither),
    ("burst_limit_most", "largest limit of a burst, of the buffer", Share, Neither),
    ("learned_limit_most", "largest limit that was learned, of the buffer", Share, Neither),
    ("burst_limit_mean", "mean limit of a burst, of the buffer", Share, Neither),
    ("burst_peak_most", "longest queue of a burst, of the buffer", Share, Neither),
    ("long_flow_gbps_least", "throughput of the long flow, its worst ms", GigabitsPerSecond, More),
    ("long_flow_gbps_mean", "throughput of the long flow", GigabitsPerSecond, More),
    ("known_bursts_most", "known bursts, none forgotten", Count, Less),
    ("known_bursts_10_ms_most", "known bursts, forgotten after 10 ms", Count, Less),
    ("limit_error_most", "largest error of a limit", Share, Less),
    ("limit_error_mean", "mean error of a limit", Share, Less),
];

/// What a number of a figure is.
///
/// # Panics
/// If no table has it: figures name their numbers themselves.
pub(crate) fn figure_metric(name: &str) -> Metric {
    let of_figures = OF_FIGURES.iter().map(|&(own, words, unit, better)| Metric {
        name: own.to_owned(),
        words: words.to_owned(),
        unit,
        better,
        subject: own.to_owned(),
    });
    let of_transports = Transport::ALL.iter().copied().flat_map(Metric::of_transport);
    let all = Metric::all().into_iter().chain(of_figures).chain(of_transports);
    all.into_iter()
        .find(|metric| metric.name == name)
        .unwrap_or_else(|| panic!("{name} is a number of a figure, and in no table of metrics"))
}
