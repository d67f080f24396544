//! Reports in every format.

#[path = "../measure/tests/tiny/mod.rs"]
mod tiny;

use dropcast_data::RowOrder;
use dropcast_measure::{ModelSource, OneComparison, Report, ReportBuilder};
use dropcast_reports::{Details, Exporter, Html, Json, ReportFormat, Text};
use std::collections::BTreeSet;

#[test]
fn why_nothing_was_replayed_is_said() {
    let report = tiny::report(RowOrder::Departure);
    assert!(Json.export(&report).unwrap().contains("\"replay\": null"));
    assert!(Html.export(&report).unwrap().contains("order of departure"));
}

#[test]
fn undefined_numbers_are_not_written_as_numbers() {
    let model = tiny::model();
    let mut builder = ReportBuilder::new("test", &model, ModelSource::default());
    builder.begin_trace(tiny::source(RowOrder::Arrival)).unwrap();
    let report = builder.finish();
    for &format in ReportFormat::ALL {
        let text = format.exporter().export(&report).unwrap();
        assert!(!text.contains("NaN"), "{format}");
    }
}

/// Theorem 2 fails, and predictions with an eta of 1 can be wrong (lab/notes/theory.md).
#[test]
fn no_page_calls_theorem_2_a_bound_or_an_eta_of_1_perfect() {
    let report = tiny::report(RowOrder::Arrival);
    for text in [Html.export(&report).unwrap(), Details.export(&report).unwrap()] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("Theorem 2's formula") || text.contains("Theorem 2&#39;s formula"));
        for wrong in ["1 is perfect", "upper bound", "bound by Theorem 2", "bound (Theorem 2)"] {
            assert!(!text.contains(wrong), "{wrong}");
        }
    }
}

#[test]
fn the_page_has_the_tables_of_the_forest() {
    let report = tiny::leaf::report();
    let resources = report.resources.as_ref().expect("it can be exported");
    let names: Vec<&str> = resources.encodings.iter().map(|of| of.name.as_ref()).collect();
    let html = Html.export(&report).unwrap();
    assert!(names.iter().all(|name| html.contains(&format!("<th scope=\"row\">{name}</th>"))));
    assert!(html.contains(resources.note.as_ref()));
}

#[test]
fn why_a_forest_cannot_be_exported_is_said() {
    let mut model = tiny::model();
    model.forest.trees.clear();
    let mut builder = ReportBuilder::new("test", &model, ModelSource::default());
    builder.begin_trace(tiny::source(RowOrder::Arrival)).unwrap();
    let report = builder.finish();
    let reason = report.resources_omitted.as_ref().expect("says why");
    assert!(Html.export(&report).unwrap().contains(&format!("cannot be exported: {reason}.")));
    assert!(Json.export(&report).unwrap().contains("\"resources\": null"));
}

/// The JSON is a format: a change to it shows here and in `docs/json.md`, and may need a new
/// schema version. `UPDATE_GOLDEN=1 cargo test` rewrites the file.
#[test]
fn json_and_text_are_as_recorded() {
    let report = tiny::report(RowOrder::Arrival);
    for (name, text) in [
        ("tiny.json", Json.export(&report).unwrap()),
        ("tiny.txt", Details.export(&report).unwrap()),
    ] {
        let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(&path).unwrap(), "{name} changed");
    }
}

#[test]
fn json_reads_back_as_the_same_report() {
    let report = tiny::report(RowOrder::Arrival);
    let read: Report = serde_json::from_str(&Json.export(&report).unwrap()).unwrap();
    assert_eq!(read, report);
}

#[test]
fn every_field_of_the_json_is_documented() {
    let report = tiny::report(RowOrder::Arrival);
    let mut json: serde_json::Value = serde_json::from_str(&Json.export(&report).unwrap()).unwrap();
    let resources = json["resources"].take();
    // The trace's own account and the model's are documented where traces and models are.
    let elsewhere = ["meta", "input", "switch", "imported", "metrics", "provenance"];
    for (of, page, least) in [(json, "json.md", 60), (resources, "json.md", 20)] {
        let path = format!("{}/../docs/{page}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let mut names = BTreeSet::new();
        tiny::field_names(&of, &elsewhere, &mut names);
        assert!(names.len() > least, "{names:?}");
        for name in names {
            assert!(text.contains(&format!("`{name}`")), "docs/{page} does not explain `{name}`");
        }
    }
}

#[test]
fn unknown_training_rows_are_said_in_text_and_page() {
    let mut report = tiny::report(RowOrder::Arrival);
    let unknown = "does not say which rows it was trained on";
    for exporter in [&Details as &dyn Exporter, &Html] {
        assert!(exporter.export(&report).unwrap().contains(unknown));
    }
    report.model.training_rows_known = true;
    for exporter in [&Details as &dyn Exporter, &Html] {
        assert!(!exporter.export(&report).unwrap().contains(unknown));
    }
}

#[test]
fn whether_one_comparison_does_as_well_is_said_both_ways() {
    let mut report = tiny::report(RowOrder::Arrival);
    for (more_bytes, expected) in
        [(0, "does as well"), (1_500, "does as well"), (-3_000, "does worse")]
    {
        report.one_comparison = Some(OneComparison {
            feature: "level_in_quarter_rtt".to_owned(),
            threshold_permille: 975,
            more_bytes,
            does_as_well: more_bytes >= 0,
            chosen_on_other_rows: true,
        });
        for exporter in [&Text as &dyn Exporter, &Html] {
            let text = exporter.export(&report).unwrap();
            assert!(text.contains(&format!("one comparison {expected}")), "{text}");
        }
    }
}
