//! Files that the real tools wrote, and what the tools predict (`tests/fixtures/generate.py`).

use dropcast_interop::{ImportError, ImportTask, import};
use dropcast_train::{Model, SwitchContext};
use serde::Deserialize;
use std::fs;
use std::path::PathBuf;

/// What the tool that wrote a file says of some rows.
#[derive(Deserialize)]
struct Expected {
    /// The score above which the tool predicts a drop, where the file does not tell.
    threshold: Option<f64>,
    rows: Vec<Vec<u32>>,
    drop: Vec<bool>,
}

/// The folder with the files: the committed one, or one that was made anew.
pub(crate) fn folder() -> PathBuf {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    std::env::var_os("DROPCAST_FIXTURES").map_or_else(|| committed.into(), PathBuf::from)
}

/// The names of the forests.
pub(crate) fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".expected.json").map(str::to_owned)).collect();
    names.sort();
    names
}

pub(crate) fn task(name: &str) -> ImportTask {
    ImportTask {
        format: None,
        features: Some("paper4".parse().unwrap()),
        switch: SwitchContext::default(),
        threshold: expected(name).threshold,
        allow_rounding: false,
        name: name.to_owned(),
        sha256: String::new(),
    }
}

fn expected(name: &str) -> Expected {
    let text = fs::read_to_string(folder().join(format!("{name}.expected.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn imported(name: &str, allow_rounding: bool) -> Result<Model, ImportError> {
    let file = fs::read(folder().join(name)).unwrap();
    import(&file, &ImportTask { allow_rounding, ..task(name) })
}

#[test]
fn forests_predict_what_the_tools_predict() {
    let names = names();
    assert!(names.len() >= 12, "{names:?}");
    for name in names {
        let strict = imported(&name, false);
        let model = imported(&name, true).unwrap();
        let Expected { rows, drop, .. } = expected(&name);
        let wrong =
            rows.iter().zip(&drop).filter(|(row, drop)| model.forest.predicts_drop(row) != **drop);
        let wrong = wrong.count();
        let drops = drop.iter().filter(|&&drop| drop).count();
        println!(
            "{name}: {} rows {drops} drops, {wrong} wrong, {:?} {:?}",
            rows.len(),
            strict.err().map(|e| e.to_string()),
            model.imported.unwrap().agreement
        );
        assert!(wrong == 0);
    }
}
