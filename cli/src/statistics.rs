//! What values the features of a labelled trace have, for `dropcast inspect --statistics`.

use crate::failure::UserError;
use std::path::Path;

#[cfg(feature = "polars")]
pub(crate) use dropcast_interop::frame::Statistics;

/// Without polars there are none.
#[cfg(not(feature = "polars"))]
#[derive(Debug, serde::Serialize)]
pub(crate) enum Statistics {}

/// Counts the values of `features` in the Parquet file at `path`.
#[cfg(feature = "polars")]
pub(crate) fn of(path: &Path, features: &[String]) -> anyhow::Result<Statistics> {
    use dropcast_interop::frame::{scan_traces, statistics};
    let counted = scan_traces(&[path]).and_then(|rows| statistics(&rows, features));
    Ok(counted.map_err(|error| UserError(format!("{}: {error}", path.display())))?)
}

/// Says how to build what it needs.
#[cfg(not(feature = "polars"))]
pub(crate) fn of(_: &Path, _: &[String]) -> anyhow::Result<Statistics> {
    let why = "this dropcast was built without polars, which --statistics needs; build it with `cargo build --release --features polars`";
    Err(UserError(why.to_owned()).into())
}

/// A table of them.
#[cfg(feature = "polars")]
pub(crate) fn text(statistics: &Statistics) -> String {
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

#[cfg(not(feature = "polars"))]
pub(crate) fn text(statistics: &Statistics) -> String {
    match *statistics {}
}
