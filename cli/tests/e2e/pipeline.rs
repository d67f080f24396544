//! Same input and seed, same bytes: for any threads, folder and sequence of commands.

use crate::room::{Room, SMALL, rows};
use dropcast_data::sha256;
use serde_json::Value;
use std::collections::BTreeMap;

const OUTPUTS: [&str; 9] = [
    "config.toml",
    "events.parquet",
    "model.json",
    "report.html",
    "report.json",
    "switch.toml",
    "tables/model.dct",
    "tables/model.h",
    "trace.parquet",
];

/// Files of a run by name.
fn outputs(room: &Room, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let prefix = format!("{folder}/");
    let files = room.files().into_iter();
    files
        .filter_map(|(name, bytes)| Some((name.strip_prefix(&prefix)?.to_owned(), bytes)))
        .collect()
}

/// Two folders have the same files with the same bytes.
#[track_caller]
fn assert_same(room: &Room, one: &str, other: &str) {
    let (one, other) = (outputs(room, one), outputs(room, other));
    assert!(!one.is_empty() && one.keys().eq(other.keys()), "{:?} {:?}", one.keys(), other.keys());
    let differing: Vec<&String> = one.keys().filter(|&name| one[name] != other[name]).collect();
    assert!(differing.is_empty(), "differ: {differing:?}");
}

#[test]
fn a_run_leaves_everything_in_its_folder() {
    let room = Room::with_a_run();
    let names: Vec<String> = outputs(&room, "runs/small").into_keys().collect();
    assert_eq!(names, OUTPUTS);
    let drops = |part: &str| -> u64 {
        let model: Value = serde_json::from_slice(&room.read("runs/small/model.json")).unwrap();
        model["metrics"][part]["drops"].as_u64().unwrap()
    };
    // Otherwise the rest would test little.
    assert!(drops("train") > 100 && drops("test") > 100);
}

#[test]
fn the_written_config_repeats_a_run() {
    let room = Room::with_a_run();
    room.good("run --config runs/small/config.toml --runs again");
    assert_same(&room, "runs/small", "again/small");
    room.good("run --config again/small/config.toml --runs again");
    assert_same(&room, "runs/small", "again/small");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let room = Room::with_a_run();
    for threads in [1, 2, 5] {
        room.good(&format!("run --config small.toml --runs on-{threads} --threads {threads}"));
        assert_same(&room, "runs/small", &format!("on-{threads}/small"));
    }
}

#[test]
fn rows_that_do_not_fit_into_memory_make_the_same_model() {
    let room = Room::with_a_run();
    let train = "train --data runs/small/trace.parquet --max-samples 0.5 --n-estimators 3";
    room.good_with_notes(&format!("{train} -o in-memory.json"));
    let files = room.files().len();
    room.good_with_notes(&format!("{train} --memory-limit 0 -o in-a-file.json"));
    assert_eq!(room.files().len(), files + 1, "the temporary file is gone");
    assert_eq!(room.read("in-memory.json"), room.read("in-a-file.json"));
    let model: Value = serde_json::from_slice(&room.read("in-memory.json")).unwrap();
    assert_eq!(model["provenance"]["parameters"]["max_samples"], 0.5);
}

#[test]
fn another_seed_gives_other_bytes() {
    let room = Room::with_a_run();
    let largest = u64::MAX;
    room.good_with_notes(&format!("run --config small.toml --seed {largest} --name other"));
    let (one, other) = (outputs(&room, "runs/small"), outputs(&room, "runs/other"));
    for name in OUTPUTS {
        assert_eq!(one[name] == other[name], name == "switch.toml", "{name}");
    }
    room.good_with_notes("run --config runs/other/config.toml --runs again");
    assert_same(&room, "runs/other", "again/other");
}

#[test]
fn the_stages_by_hand_give_what_a_run_gives() {
    let room = Room::with_a_run();
    let config: toml::Table = SMALL.parse().unwrap();
    room.write("workload.toml", toml::to_string(&config["workload"]).unwrap());
    let features = "level_occupancy,level_in_quarter_rtt,level_in_one_rtt,level_in_two_rtts";
    let stages = [
        "simulate --workload workload.toml --seed 7 -o hand/events.parquet".to_owned(),
        "collect --events hand/events.parquet -o hand/trace.parquet".to_owned(),
        format!("train --data hand/trace.parquet --features {features} --seed 7 --vote f1 -o hand/model.json"),
        "export hand/model.json --target dct c -o hand/tables".to_owned(),
        "report --model hand/model.json --data hand/trace.parquet --format json -o hand/report.json"
            .to_owned(),
        "report --model hand/model.json --data hand/trace.parquet --format html -o hand/report.html"
            .to_owned(),
    ];
    for name in ["config.toml", "switch.toml"] {
        room.write(&format!("hand/{name}"), room.read(&format!("runs/small/{name}")));
    }
    for stage in stages {
        room.good_with_notes(&stage);
    }
    assert_same(&room, "runs/small", "hand");
    let report = "report --model hand/model.json --data hand/trace.parquet --format";
    let json = room.good(&format!("{report} json"));
    assert_eq!(json.as_bytes(), room.read("hand/report.json"));
    // By label, including the state of the buffer.
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let shown = report["features"].as_array().unwrap().iter();
    let shown: Vec<&str> = shown.map(|feature| feature["name"].as_str().unwrap()).collect();
    assert_eq!(shown.join(","), format!("{features},queue_length,occupancy"));
}

#[test]
fn a_run_takes_events_and_a_switch_of_the_users() {
    let room = Room::with_a_run();
    room.write("f1.toml", "[train]\nvote = 'f1'\n");
    room.good("run --config f1.toml --events runs/small/events.parquet --seed 7 --name again");
    let (one, other) = (outputs(&room, "runs/small"), outputs(&room, "runs/again"));
    assert!(!other.contains_key("events.parquet"));
    for name in OUTPUTS.into_iter().filter(|name| !["config.toml", "events.parquet"].contains(name))
    {
        assert!(one[name] == other[name], "{name}");
    }

    room.write("events.csv", csv(&room));
    room.good("run --config f1.toml --events events.csv --switch runs/small/switch.toml --seed 7 --name csv");
    let (parquet, _) = rows(&room.path("runs/small/trace.parquet"));
    let (csv, inputs) = rows(&room.path("runs/csv/trace.parquet"));
    assert!(parquet == csv);
    assert_eq!(inputs[0].name, "events.csv");
    room.good("run --config runs/csv/config.toml --runs again");
    assert_same(&room, "runs/csv", "again/csv");
}

#[test]
fn standard_input_is_read_like_a_file() {
    let room = Room::with_a_run();
    let text = csv(&room).replacen("time_ns", "ts", 1);
    room.write("ts.csv", &text);
    let check = |stdin: &[u8], typed: &str| {
        let said = room.dropcast_on(typed, stdin);
        assert_eq!(said.code, Some(0), "{said}");
        let (expected, _) = rows(&room.path("runs/small/trace.parquet"));
        let (rows, inputs) = rows(&room.path("t.parquet"));
        assert!(rows == expected, "{typed}");
        assert_eq!((inputs[0].name.as_str(), &inputs[0].sha256), ("-", &sha256(stdin)));
    };
    let switch = "--switch runs/small/switch.toml";
    check(
        text.as_bytes(),
        &format!("collect --events - {switch} --column time_ns=ts -o t.parquet"),
    );
    check(&room.read("runs/small/events.parquet"), "collect --events - -o t.parquet");

    // Except for the name of the input, the trace is the same as from a file.
    room.good(&format!("collect --events ts.csv {switch} --column time_ns=ts -o t.parquet"));
    let (from_file, inputs) = rows(&room.path("t.parquet"));
    assert!(from_file == rows(&room.path("runs/small/trace.parquet")).0);
    assert_eq!(inputs[0].sha256, sha256(text.as_bytes()));
}

/// The run's events as text.
fn csv(room: &Room) -> String {
    let path = room.path("runs/small/events.parquet");
    let reader = dropcast_data::EventReader::open(&path, Default::default()).unwrap();
    let mut text = "time_ns,switch_id,port,queue,size_bytes,kind,flow_hash,flags\n".to_owned();
    for event in reader.flat_map(|batch| batch.unwrap().events) {
        let dropcast_data::Event { time_ns, switch_id, port, queue, size_bytes, kind, .. } = event;
        let kind = u8::from(kind == dropcast_data::EventKind::Departure);
        let (hash, flags) = (event.flow_hash, event.flags);
        text.push_str(&format!(
            "{time_ns},{switch_id},{port},{queue},{size_bytes},{kind},{hash},{flags}\n"
        ));
    }
    text
}
