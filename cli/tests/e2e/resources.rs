//! `resources`: the size of a model as tables.

use crate::inspect::without_numbers;
use crate::room::Room;

#[test]
fn what_a_model_takes() {
    let room = Room::with_a_run();
    let said = room.good("resources runs/small/model.json");
    insta::assert_snapshot!(without_numbers(&said));

    let said = room.good("resources runs/small/model.json --format json");
    let json: serde_json::Value = serde_json::from_str(&said).unwrap();
    let totals = &json["totals"];
    let ours = &json["encodings"][0];
    assert_eq!(ours["name"], "dropcast");
    assert_eq!(ours["ternary_entries"], totals["ternary_entries"]);
    assert!(totals["ternary_share"].as_f64().unwrap() < 0.7);
    assert!(json["measured"]["luts"].is_null());

    // A run's report has the same.
    let report = room.read("runs/small/report.json");
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["resources"], json);
}

/// Each number is present, or the missing tool is named.
#[test]
fn what_tools_measure() {
    let room = Room::with_a_run();
    let said = room.dropcast("resources runs/small/model.json --measure --format json");
    assert_eq!(said.code, Some(0), "{said:?}");
    let notes = &said.stderr;
    let is_lacking = |field: &str| {
        notes.lines().any(|line| line.contains(field) && line.contains("is not installed"))
    };
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    for field in ["luts", "flip_flops", "ebpf_instructions", "ns_per_prediction"] {
        let number = &json["measured"][field];
        let is_excused = number.is_null() && std::env::var_os("CI").is_none() && is_lacking(field);
        assert!(
            number.as_f64().is_some_and(|number| number > 0.0) || is_excused,
            "{field}: {notes}"
        );
    }
}
