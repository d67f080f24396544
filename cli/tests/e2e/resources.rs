//! `resources`: what a model takes as tables.

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
}
