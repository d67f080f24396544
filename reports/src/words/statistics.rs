//! Statistics of a trace's features, as a table.

use dropcast_pipeline::inspection::statistics::Statistics;

/// A table of them.
pub fn statistics_table(statistics: &Statistics) -> String {
    let Statistics { rows, drops, features } = statistics;
    let mut text = format!(
        "drops: {drops} of {rows}\n{:20} {:9} {:>12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n",
        "feature", "LQD", "mean", "min", "1%", "25%", "50%", "75%", "99%", "max"
    );
    for feature in features {
        let labels = [("accepted", &feature.accepted), ("dropped", &feature.dropped)];
        for (label, values) in labels.into_iter().filter_map(|(l, v)| Some((l, v.as_ref()?))) {
            let quantiles = [
                values.min, values.p01, values.p25, values.p50, values.p75, values.p99, values.max,
            ];
            let quantiles = quantiles.map(|value| format!(" {value:>10}")).concat();
            let mean = values.mean;
            text.push_str(&format!("{:20} {label:9} {mean:>12.1}{quantiles}\n", feature.name));
        }
    }
    text
}
