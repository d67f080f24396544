//! Features of the user's own: columns that dropcast copies from the events into models.

use crate::room::Room;
use serde_json::Value;

const SWITCH: &str = "ports = 2\nline_rate_bps = 1_000_000_000\nbuffer_bytes = 20_000\n\
                      base_rtt_ns = 50_000\n";

/// Bursts of 40 packets of 1,000 bytes for two ports: the buffer holds 20. `burst_end` marks those at the end
/// of a burst, which LQD drops.
fn events() -> String {
    let mut text = "time_ns,port,size_bytes,burst_end,place\n".to_owned();
    for burst in 0..300_u64 {
        for place in 0..40_u64 {
            let time_ns = burst * 400_000 + place * 100;
            text += &format!("{time_ns},{},1000,{},{place}\n", place % 2, u8::from(place > 21));
        }
    }
    text
}

/// The error of a command that fails by its user's fault.
fn bad(room: &Room, typed: &str) -> String {
    let said = room.dropcast(typed);
    assert_eq!(said.code, Some(1), "{said}");
    said.stderr
}

#[test]
fn a_column_of_the_events_trains_and_exports_like_ours() {
    let room = Room::new();
    room.write("leaf.toml", SWITCH);
    room.write("events.csv", events());
    let collect = "collect --events events.csv --switch leaf.toml --features paper4";
    room.good(&format!("{collect} --own burst_end --own place -o trace.parquet"));
    let train = "train --data trace.parquet --features occupancy --max-features all --max-depth 3";
    room.good(&format!("{train} --own place --own burst_end -o model.json"));
    let model: Value = serde_json::from_slice(&room.read("model.json")).unwrap();
    assert_eq!(model["forest"]["features"], serde_json::json!(["occupancy", "place", "burst_end"]));
    assert_eq!(model["features"][1]["unit"], "own");
    let trees = model["forest"]["trees"].as_array().unwrap().iter();
    let mut nodes = trees.flat_map(|tree| tree["nodes"].as_array().unwrap());
    let uses_place = |node: &Value| node["split"]["feature"].as_u64() == Some(1);
    assert!(nodes.any(uses_place), "the place in the burst predicts the drops: {model}");

    let report = "report --model model.json --data trace.parquet --rows all --format json";
    let report: Value = serde_json::from_str(&room.good(report)).unwrap();
    assert_eq!(report["replay"]["total"]["lqd_agreement"]["share"], 1.0);
    assert!(report["replay"]["total"]["eta"]["packets"].as_f64().is_some());

    for target in ["c", "cpp", "p4", "ebpf", "verilog", "json", "dct"] {
        room.good(&format!("export model.json --target {target} -o tables"));
    }
    for (name, bytes) in room.files().iter().filter(|(name, _)| name.starts_with("tables/")) {
        let text = String::from_utf8_lossy(bytes);
        assert!(text.contains("burst_end") || !text.contains("occupancy"), "{name}");
    }
    let header = room.files().iter().find(|(name, _)| name.ends_with(".h")).unwrap().1.clone();
    let header = String::from_utf8(header).unwrap();
    assert!(header.contains("whoever asks for a prediction supplies it"), "{header}");
    assert!(header.contains("place is not dropcast's: the caller supplies it"), "{header}");

    let error = bad(&room, "export model.json --target c --switch leaf.toml -o decision");
    assert!(error.contains("place is not dropcast's: the caller supplies it"), "{error}");
    let error = bad(&room, &format!("{train} --own nowhere -o other.json"));
    assert!(error.contains("nowhere") && error.contains("burst_end, place"), "{error}");
    let error = bad(&room, &format!("{train} --own rank -o other.json"));
    assert!(error.contains("\"rank\""), "{error}");
    let error = bad(&room, "collect --events events.csv --switch leaf.toml --own no -o t.parquet");
    assert!(error.contains("events.csv: has no column \"no\""), "{error}");
}

#[test]
fn a_sweep_compares_sets_with_columns_of_the_users_own() {
    let room = Room::new();
    room.write("leaf.toml", SWITCH);
    room.write("events.csv", events());
    let features = "--features occupancy,own:burst_end,own:place";
    let collect = "collect --events events.csv --switch leaf.toml";
    room.good(&format!("{collect} {features} -o trace.parquet"));
    room.write(
        "sweep.toml",
        "data = [\"trace.parquet\"]\n[axes]\nfeatures = [\"occupancy\", \"occupancy,own:burst_end\"]\n\
         trees = [1]\nmax_depth = [2]\n",
    );
    room.good("sweep sweep.toml -o swept");
    let names: Vec<String> = room.files().into_keys().collect();
    assert!(
        names.contains(&"swept/models/best-occupancy-own_burst_end.json".to_owned()),
        "{names:?}"
    );
}
