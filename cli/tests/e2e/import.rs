//! Forests that were trained elsewhere.

use crate::room::Room;

/// A tree as XGBoost saves it: drops where the queue is longer than 1000 bytes.
const BOOSTED: &str = r#"{"learner": {"feature_names": ["queue_length", "occupancy"],
  "gradient_booster": {"name": "gbtree", "model": {"trees": [{
    "left_children": [1, -1, -1], "right_children": [2, -1, -1],
    "split_conditions": [1000.5, -0.25, 0.5], "split_indices": [0, 0, 0], "split_type": [0, 0, 0]}]}},
  "learner_model_param": {"base_score": "5E-1", "num_class": "0", "num_feature": "2"},
  "objective": {"name": "binary:logistic"}}, "version": [3, 2, 0]}"#;

#[test]
fn imported_forests_are_models_like_others() {
    let room = Room::new();
    room.write("boosted.json", BOOSTED);
    let mut transcript = String::new();
    for typed in [
        "import boosted.json -o model.json",
        "import boosted.json --format json -o model.json",
        "import boosted.json --from lightgbm -o model.json",
        "import boosted.json --features rank -o model.json",
        "import boosted.json -o boosted.json",
        "import missing.json -o model.json",
        "inspect model.json",
        "export model.json --target c -o tables",
    ] {
        transcript.push_str(&format!("{}\n", room.dropcast(typed)));
    }
    insta::assert_snapshot!(transcript);
    let model = String::from_utf8(room.read("model.json")).unwrap();
    assert!(model.contains("\"producer\": \"xgboost 3.2.0\""), "{model}");
}

#[cfg(not(any(feature = "linfa", feature = "smartcore")))]
#[test]
fn trainers_that_were_not_built_say_how_to_build_them() {
    let room = Room::with_a_run();
    for trainer in ["linfa", "smartcore"] {
        let typed =
            format!("train --data runs/small/trace.parquet --trainer {trainer} -o model.json");
        let said = room.dropcast(&typed);
        assert_eq!(said.code, Some(1), "{said}");
        assert!(said.stderr.contains(&format!("--features {trainer}")), "{said}");
    }
}
