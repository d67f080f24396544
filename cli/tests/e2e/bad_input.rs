//! For any bad input: one message that says what, where and what to do; exit code 1; nothing on
//! stdout, and no file added or changed.

use crate::room::{Room, SMALL, refuse};
use serde_json::Value;

const SWITCH: &str = "\
ports = 2
line_rate_bps = 1_000_000_000
buffer_bytes = 2_000
base_rtt_ns = 1_000
";

/// Wrong events: the name of the case, and the text.
const EVENTS: [(&str, &str); 21] = [
    ("text-for-a-number", "time_ns,port,size_bytes\n0,0,100\n1,0,large\n"),
    ("negative", "time_ns,port,size_bytes\n0,0,100\n1,-1,100\n"),
    ("fraction", "time_ns,port,size_bytes\n0.5,0,100\n"),
    ("no-value", "time_ns,port,size_bytes\n0,,100\n"),
    ("time-backwards", "time_ns,port,size_bytes\n5,0,100\n5,1,100\n4,0,100\n"),
    ("port-out-of-range", "time_ns,port,size_bytes\n0,2,100\n"),
    ("port-beyond-16-bits", "time_ns,port,size_bytes\n0,70000,100\n"),
    ("queue-out-of-range", "time_ns,port,queue,size_bytes\n0,0,1,100\n"),
    ("size-0", "time_ns,port,size_bytes\n0,0,0\n"),
    ("size-over-buffer", "time_ns,port,size_bytes\n0,0,2001\n"),
    ("no-such-kind", "time_ns,port,size_bytes,kind\n0,0,100,9\n"),
    ("departure-first", "time_ns,port,size_bytes,kind\n0,0,100,0\n1,0,100,1\n2,0,100,1\n"),
    ("field-too-few", "time_ns,port,size_bytes\n0,0\n"),
    ("field-too-many", "time_ns,port,size_bytes\n0,0,100,7\n"),
    ("column-missing", "time_ns,port\n0,0\n"),
    ("column-twice", "time_ns,port,port,size_bytes\n0,0,0,100\n"),
    ("no-header", "0,0,100\n1,0,100\n"),
    ("empty", ""),
    ("blank", "\n\n \n"),
    ("binary", "\u{1}\u{2}\u{3}\n"),
    ("gzip-in-name-only", "\u{1f}\u{8b}"),
];

#[test]
fn events_that_cannot_be_so() {
    let room = Room::new();
    room.write("switch.toml", SWITCH);
    let mut transcript = String::new();
    for (name, text) in EVENTS {
        room.write(name, text);
        let typed = format!("collect --events {name} --switch switch.toml -o out.parquet");
        transcript.push_str(&refuse(&room, &typed));
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn events_that_cannot_be_read() {
    let room = Room::with_a_run();
    let whole = room.read("runs/small/events.parquet");
    room.write("half.parquet", &whole[..whole.len() / 2]);
    room.write("almost.parquet", &whole[..whole.len() - 1]);
    room.write("magic.parquet", &whole[..4]);
    let mut no_pages = whole.clone();
    no_pages[4..whole.len() / 2].fill(0xff);
    room.write("no-pages.parquet", no_pages);
    room.write("broken.csv.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\xffno deflate");
    room.write("events.csv", "time_ns,port,size_bytes\n0,0,100\n");
    let mut transcript = String::new();
    for arguments in [
        "--events half.parquet",
        "--events almost.parquet",
        "--events magic.parquet",
        "--events no-pages.parquet",
        "--events broken.csv.gz --switch runs/small/switch.toml",
        "--events missing.parquet",
        "--events runs",
        "--events -",
        "--events events.csv",
        "--events events.csv ./events.csv --switch runs/small/switch.toml",
        "--events https://host/events.csv",
        "--events runs/small/events.parquet --own queue-id",
        "--events runs/small/model.json --switch runs/small/switch.toml",
    ] {
        transcript.push_str(&refuse(&room, &format!("collect {arguments} -o out.parquet")));
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn settings_that_do_not_fit_the_events() {
    let room = Room::with_a_run();
    room.write("events.csv", "ts,port,size_bytes\n0,0,100\n");
    room.write("switch.toml", SWITCH);
    let events = "--events events.csv --switch switch.toml --column";
    let run = "--events runs/small/events.parquet";
    let mut transcript = String::new();
    for arguments in [
        format!("{events} time=ts"),
        format!("{events} time_ns"),
        format!("{events} time_ns="),
        format!("{events} time_ns=timestamp"),
        format!("{events} time_ns=ts --column time_ns=ts"),
        format!("{events} time_ns=ts --column queue=prio"),
        format!("{events} time_ns=ts --column queue=port"),
        format!("{run} --departures observed"),
        format!("{run} --departures sometimes"),
        format!("{run} --max-waiting-rows 3"),
        format!("{run} --features rank,colour"),
        format!("{run} --on-bad-row ignore"),
    ] {
        transcript.push_str(&refuse(&room, &format!("collect {arguments} -o out.parquet")));
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn switches_that_are_none() {
    let room = Room::new();
    room.write("events.csv", "time_ns,port,size_bytes\n0,0,100\n");
    let mut transcript = String::new();
    let mut check = |name: &str, text: &str| {
        room.write(name, text);
        let typed = format!("collect --events events.csv --switch {name} -o out.parquet");
        transcript.push_str(&refuse(&room, &typed));
    };
    check("unknown-key.toml", &SWITCH.replace("buffer_bytes", "bufer_bytes"));
    check("missing-key.toml", &SWITCH.replace("ports = 2\n", ""));
    check("no-ports.toml", &SWITCH.replace("ports = 2", "ports = 0"));
    check("no-buffer.toml", &SWITCH.replace("2_000", "0"));
    check("text.toml", &SWITCH.replace("2_000", "'2 kB'"));
    check("negative.toml", &SWITCH.replace("2_000", "-2_000"));
    check("list.toml", &SWITCH.replace("1_000_000_000", "[1, 2, 3]"));
    check("scheduler.toml", &format!("{SWITCH}scheduler = 'fair'\n"));
    check("dwrr.toml", &format!("{SWITCH}scheduler = 'dwrr'\n"));
    check("not.toml", "ports: 2\n");
    check("second.toml", &format!("[[switch]]\nid = 3\n{SWITCH}[[switch]]\nid = 4\nlabel = 'x'\n"));
    check("misspelt.toml", &format!("[[switch]]\nid = 3\n{SWITCH}pushible = false\n"));
    check("beside.toml", &format!("{SWITCH}[[switch]]\nid = 3\n{SWITCH}"));
    check("number.toml", "switch = [3]\n");
    check("table.toml", &format!("[switch]\nid = 3\n{SWITCH}"));
    check("id.toml", &format!("[[switch]]\nid = -3\n{SWITCH}"));
    check("no-id.toml", &format!("[[switch]]\n{SWITCH}"));
    check("config_db.json", "{\"BUFFER_POOL\": {}}");
    check("other.toml", &format!("[[switch]]\nid = 3\n{SWITCH}"));
    check("twice.toml", &format!("[[switch]]\nid = 3\n{SWITCH}[[switch]]\nid = 3\n{SWITCH}"));
    transcript.push_str(&refuse(
        &room,
        "collect --events events.csv --switch missing.toml -o out.parquet",
    ));
    insta::assert_snapshot!(transcript);
}

#[test]
fn traces_that_cannot_be_trained_on() {
    let room = Room::with_a_run();
    let trace = room.read("runs/small/trace.parquet");
    room.write("trace.parquet", &trace);
    room.write("copy.parquet", &trace);
    room.write("half.parquet", &trace[..trace.len() / 2]);
    room.write("switch.toml", SWITCH);
    room.write("quiet.csv", "time_ns,port,size_bytes\n0,0,100\n1,0,100\n2,0,100\n");
    room.good("collect --events quiet.csv --switch switch.toml -o quiet.parquet");
    room.good("collect --events runs/small/events.parquet --features paper4 -o paper4.parquet");
    room.write("artifact.csv", ARTIFACT);
    let mut transcript = String::new();
    for arguments in [
        "--data half.parquet",
        "--data missing.parquet",
        "--data runs/small/events.parquet",
        "--data quiet.csv",
        "--data quiet.parquet --split none",
        "--data paper4.parquet --features longest",
        "--data trace.parquet paper4.parquet --features paper4,rank",
        "--data artifact.csv --features paper4 --vote f1",
        "--data artifact.csv --features paper4 --split time-blocks --vote f1",
        "--data artifact.csv --features rank --split random",
        "--data trace.parquet copy.parquet",
        "--data trace.parquet --test copy.parquet",
        "--data trace.parquet --n-estimators 0",
        "--data trace.parquet --n-estimators 129",
        "--data trace.parquet --max-depth 9",
        "--data trace.parquet --max-bins 1",
        "--data trace.parquet --max-features none",
        "--data trace.parquet --class-weight 1:0",
        "--data trace.parquet --criterion variance",
        "--data trace.parquet --vote fixed:1",
        "--data trace.parquet --train-share 1",
        "--data trace.parquet --train-share -0.5",
        "--data trace.parquet --train-share 0",
        "--data trace.parquet --features colour",
        "--data trace.parquet --threads 0",
    ] {
        transcript.push_str(&refuse(&room, &format!("train {arguments} -o out.json")));
    }
    insta::assert_snapshot!(transcript);
}

/// The Credence artifact's own text.
const ARTIFACT: &str = "\
queueLength,averageQueueLength,sharedOccupancy,averageOccupancy,drop
0,0,0,0,0
9,1,9,1,1
0,0,1,0,0
9,2,9,2,1
0,1,2,1,0
8,2,8,2,1
";

/// One tree of one split.
pub(crate) const MODEL: &str = r#"{
  "format_version": 1,
  "features": [{"name": "longest_queue", "unit": "bytes", "definition": ""}],
  "switch": {"ports": 2, "buffer_bytes": 2000, "base_rtt_ns": 1000},
  "metrics": null,
  "provenance": null,
  "forest": {
    "features": ["longest_queue"],
    "vote_threshold": 127,
    "trees": [
      {"nodes": [
        {"split": {"feature": 0, "threshold": 1500, "left": 1, "right": 2}},
        {"leaf": {"weight": 0}},
        {"leaf": {"weight": 255}}
      ]}
    ]
  }
}
"#;

#[test]
fn models_that_are_not_sound() {
    let room = Room::with_a_run();
    room.write("model.json", MODEL);
    room.good("export model.json --target dct -o .");
    room.good("collect --events runs/small/events.parquet --features paper4 -o paper4.parquet");
    let mut transcript = String::new();
    let mut check = |name: &str, from: &str, to: &str| {
        assert!(MODEL.contains(from));
        room.write(name, MODEL.replace(from, to));
        transcript.push_str(&refuse(&room, &format!("export {name} --target dct -o tables")));
    };
    check("version.json", "\"format_version\": 1", "\"format_version\": 4");
    check("no-version.json", "\"format_version\": 1,", "");
    check("child.json", "\"right\": 2", "\"right\": 3");
    check("loop.json", "\"right\": 2", "\"right\": 0");
    check("feature.json", "\"feature\": 0", "\"feature\": 1");
    check("weight.json", "255", "256");
    check("key.json", "vote_threshold", "threshold");
    check("unit.json", "\"bytes\"", "\"packets\"");
    check("name.json", "longest_queue", "colour");
    check("names.json", "[\"longest_queue\"]", "[\"rank\"]");
    check("trees.json", "\"trees\": [", "\"trees\": []}} [");
    for typed in [
        "export model.dct --target c -o tables",
        "export runs/small/report.json --target c -o tables",
        "export runs/small/trace.parquet --target c -o tables",
        "export missing.json --target c -o tables",
        "export model.json --target p5 -o tables",
        "report --model model.json --data paper4.parquet",
        "report --model model.json --data runs/small/trace.parquet runs/small/trace.parquet",
        "report --model model.json --data runs/small/events.parquet",
        "report --model child.json --data runs/small/trace.parquet",
        "report --model model.json --data runs/small/trace.parquet --format pdf",
        "inspect child.json",
        "inspect version.json",
    ] {
        transcript.push_str(&refuse(&room, typed));
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn tables_that_are_damaged() {
    let room = Room::new();
    room.write("model.json", MODEL);
    room.good("export model.json --target dct -o .");
    let table = room.read("model.dct");
    let mut transcript = String::new();
    let mut check = |name: &str, bytes: &[u8]| {
        room.write(name, bytes);
        transcript.push_str(&refuse(&room, &format!("inspect {name}")));
    };
    let changed = |at: usize| {
        let mut bytes = table.clone();
        bytes[at] ^= 1;
        bytes
    };
    check("first-bit.dct", &changed(0));
    check("version.dct", &changed(3));
    check("last-bit.dct", &changed(table.len() - 1));
    check("short.dct", &table[..table.len() - 1]);
    check("header.dct", &table[..8]);
    check("long.dct", &[&table[..], &[0]].concat());
    insta::assert_snapshot!(transcript);
}

#[test]
fn runs_that_cannot_end_well() {
    let room = Room::with_a_run();
    let mut transcript = String::new();
    let mut check = |name: &str, from: &str, to: &str| {
        assert!(SMALL.contains(from));
        room.write(name, SMALL.replace(from, to));
        transcript.push_str(&refuse(&room, &format!("run --config {name} --runs out")));
    };
    check("key.toml", "seed = 7", "sed = 7");
    check("type.toml", "seed = 7", "seed = 'seven'");
    check("section.toml", "[workload]", "[work]");
    check("trees.toml", "[workload]", "[train]\nn_estimators = 0\n[workload]");
    check("share.toml", "[workload]", "[train]\ntrain_share = 1.0\n[workload]");
    check(
        "blocks.toml",
        "[workload]",
        "[train.split]\nby = 'time-blocks'\ntrain_share = 0.5\n[workload]",
    );
    check("drawn.toml", "[workload]", "[train]\nmax_features = '5'\n[workload]");
    check("feature.toml", "[workload]", "[collect]\nfeatures = ['rank']\n[workload]");
    check("colour.toml", "[workload]", "[collect]\nfeatures = ['colour']\n[workload]");
    check("target.toml", "[workload]", "[export]\ntargets = ['p5']\n[workload]");
    check("ports.toml", "servers = 4", "servers = 0");
    check("load.toml", "incast_per_server_hz = 300.0", "incast_per_server_hz = 300e6");
    check("seed.toml", "[workload]", "[workload]\nseed = 5");
    check("sizes.toml", "[workload]", "[workload]\nflow_sizes = 'elephants'");
    check("name.toml", "'small'", "'../small'");
    for typed in [
        "run --name small/ --config small.toml",
        "run --config missing.toml --name out",
        "run --config small.toml --switch runs/small/switch.toml --name out",
        "run --config small.toml --events runs/small/events.parquet --name out",
        "run --events missing.parquet --name out",
        "run --events - --switch runs/small/switch.toml --name out",
        "run --events runs/small/events.parquet --switch missing.toml --name out",
        "run --events runs/small/model.json --switch runs/small/switch.toml --name out",
        "simulate --workload key.toml -o out.parquet",
        "simulate --load -1 -o out.parquet",
        "simulate --load nan -o out.parquet",
        "simulate --burst 1e9 -o out.parquet",
        "simulate --duration-ms 18446744073709551615 -o out.parquet",
    ] {
        transcript.push_str(&refuse(&room, typed));
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn bad_rows_are_left_out_and_counted() {
    let room = Room::new();
    room.write("switch.toml", SWITCH);
    let mut text = "time_ns,port,size_bytes,kind\n5,0,100,0\n".to_owned();
    text.push_str(
        "6,0,large,0\n7,-1,100,0\n4,0,100,0\n8,2,100,0\n8,0,0,0\n8,0,2001,0\n8,1,100,1\n",
    );
    text.push_str("9,0\n9,0,100,7\n3,1,100,0\n9,1,100,0\n");
    room.write("events.csv", text);
    let collect = "collect --events events.csv --switch switch.toml --on-bad-row skip";
    insta::assert_snapshot!(room.good(&format!("{collect} -o trace.parquet")));

    let said = room.good(&format!("{collect} -o trace.parquet --format json"));
    let said: Value = serde_json::from_str(&said).unwrap();
    let found = room.good("inspect trace.parquet --format json");
    let found: Value = serde_json::from_str(&found).unwrap();
    let input = &found["meta"]["inputs"][0];
    assert_eq!(input["skipped"], said["skipped"]);
    assert_eq!((&input["events"], &found["rows"]), (&Value::from(2), &Value::from(2)));
    let skipped = said["skipped"].as_object().unwrap().values();
    assert_eq!(skipped.map(|rows| rows.as_u64().unwrap()).sum::<u64>(), 10);
}

/// An input without arrivals is nearly always a mistake upstream.
#[test]
fn a_header_alone_is_refused() {
    let room = Room::new();
    room.write("switch.toml", SWITCH);
    room.write("none.csv", "time_ns,port,size_bytes\n");
    for command in [
        "collect --events none.csv --switch switch.toml -o none.parquet",
        "run --events none.csv --switch switch.toml --name none",
    ] {
        let said = room.dropcast(command);
        assert_eq!(said.code, Some(1), "{command}");
        assert_eq!(
            said.stderr,
            "error: none.csv: has no arrivals that can be used, so there is nothing to label\n"
        );
    }
    assert_eq!(room.files().into_keys().collect::<Vec<_>>(), ["none.csv", "switch.toml"]);
}

/// The config.toml of a run states everything, including defaults.
#[test]
fn a_runs_own_settings_are_accepted() {
    let room = Room::new();
    room.write(
        "small.toml",
        SMALL.replace("[workload]", "[train.split]\nby = 'time-blocks'\n[workload]"),
    );
    room.good("run --config small.toml");
    let written = String::from_utf8(room.read("runs/small/config.toml")).unwrap();
    assert!(written.contains("validation_share = 0.2"), "{written}");
    assert!(written.contains("vote = \"credence\""), "{written}");
    room.good("run --config runs/small/config.toml --name again");
    assert!(room.read("runs/small/model.json") == room.read("runs/again/model.json"));
}

/// A failed run leaves an earlier one with its name unchanged.
#[test]
fn a_failed_run_changes_nothing() {
    let room = Room::with_a_run();
    let before = room.files();
    room.write("switch.toml", SWITCH);
    room.write("bad.csv", "time_ns,port,size_bytes\n5,0,100\n4,0,100\n");
    let said = room.dropcast("run --events bad.csv --switch switch.toml --name small");
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let mut after = room.files();
    after.retain(|name, _| before.contains_key(name));
    assert!(after == before);
    assert!(!room.folders().iter().any(|folder| folder.contains("partial")));
}

/// Averages with another definition or time constant are different features.
#[test]
fn averages_over_another_time_are_refused() {
    let room = Room::with_a_run();
    let switch = String::from_utf8(room.read("runs/small/switch.toml")).unwrap();
    room.write("switch.toml", switch.replace("base_rtt_ns = 32000", "base_rtt_ns = 1000"));
    room.good_with_notes("run --config runs/small/config.toml --seed 11 --name b");
    room.good("collect --events runs/b/events.parquet --switch switch.toml -o other.parquet");
    let mixed = room.dropcast("train --data runs/small/trace.parquet other.parquet -o mixed.json");
    assert_eq!(mixed.code, Some(1));
    assert!(
        mixed.stderr.contains(
            "other.parquet: its averages and projections have a time constant of 1000 ns"
        )
    );
    let report = room.dropcast("report --model runs/small/model.json --data other.parquet");
    assert_eq!(report.code, Some(1));
    assert!(report.stderr.contains("the model was trained on 32000 ns"), "{}", report.stderr);
    room.good_with_notes(
        "train --data runs/small/trace.parquet other.parquet --features occupancy,rank --vote f1 -o fine.json",
    );
}

#[test]
fn the_artifacts_rows_are_measured_but_not_replayed() {
    let room = Room::new();
    room.write("artifact.csv", ARTIFACT);
    room.good("train --data artifact.csv --features paper4 --split none --vote f1 -o model.json");
    let report = room.good("report --model model.json --data artifact.csv --format json");
    let report: Value = serde_json::from_str(&report).unwrap();
    assert!(report["replay"].is_null() && report["prediction"]["recall"].is_number(), "{report:#}");
    let reason = report["replay_omitted"].as_str().unwrap();
    assert!(reason.contains("artifact.csv") && reason.contains("order of departure"), "{reason}");
    let said = room.dropcast("report --data artifact.csv");
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.stderr.contains("artifact.csv: does not describe its switch"), "{said}");
    let text = room.good("report --model model.json --data artifact.csv --details");
    assert!(text.contains(reason), "{text}");
}
