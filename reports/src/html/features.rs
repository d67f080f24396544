//! Distributions of the features by label.

use super::body::{Body, Data};
use super::table::Cell;
use crate::figures;
use dropcast_measure::{Distribution, FeatureSection, Report};

pub(super) fn write(page: &mut Body, report: &Report) {
    page.folded_section("features", "Features");
    page.heading("By label");
    if let Some(scaling) = crate::trace_words::scaling(report) {
        page.paragraph(&format!("{}.", figures::capitalised(&scaling)));
    }
    page.open("figures");
    for feature in &report.features {
        let about = feature.definition.as_deref().unwrap_or("a feature of the trace");
        page.figure(
            &figures::feature(feature),
            &format!(
                "{}. The height of a line is the share of packets with at most this value. \
                 The further the lines are apart, the better the feature alone predicts drops.",
                figures::capitalised(about)
            ),
            &data(feature),
        );
    }
    page.close();
    let rows: Vec<Vec<Cell>> = report
        .features
        .iter()
        .flat_map(|feature| {
            [("transmitted", &feature.transmitted), ("dropped", &feature.dropped)].map(
                |(label, values)| {
                    let count = |value: Option<u32>| Cell::Count(value.map(u64::from));
                    vec![
                        Cell::text(format!("{}, {label}", feature.name)),
                        count(values.min),
                        Cell::Ratio(values.mean, 1),
                        count(values.p50),
                        count(values.p90),
                        count(values.p99),
                        count(values.max),
                    ]
                },
            )
        })
        .collect();
    page.table(
        "Features on arrival, by what LQD did. Percentiles are rounded up by at most 1/64.",
        &["feature, packets", "minimum", "mean", "median", "90 %", "99 %", "maximum"],
        &rows,
    );
}

fn data(feature: &FeatureSection) -> Data<'static> {
    let rows = |values: &Distribution| -> Vec<Vec<Cell>> {
        let row = |&(value, share): &(u32, f64)| vec![Cell::whole(value), Cell::number(share)];
        values.cdf.iter().map(row).collect()
    };
    Data {
        heads: &["value", "share of packets up to it"],
        groups: vec![
            ("transmitted by LQD", rows(&feature.transmitted)),
            ("dropped by LQD", rows(&feature.dropped)),
        ],
    }
}
