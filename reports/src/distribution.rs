//! A feature's values by label, thinned to what a page can show.

use crate::report::{Distribution, FeatureSection};
use crate::value_histogram::ValueHistogram;
use dropcast_features::Feature;
use std::mem;

/// Points of a distribution function at most.
const MOST_CDF_POINTS: usize = 128;

/// The section of a feature from its name and its values by label.
pub(crate) fn feature_section((name, by_label): &(String, [ValueHistogram; 2])) -> FeatureSection {
    let known = Feature::ALL.into_iter().find(|feature| feature.name() == name);
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

/// The first and last point, and between them those at which the curve has moved on enough, in
/// value or in share.
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
