//! A feature's values by label, thinned to what a page can show.

use super::value_histogram::ValueHistogram;
use dropcast_features::Feature;
use serde::{Deserialize, Serialize};
use std::mem;

/// A feature's values in the traces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureSection {
    /// Its name.
    pub name: String,
    /// Unit of its values; null for a feature unknown to this version.
    pub unit: Option<String>,
    /// What it is; null for a feature unknown to this version.
    pub definition: Option<String>,
    /// Packets that LQD transmitted.
    pub transmitted: Distribution,
    /// Packets that LQD dropped.
    pub dropped: Distribution,
}

/// A distribution. Percentiles and the curve are rounded up by at most 1/64 of the value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Rows.
    pub rows: u64,
    /// Smallest value.
    pub min: Option<u32>,
    /// Mean.
    pub mean: Option<f64>,
    /// Value that half of the rows do not exceed.
    pub p50: Option<u32>,
    /// Value that 90% of the rows do not exceed.
    pub p90: Option<u32>,
    /// Value that 99% of the rows do not exceed.
    pub p99: Option<u32>,
    /// Largest value.
    pub max: Option<u32>,
    /// At most 128 points `[value, share of rows that do not exceed it]`, increasing.
    pub cdf: Vec<(u32, f64)>,
}

/// Maximum number of points of a distribution function.
const MOST_CDF_POINTS: usize = 128;

/// The section of a feature from its name and its values by label.
pub(crate) fn feature_section((name, by_label): &(String, [ValueHistogram; 2])) -> FeatureSection {
    let known = name.parse::<Feature>().ok();
    FeatureSection {
        name: name.clone(),
        unit: known.map(|feature| feature.unit().to_owned()),
        definition: known.map(|feature| feature.definition().to_owned()),
        transmitted: distribution(&by_label[0]),
        dropped: distribution(&by_label[1]),
    }
}

fn distribution(values: &ValueHistogram) -> Distribution {
    let all: Vec<(u32, f64)> = values
        .cumulative()
        .map(|(value, rows)| (value, rows as f64 / values.rows() as f64))
        .collect();
    Distribution {
        rows: values.rows(),
        min: values.least(),
        mean: values.mean(),
        p50: values.percentile(50),
        p90: values.percentile(90),
        p99: values.percentile(99),
        max: values.most(),
        cdf: thinned_cdf(all),
    }
}

/// The first and last point, and between them points at even distances in value plus share.
fn thinned_cdf(all: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    if all.len() <= MOST_CDF_POINTS {
        return all;
    }
    let (&first, &last) = match (all.first(), all.last()) {
        (Some(first), Some(last)) => (first, last),
        _ => return all,
    };
    let range = f64::from(last.0 - first.0).max(1.0);
    let along = |point: (u32, f64)| f64::from(point.0 - first.0) / range + point.1 - first.1;
    let step = along(last) / (MOST_CDF_POINTS - 2) as f64;
    let mut marks_passed = 0.0;
    let chosen = all.iter().enumerate().filter(|&(at, &point)| {
        let marks = (along(point) / step).floor();
        let passes = mem::replace(&mut marks_passed, marks) < marks;
        passes || at == 0 || at + 1 == all.len()
    });
    chosen.map(|(_, &point)| point).collect()
}
