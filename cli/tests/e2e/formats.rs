//! The page of versions says what the constants say.

use dropcast_pipeline::collect_folder::MANIFEST_VERSION;
use dropcast_pipeline::report::REPORT_SCHEMA_VERSION;
use dropcast_pipeline::verdict::VERDICT_SCHEMA_VERSION;
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
    let known: [(&str, u64); 8] = [
        ("labelled trace", dropcast_data::TRACE_SCHEMA_VERSION.into()),
        ("folder of traces, `manifest.json`", MANIFEST_VERSION.into()),
        ("model, `model.json`", dropcast_forest::FORMAT_VERSION),
        ("byte table, `.dct`", dropcast_oracle::VERSION.into()),
        ("JSON table, `.table.json`", dropcast_export::JSON_TABLE_VERSION.into()),
        ("report", REPORT_SCHEMA_VERSION.into()),
        ("verdict, a report without a model", VERDICT_SCHEMA_VERSION.into()),
        ("sweep, `sweep.json` and `rows.parquet`", dropcast_train::SWEEP_FORMAT_VERSION.into()),
    ];
    let known = known.map(|(name, version)| (name.to_owned(), version));
    assert_eq!(found, BTreeMap::from(known));
}
