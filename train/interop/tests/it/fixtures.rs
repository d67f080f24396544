//! Files that the real tools wrote, and what the tools predict (`tests/fixtures/generate.py`).

use dropcast_forest::SwitchContext;
use dropcast_interop::{ImportError, ImportTask, import};
use dropcast_train::TrainedModel;
use serde::Deserialize;
use std::fs;
use std::path::PathBuf;

/// What the tool that wrote a file says of some rows.
#[derive(Deserialize)]
struct Expected {
    /// The score above which the tool predicts a drop, where the file has none.
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

fn imported(name: &str, allow_rounding: bool) -> Result<TrainedModel, ImportError> {
    let file = fs::read(folder().join(name)).unwrap();
    import(&file, &ImportTask { allow_rounding, ..task(name) }).map(|imported| imported.model)
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
fn columns_are_known_by_name_or_have_to_be_given() {
    let file = |name: &str| fs::read(folder().join(name)).unwrap();
    let features = |name: &str, given: Option<&str>| {
        let given = given.map(|given| given.parse().unwrap());
        let task = ImportTask { features: given, ..task(name) };
        import(&file(name), &task).map(|imported| imported.model.features.to_string())
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

/// XGBoost's file does not record what was missing. In these, missing values go right, and 0 goes left.
#[test]
fn splits_that_would_send_a_missing_0_elsewhere_are_counted() {
    let count = |name: &str, file: &[u8]| import(file, &task(name)).unwrap().zero_elsewhere;
    let read = |name: &str| fs::read_to_string(folder().join(name)).unwrap();
    for (name, has, all) in [
        ("boosted.xgboost.json", "", "\"default_left\":[0"),
        ("dump.xgboost.txt", "missing=2", "missing=1"),
        ("dump.xgboost.json", "\"missing\": 2", "\"missing\": 1"),
    ] {
        let text = read(name);
        let splits = count(name, text.as_bytes());
        assert!(splits > 10, "{name}: {splits}");
        let to = if has.is_empty() { "\"default_left\":[1" } else { all };
        let from = if has.is_empty() { all } else { has };
        assert!(text.contains(from), "{name}");
        assert_eq!(count(name, text.replacen(from, to, 1).as_bytes()), splits - 1, "{name}");
    }
    for name in ["boosted.lightgbm.txt", "boosted.lightgbm.json", "tree.onnx"] {
        assert_eq!(count(name, &fs::read(folder().join(name)).unwrap()), 0, "{name}");
    }
}

/// How XGBoost 2.1 to 3.2 keep the base score of each objective, as their predictions of margins show.
#[test]
fn base_scores_are_those_of_margins() {
    let name = "boosted.xgboost.json";
    let text = fs::read_to_string(folder().join(name)).unwrap();
    let base = "\"base_score\":\"";
    let (before, after) = text.split_once(base).unwrap();
    let after = &after[after.find('"').unwrap()..];
    let imported = |objective: &str, base_score: f32, version: &str, threshold: f64| {
        let text = format!("{before}{base}[{base_score:E}]{after}");
        let text = text.replace("binary:logistic", objective).replace("[3,2,0]", version);
        let task = ImportTask { threshold: Some(threshold), allow_rounding: true, ..task(name) };
        import(text.as_bytes(), &task).map(|imported| imported.model.forest)
    };
    let logistic = imported("binary:logistic", 0.25, "[3,2,0]", 0.0).unwrap();
    let margin = -3.0_f32.ln();
    for same in [
        "binary:logitraw",
        "binary:hinge",
        "reg:squarederror",
        "reg:absoluteerror",
        "rank:pairwise",
    ] {
        assert_eq!(imported(same, margin, "[3,2,0]", 0.0).unwrap(), logistic, "{same}");
        // The threshold is of the margin.
        assert_eq!(imported(same, margin + 2.0, "[2,1,1]", 2.0).unwrap(), logistic, "{same}");
    }
    for exponential in ["count:poisson", "reg:gamma", "reg:tweedie", "survival:cox"] {
        let forest = imported(exponential, 1.0 / 3.0, "[3,2,0]", 0.0).unwrap();
        assert_eq!(forest, logistic, "{exponential}");
        let fault = imported(exponential, 0.0, "[3,2,0]", 0.0).unwrap_err().to_string();
        assert!(fault.contains("is not above 0"), "{fault}");
    }
    let fault = imported("binary:logitraw", margin, "[1,7,6]", 0.0).unwrap_err().to_string();
    assert!(fault.contains("of a version before 2.1"), "{fault}");
}

/// LightGBM 2 ends its trees with the importances of features; its first versions replaced 0 in each split.
#[test]
fn texts_of_lightgbm_2_are_whole() {
    let name = "boosted.lightgbm.txt";
    let text = fs::read_to_string(folder().join(name)).unwrap();
    let (trees, _) = text.split_once("end of trees").unwrap();
    let old = format!("{trees}\nfeature importances:\nqueue_length=3\noccupancy=1\n");
    let imported =
        |text: &str| import(text.as_bytes(), &task(name)).map(|found| found.model.forest);
    assert_eq!(imported(&old), imported(&text));
    let replaced = |value: &str| {
        let values = [value; 5].join(" ");
        imported(&old.replacen(
            "\ndecision_type=",
            &format!("\ndefault_value={values}\ndecision_type="),
            1,
        ))
    };
    assert_eq!(replaced("0"), imported(&text));
    assert!(replaced("1e9").unwrap_err().to_string().contains("sends 0, as a missing value"));
}
