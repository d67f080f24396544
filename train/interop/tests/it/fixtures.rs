//! Files that the real tools wrote, and what the tools predict (`tests/fixtures/generate.py`).

use dropcast_forest::SwitchContext;
use dropcast_interop::{ImportError, ImportTask, import};
use dropcast_train::Model;
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
    assert!(names.len() >= 15, "{names:?}");
    for name in names {
        let model = imported(&name, false).unwrap_or_else(|error| panic!("{name}: {error}"));
        let Expected { rows, drop, .. } = expected(&name);
        assert!(drop.contains(&true) && drop.contains(&false), "{name}");
        for (row, drop) in rows.iter().zip(&drop) {
            assert_eq!(model.forest.predicts_drop(row), *drop, "{name}: {row:?}");
        }
        let agreement = model.imported.unwrap().agreement;
        assert!(agreement.is_proven() && agreement.margin == 0.0, "{name}: {agreement:?}");
    }
}

#[test]
fn columns_are_known_by_name_or_have_to_be_told() {
    let file = |name: &str| fs::read(folder().join(name)).unwrap();
    let features = |name: &str, given: Option<&str>| {
        let given = given.map(|given| given.parse().unwrap());
        let task = ImportTask { features: given, ..task(name) };
        import(&file(name), &task).map(|model| model.features.to_string())
    };
    for name in ["boosted.lightgbm.txt", "boosted.xgboost.json"] {
        assert_eq!(features(name, None).as_deref(), Ok("paper4"), "{name}");
        let fault = features(name, Some("rank,longest,occupancy,avg_occupancy")).unwrap_err();
        assert!(fault.to_string().contains("in this order"), "{fault}");
    }
    for name in ["tree.onnx", "dump.xgboost.json"] {
        let fault = features(name, None).unwrap_err();
        assert!(matches!(fault, ImportError::Features(_)), "{name}: {fault}");
        let given = "rank,longest_queue,avg_occupancy,occupancy";
        let swapped = features(name, Some(given)).unwrap();
        assert_eq!(swapped, "rank,longest_queue,avg_occupancy,occupancy");
    }
    let fault = features("tree.onnx", Some("occupancy")).unwrap_err().to_string();
    assert!(fault.contains("has 4 columns, but 1 features were given"), "{fault}");
}
