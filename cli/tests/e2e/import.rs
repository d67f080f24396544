//! Forests trained elsewhere.

use crate::room::{Room, skipped};
use serde_json::Value;
use std::process::Command;

/// A tree as XGBoost saves it: drops if the queue is longer than 1000 bytes.
const BOOSTED: &str = r#"{"learner": {"feature_names": ["queue_length", "occupancy"],
  "gradient_booster": {"name": "gbtree", "model": {"trees": [{
    "left_children": [1, -1, -1], "right_children": [2, -1, -1],
    "split_conditions": [1000.5, -0.25, 0.5], "split_indices": [0, 0, 0], "split_type": [0, 0, 0]}]}},
  "learner_model_param": {"base_score": "5E-1", "num_class": "0", "num_feature": "2"},
  "objective": {"name": "binary:logistic"}}, "version": [3, 2, 0]}"#;

/// The same tree as XGBoost dumps it.
const DUMPED: &str = "\
booster[0]:
0:[queue_length<1000.5] yes=1,no=2,missing=2
\t1:leaf=-0.25
\t2:leaf=0.500000119
";

/// The same tree as LightGBM dumps it.
const LIGHT: &str = r#"{"num_class": 1, "num_tree_per_iteration": 1, "max_feature_idx": 1,
  "objective": "binary sigmoid:1", "average_output": false, "version": "v4",
  "feature_names": ["queue_length", "occupancy"], "tree_info": [{"tree_structure": {
    "split_feature": 0, "threshold": 1000.5000000000001, "decision_type": "<=",
    "default_left": true, "missing_type": "None",
    "left_child": {"leaf_value": -0.25}, "right_child": {"leaf_value": 0.5}}}]}"#;

#[test]
fn dumps_of_the_same_tree_are_the_same_model() {
    let room = Room::new();
    room.write("boosted.json", BOOSTED);
    room.write("xgboost.txt", DUMPED);
    room.write("rounded.txt", DUMPED.replace("000119", ""));
    room.write("lightgbm.json", LIGHT);
    let mut transcript = String::new();
    for typed in [
        "import boosted.json -o boosted.model.json",
        "import xgboost.txt -o xgboost.model.json",
        "import xgboost.txt --threshold 0 -o xgboost.model.json",
        "import xgboost.txt --threshold 0 --features queue_length,occupancy -o xgboost.model.json",
        "import rounded.txt --threshold 0 --features queue_length,occupancy -o x.json",
        "import lightgbm.json -o lightgbm.model.json",
    ] {
        transcript.push_str(&format!("{}\n", room.dropcast(typed)));
    }
    insta::assert_snapshot!(transcript);
    let forest = |name: &str| {
        let model: Value =
            serde_json::from_slice(&room.read(&format!("{name}.model.json"))).unwrap();
        model["forest"]["trees"].clone()
    };
    assert!(forest("boosted").is_array());
    assert_eq!(forest("xgboost"), forest("boosted"));
    assert_eq!(forest("lightgbm"), forest("boosted"));
}

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

/// Every decision is the original's, but there is only one.
#[test]
fn a_threshold_out_of_reach_is_a_warning() {
    let room = Room::new();
    room.write("boosted.json", BOOSTED);
    for (threshold, warning, always) in [
        ("7", "warning: it never predicts a drop, ", Value::from("accept")),
        ("-7", "warning: it always predicts a drop, ", Value::from("drop")),
        ("0", "decisions: all as the original's, proven\nmodel: ", Value::Null),
    ] {
        let import = format!("import boosted.json --threshold {threshold} -o model.json");
        let said = room.good(&import);
        assert!(said.contains(warning), "{said}");
        let said: Value =
            serde_json::from_str(&room.good(&format!("{import} --format json"))).unwrap();
        assert_eq!(said["always"], always, "{said}");
    }
}

/// The program of docs/trainers.md, then the same number of drops here.
#[test]
fn a_forest_of_scikit_learn_comes_by_way_of_onnx() {
    let python = |code: &str| {
        let mut command = Command::new("python3");
        command.args(["-c", code]);
        command
    };
    let tools = python("import pyarrow, skl2onnx, sklearn").output();
    if !tools.is_ok_and(|output| output.status.success()) {
        assert!(!std::env::var("CI").is_ok_and(|ci| ci == "true"), "no skl2onnx, and CI=true");
        skipped(
            "python3 has no pyarrow, skl2onnx and scikit-learn: the program of docs/trainers.md",
        );
        return;
    }
    let page = include_str!("../../../docs/trainers.md");
    let programs = page.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next());
    let program = programs.into_iter().find(|program| program.contains("skl2onnx")).unwrap();
    let room = Room::with_a_run();
    room.write("trace.parquet", room.read("runs/small/trace.parquet"));
    let program = format!("{program}\nprint(forest.predict(x).sum(), end='')");
    let output = python(&program).current_dir(room.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let drops: u64 = String::from_utf8(output.stdout).unwrap().parse().unwrap();
    assert!(drops > 0);
    room.good("import forest.onnx --features paper4 -o model.json");
    let report = room.good("report --model model.json --data trace.parquet --format json");
    let report: Value = serde_json::from_str(&report).unwrap();
    let confusion = &report["prediction"]["confusion"];
    let predicted = confusion["tp"].as_u64().unwrap() + confusion["fp"].as_u64().unwrap();
    assert_eq!(predicted, drops);
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
        assert!(said.stderr.contains(&format!("cargo feature {trainer}")), "{said}");
    }
}

/// A file that another command reads, or that is something else, is named by every command that takes a file.
#[test]
fn other_files_are_named_as_what_they_are() {
    let room = Room::new();
    room.write("boosted.json", BOOSTED);
    room.write("boosted.txt", "tree\nversion=v4\n");
    room.write("dump.txt", "booster[0]:\n0:leaf=1\n");
    room.write("config_db.json", "{\"PORT\": {}}");
    room.write("flow.txt", "1\n0 1 3 100 9 2\n");
    room.write("saved.cm", "Nodes 8\nConnections 1\n0->4 start 0 size 9\n");
    let leaf =
        "ports = 4\nline_rate_bps = 1000000000\nbuffer_bytes = 100000\nbase_rtt_ns = 10000\n";
    room.write("leaf.toml", leaf);
    room.write("page.json", "<!DOCTYPE html>\n<html></html>\n");
    room.write("port0.pcap", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 6\n");
    let mut transcript = String::new();
    for typed in [
        "inspect boosted.json",
        "inspect boosted.txt",
        "inspect dump.txt",
        "inspect config_db.json",
        "inspect flow.txt",
        "inspect saved.cm",
        "inspect leaf.toml",
        "inspect page.json",
        "inspect port0.pcap",
        "import port0.pcap -o m.json",
        "import page.json -o m.json",
        "collect --events port0.pcap --switch leaf.toml -o x.parquet",
        "collect --events flow.txt --switch port0.pcap -o x.parquet",
        "train --data port0.pcap -o m.json",
        "report --data port0.pcap",
        "counters port0.pcap --switch leaf.toml",
        "switch port0.pcap --base-rtt-ns 32000",
    ] {
        transcript.push_str(&format!("{}\n", room.dropcast(typed)));
    }
    insta::assert_snapshot!(transcript);
}

/// XGBoost does not record what was missing.
#[test]
fn what_may_have_been_missing_is_stated_beside_the_proof() {
    let room = Room::new();
    let split = |missing: u8| {
        format!(
            "booster[0]:\n0:[queue_length<1000] yes=1,no=2,missing={missing}\n1:leaf=-0.251953125\n2:leaf=0.5\n"
        )
    };
    for (missing, splits) in [(1, 0), (2, 1)] {
        room.write("dump.txt", split(missing));
        let import = "import dump.txt --threshold 0 --features queue_length -o m.json";
        let said = room.good(import);
        assert_eq!(said.contains("proven, if no integer was missing"), splits > 0, "{said}");
        assert_eq!(said.contains("1 of its splits decide 0 otherwise"), splits > 0, "{said}");
        let imported: Value =
            serde_json::from_str(&room.good(&format!("{import} --format json"))).unwrap();
        assert_eq!(imported["zero_elsewhere"], splits);
    }
}
