//! The model and traces of the report, with hashes.

use super::body::Body;
use super::table::Cell;
use crate::numbers;
use dropcast_measure::Report;

pub(super) fn write(page: &mut Body, report: &Report) {
    page.folded_section("provenance", "Provenance");
    let model = &report.model;
    page.paragraph(&format!(
        "Written by {}. The forest has {} trees, {} splits deep, over {}.",
        report.tool,
        model.trees,
        model.depth,
        model.features.join(", ")
    ));
    let hash = |sha256: &Option<String>| Cell::text(sha256.clone().unwrap_or_default());
    let mut rows = vec![vec![
        Cell::text(model.name.clone().unwrap_or_else(|| "model".to_owned())),
        hash(&model.sha256),
        Cell::text("model"),
    ]];
    rows.extend(report.traces.iter().map(|trace| {
        let collect = trace.meta.collect.map_or_else(String::new, |collect| {
            format!(", {} departures, {} victim", collect.departures, collect.victim)
        });
        let rows = numbers::count(trace.rows);
        vec![
            Cell::text(trace.name.clone()),
            hash(&trace.input.as_ref().map(|input| input.sha256.clone())),
            Cell::text(format!("{rows} rows{collect}")),
        ]
    }));
    page.table("Files, with the SHA-256 of their bytes.", &["file", "SHA-256", "what"], &rows);
    page.paragraph(
        "All numbers of this page are in the JSON inside it, element \u{201C}report\u{201D}; \
         docs/report.md explains each.",
    );
}
