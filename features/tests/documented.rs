//! The page on features has a row for each feature.

use dropcast_features::Feature;
use std::path::Path;

#[test]
fn every_feature_is_in_the_page_with_its_code_and_unit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/features.md");
    let page = std::fs::read_to_string(path).expect("the page exists");
    for feature in Feature::ALL {
        let row = format!("| {} | `{}` | {} |", feature.code(), feature.name(), feature.unit());
        assert!(page.lines().any(|line| line.starts_with(&row)), "{row}");
    }
    let is_row = |line: &&str| line.starts_with("| ") && line[2..].starts_with(char::is_numeric);
    let rows = page.lines().filter(is_row).count();
    assert_eq!(rows, Feature::ALL.len(), "a row for each feature, and no other");
}
