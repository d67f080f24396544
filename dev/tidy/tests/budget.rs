//! The product does not grow: lines of the pipeline and of the lab, words of both books, against dev/tidy/budget.toml.

use dropcast_tidy::product_lines;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the pipeline.
const PIPELINE: [&str; 11] = [
    "runtime", "features", "data", "switch", "collect", "train", "export", "pipeline", "reports",
    "cli", "python",
];

/// A budget that is larger than what is there by more than this share is to be lowered.
const SLACK: f64 = 0.01;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a folder").to_owned()
}

/// Words of the pages in a folder, without those that a test writes.
fn words(folder: &str) -> usize {
    let files = fs::read_dir(root().join(folder))
        .expect("a folder")
        .map(|file| file.expect("a file").path());
    let pages = files.filter(|file| file.extension().is_some_and(|end| end == "md"));
    let texts = pages.map(|page| fs::read_to_string(page).expect("text"));
    let written = texts.filter(|text| !text.contains("This page is written by `UPDATE_GOLDEN=1"));
    written.map(|text| text.split_whitespace().count()).sum()
}

#[test]
fn the_product_is_within_its_budget() {
    let text = fs::read_to_string(root().join("dev/tidy/budget.toml")).expect("a budget");
    let budget: toml::Table = text.parse().expect("TOML");
    let lines = |folder: &str| product_lines(&root().join(folder)).expect("code");
    let found = [
        ("lines", "pipeline", PIPELINE.map(lines).iter().sum()),
        ("lines", "lab", lines("lab")),
        ("words", "pipeline", words("docs")),
        ("words", "lab", words("lab/notes")),
    ];
    let mut wrong = String::new();
    for (what, of, found) in found {
        let most = budget[what][of].as_integer().and_then(|most| usize::try_from(most).ok());
        let most = most.expect("a number");
        let least = most - (most as f64 * SLACK) as usize;
        if !(least..=most).contains(&found) {
            wrong += &format!("{what} of the {of}: {found}, and the budget is {most}\n");
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong}take away what pays for nobody, or change dev/tidy/budget.toml in a commit of its own that says why"
    );
}
