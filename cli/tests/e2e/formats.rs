//! The page of versions says what the constants say.

use dropcast_measure::REPORT_SCHEMA_VERSION;
use dropcast_measure::verdict::VERDICT_SCHEMA_VERSION;
use dropcast_pipeline::collect::folder::MANIFEST_VERSION;
use dropcast_pipeline::counters::COUNTERS_SCHEMA_VERSION;
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn the_table_of_versions_is_true() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/formats.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut found = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        found.insert(cells[1].to_owned(), cells[2].parse::<u64>().unwrap());
    }
    let known: [(&str, u64); 9] = [
        ("labelled trace", dropcast_data::TRACE_SCHEMA_VERSION.into()),
        ("folder of traces, `manifest.json`", MANIFEST_VERSION.into()),
        ("model, `model.json`", dropcast_forest::FORMAT_VERSION),
        ("byte table, `.dct`", dropcast_runtime::VERSION.into()),
        ("JSON table, `.table.json`", dropcast_export::JSON_TABLE_VERSION.into()),
        ("report", REPORT_SCHEMA_VERSION.into()),
        ("verdict, a report without a model", VERDICT_SCHEMA_VERSION.into()),
        ("counters", COUNTERS_SCHEMA_VERSION.into()),
        ("sweep, `sweep.json` and `rows.parquet`", dropcast_train::SWEEP_FORMAT_VERSION.into()),
    ];
    let known = known.map(|(name, version)| (name.to_owned(), version));
    assert_eq!(found, BTreeMap::from(known));
}

/// The version that a page states: in a heading ("..., version 6") or in the row of the field that
/// holds it ("| `schema_version` | 6. ...").
fn stated_versions(page: &str) -> Vec<u64> {
    let number = |text: &str| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().ok()
    };
    let stated = |line: &str| {
        let heading = line.starts_with('#').then(|| line.split_once(", version ")).flatten();
        let field = ["| `schema_version` | ", "| `format_version` | "];
        let field = field.iter().find_map(|field| line.strip_prefix(field));
        heading.map(|(_, version)| version).or(field).map(|text| number(text).unwrap_or_default())
    };
    page.lines().filter_map(stated).collect()
}

#[test]
fn every_page_states_the_version_of_its_format() {
    let (report, verdict) = (REPORT_SCHEMA_VERSION.into(), VERDICT_SCHEMA_VERSION.into());
    let counters = COUNTERS_SCHEMA_VERSION.into();
    let table = dropcast_export::JSON_TABLE_VERSION.into();
    let expected = BTreeMap::from([
        ("report.md", vec![report, verdict]),
        ("counters.md", vec![counters]),
        ("dct.md", vec![dropcast_runtime::VERSION.into(), table, table]),
        ("model.md", vec![dropcast_forest::FORMAT_VERSION]),
        ("trace.md", vec![dropcast_data::TRACE_SCHEMA_VERSION.into()]),
    ]);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let pages = std::fs::read_dir(docs).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let stated = pages.filter_map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let versions = stated_versions(&std::fs::read_to_string(&path).unwrap());
        // Fields of JSON have their types there.
        (name != "json.md" && !versions.is_empty()).then_some((name, versions))
    });
    let expected = expected.into_iter().map(|(name, of)| (name.to_owned(), of));
    assert_eq!(stated.collect::<BTreeMap<_, _>>(), expected.collect());
}
