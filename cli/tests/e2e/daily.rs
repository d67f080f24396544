//! Monitoring: gates, measures, and the daily job of docs/daily.md.

use crate::room::Room;
use dropcast_data::{EventOptions, EventReader};
use std::path::Path;
use std::process::{Command, Output};

/// The job, in a shell, with `dropcast` on its path.
fn job(room: &Room, script: &str) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_dropcast"));
    let path = format!(
        "{}:{}",
        binary.parent().expect("a folder").display(),
        std::env::var("PATH").expect("a path")
    );
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]).current_dir(room.path("")).env("PATH", path);
    command.env("day", "2026-11-24").output().expect("a shell")
}

/// The user's own script.
fn push(room: &Room, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    room.write("push", format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(room.path("push"), std::fs::Permissions::from_mode(0o755))
        .expect("a file");
}

#[test]
#[ignore = "slow"]
fn the_documented_job_runs_and_gates() {
    let page = include_str!("../../../docs/daily.md");
    let (_, rest) = page.split_once("```sh\n").expect("a script");
    let (script, _) = rest.split_once("```").expect("its end");
    let room = Room::with_a_run();
    room.write("leaf.toml", room.read("runs/small/switch.toml"));
    room.write("captures/2026-11-24/log.parquet", room.read("runs/small/events.parquet"));
    room.write("captures/2026-11-24/notes.txt", "the rack was moved at noon\n");
    // Monitoring gets its numbers, whether the candidate pays or not.
    let output = job(&room, script);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("notes.txt"), "{stderr}");
    let line = String::from_utf8(room.read("daily.log")).expect("text");
    let begins = "trace=switch=0 traces=1 begin_utc=null trusted=1 arrivals=";
    assert!(line.starts_with(begins) && line.contains(" drift=null"), "{line}");
    // A candidate that always pays goes all the way, but for a push that fails.
    let any = "gain < -1000000000000";
    let always = script
        .replace("gain <= 0", any)
        .replace("gain <= $old", any)
        .replace("gain<0", "gain<-1e12");
    assert_eq!(always.matches(any).count(), 2);
    let run = |code: i32, script: &str| {
        let output = job(&room, script);
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    };
    push(&room, "exit 7");
    run(7, &always);
    assert!(!room.path("model.json").exists());
    push(&room, "ls $1 > pushed");
    run(0, &always);
    assert!(room.path("model.json").exists() && room.path("tables").is_dir());
    assert!(String::from_utf8(room.read("pushed")).expect("text").contains(".h"));
    // The day after, there is a model to watch. Nothing is wrong with it, until the switch reports that it is imprecise.
    let is_retrained = |precision: &str| {
        room.write("precision/2026-11-24", precision);
        let before = room.path("pushed").metadata().expect("pushed").modified().expect("a time");
        run(0, &always);
        room.path("pushed").metadata().expect("pushed").modified().expect("a time") > before
    };
    assert!(!is_retrained(""));
    assert!(!is_retrained("0.97\n0.875\n"));
    assert!(is_retrained("0.97\n0.5\n"));
    // It is no better than itself.
    let no_better = script.replace("gain <= 0", any).replace("gain<0", "gain<-1e12");
    let before = room.read("model.json");
    room.write("pushed", "nothing");
    run(0, &no_better);
    assert_eq!((room.read("pushed"), room.read("model.json")), (b"nothing".to_vec(), before));
    let metrics = String::from_utf8(room.read("metrics/dropcast.prom")).expect("text");
    assert!(metrics.contains("\ndropcast_drift 0\n"), "{metrics}");
}

#[test]
fn conditions_are_gates_that_say_what_holds() {
    let room = Room::with_a_run();
    let report = "report --data runs/small/trace.parquet --format line";
    let mut transcript = String::new();
    for (more, code) in [
        ("--fail-if lqd_drops>0", 1),
        ("--fail-if lqd_drops<1", 0),
        (
            "--fail-if lqd_drops>0 --fail-if lqd_drops<1 --fail-if arrivals>=1 --fail-if lqd_drops>0",
            1,
        ),
        // Not known: stated, and not held.
        ("--fail-if drift>1 --fail-if real_drops>0", 0),
        ("--model runs/small/model.json --fail-if drift>1", 0),
        ("--model runs/small/model.json --fail-if drift>=0 --rows all", 1),
        ("--fail-if drop>0", 1),
        ("--fail-if lqd_drops=0", 1),
        ("--fail-if own_drops>0", 1),
        ("--fail-if untrusted --fail-if trusted<1", 0),
        ("--fail-if trusted>=1", 1),
    ] {
        let said = room.dropcast(&format!("{report} {more}"));
        assert_eq!(said.code, Some(code), "{said}");
        transcript.push_str(&format!("{said}\n"));
    }
    // The report is there all the same.
    let said = room.dropcast(&format!("{report} -o line.txt --fail-if lqd_drops>0"));
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""));
    assert!(room.path("line.txt").exists());
    insta::assert_snapshot!(transcript);
}

/// The same packets in a tenth of the time.
#[test]
#[ignore = "slow"]
fn packets_that_come_ten_times_as_fast_lie_outside_what_the_model_was_trained_on() {
    let room = Room::with_a_run();
    let path = room.path("runs/small/events.parquet");
    let events = EventReader::open(&path, EventOptions::default()).expect("events");
    let mut rows = String::from("time_ns,port,size_bytes\n");
    for event in events.flat_map(|batch| batch.expect("sound").events) {
        rows.push_str(&format!("{},{},{}\n", event.time_ns / 10, event.port, event.size_bytes));
    }
    room.write("fast.csv", rows);
    room.good("collect --events fast.csv --switch runs/small/switch.toml -o fast.parquet");
    room.good("train --data runs/small/trace.parquet --split none -o model.json");
    let report = |data: &str, more: &str| {
        room.dropcast(&format!("report --model model.json --rows all --data {data} {more}"))
    };
    let outside = |data: &str| -> serde_json::Value {
        let report = report(data, "--format json").stdout;
        serde_json::from_str::<serde_json::Value>(&report).expect("JSON")["outside"].clone()
    };
    // On the rows that trained, a thousandth at either end; on the fast ones, most.
    let own = outside("runs/small/trace.parquet");
    let model: serde_json::Value = serde_json::from_slice(&room.read("model.json")).expect("JSON");
    for (at, feature) in own.as_array().expect("features").iter().enumerate() {
        assert!(feature["share"].as_f64().expect("rows") <= 0.002, "{feature}");
        assert_eq!(feature["range"], model["features"][at]["range"]);
    }
    let fast = outside("fast.parquet");
    let shares = fast.as_array().expect("features").iter();
    let most = shares.map(|feature| feature["share"].as_f64().expect("rows")).fold(0.0, f64::max);
    assert!(most > 0.05, "{fast}");
    let fails = "--format line --fail-if outside>0.05";
    assert_eq!(report("runs/small/trace.parquet", fails).code, Some(0));
    let said = report("fast.parquet", fails);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.stdout.contains(&format!(" outside={most}")), "{said}");
    let prometheus = report("fast.parquet", "--format prometheus").stdout;
    assert!(prometheus.contains(&format!("\ndropcast_outside {most}\n")), "{prometheus}");
    let unlike = "These packets are unlike those that the model was trained on: ";
    assert!(report("fast.parquet", "--details").stdout.contains(unlike));
    assert!(!report("runs/small/trace.parquet", "--details").stdout.contains(unlike));
    // A model of the first version has no ranges; one without is read as such a one.
    let text = String::from_utf8(room.read("model.json")).expect("text");
    let (mut earlier, mut rest) = (String::new(), text.as_str());
    while let Some((before, after)) = rest.split_once(",\n      \"range\": {") {
        earlier.push_str(before);
        rest = after.split_once('}').expect("its end").1;
    }
    earlier.push_str(rest);
    room.write("model.json", earlier);
    let json: serde_json::Value =
        serde_json::from_str(&report("fast.parquet", "--format json").stdout).expect("JSON");
    assert!(json["outside"].is_null());
    let why = json["outside_omitted"].as_str().expect("a reason");
    assert!(why.starts_with("the model's file has no ranges of features"), "{why}");
    let said = report("fast.parquet", fails);
    assert!(said.code == Some(0) && said.stdout.contains(" outside=null"), "{said}");
    assert!(!report("fast.parquet", "--details").stdout.contains(unlike));
}

/// Every line is what the format's specification allows, and every sample has its help and type before it.
#[test]
fn prometheus_can_read_the_gauges() {
    let room = Room::with_a_run();
    let text = room.good(
        "report --data runs/small/trace.parquet --model runs/small/model.json --format prometheus",
    );
    let is_name = |name: &str| {
        name.starts_with("dropcast_")
            && name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
    };
    let (mut helped, mut typed, mut samples) = (String::new(), String::new(), 0);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            helped = rest.split_once(' ').expect("a meaning").0.to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            typed = rest.strip_suffix(" gauge").expect("a gauge").to_owned();
            assert_eq!(typed, helped);
        } else {
            let (name, value) = line.split_once(' ').expect("a sample");
            let (name, labels) = name.split_once('{').unwrap_or((name, "}"));
            assert!(is_name(name) && name == typed, "{line}");
            let known = ["}", "name=\"", "check=\"", "decision=\""];
            assert!(known.iter().any(|known| labels.starts_with(known)), "{line}");
            let is_finite = value.parse::<f64>().is_ok_and(f64::is_finite);
            assert!(is_finite || line == "dropcast_advice_alpha +Inf", "{line}");
            samples += 1;
        }
    }
    assert!(text.ends_with('\n') && samples > 12, "{text}");
}

/// Texts and pages have times of day as `date` does there, JSON in UTC.
fn by_another_clock(room: &Room, trace: &[u8], since_1970: &str) {
    room.write("first.parquet", trace);
    let report = "report --data first.parquet --format";
    let (json, in_utc) =
        (room.good(&format!("{report} json")), room.good(&format!("{report} html")));
    for (offset, zone) in [("+02:00", "UTC-2"), ("-03:30", "UTC3:30"), ("+00:00", "UTC0")] {
        let mut date = Command::new("date");
        date.env("TZ", zone).args(["-d", &format!("@{since_1970}"), "+%F %T.%N"]);
        let date = String::from_utf8(date.output().expect("date").stdout).expect("text");
        let clock = if offset == "+00:00" { "UTC".to_owned() } else { format!("UTC{offset}") };
        let local_time = format!("{} {clock}", date.trim());
        let text = room.good(&format!("{report} details --utc-offset {offset}"));
        assert!(text.contains(&local_time), "{local_time}: {text}");
        let page = room.good(&format!("{report} html --utc-offset {offset}"));
        let (shown, data) = page.split_once("<script type=\"application/json\"").expect("data");
        let (_, data_in_utc) =
            in_utc.split_once("<script type=\"application/json\"").expect("data");
        // The episode, its plot, and the plot of the trace.
        assert!(shown.matches(&clock).count() >= 3 && shown.contains(&local_time), "{local_time}");
        assert_eq!(data, data_in_utc);
        assert_eq!(room.good(&format!("{report} json --utc-offset {offset}")), json);
    }
    for wrong in ["2", "+2:00", "+14:01", "Europe/Berlin"] {
        let said = room.dropcast(&format!("{report} text --utc-offset {wrong}"));
        assert_eq!(said.code, Some(1), "{said}");
        assert!(said.stderr.contains("expected hours and minutes such as +02:00"), "{said}");
    }
}

/// As `date` prints them.
#[test]
fn times_since_1970_are_printed_in_utc_to_the_nanosecond() {
    let room = Room::new();
    room.write(
        "leaf.toml",
        "ports = 2\nline_rate_bps = 1_000_000_000\nbuffer_bytes = 10_000\nbase_rtt_ns = 10_000\n",
    );
    let (mut reports, mut traces) = (Vec::new(), Vec::new());
    for begin_ns in [1_764_075_600_123_456_789_u64, 5_000] {
        let rows: String = (0..20).map(|i| format!("{},1,1500\n", begin_ns + i)).collect();
        room.write("events.csv", format!("time_ns,port,size_bytes\n{begin_ns},0,64\n{rows}"));
        room.good("collect --events events.csv --switch leaf.toml -o trace.parquet");
        let json = room.good("report --data trace.parquet --format json");
        let verdict: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        reports.push((verdict, room.good("report --data trace.parquet --details")));
        traces.push(room.read("trace.parquet"));
    }
    let (verdict, text) = &reports[0];
    let episode = &verdict["episodes"][0];
    let first_ns = episode["first_ns"].as_str().expect("a text");
    let (seconds, ns) = first_ns.split_at(first_ns.len() - 9);
    let mut date = Command::new("date");
    date.args(["-u", "-d", &format!("@{seconds}.{ns}"), "+%FT%T.%NZ"]);
    let date = date.output().expect("date");
    let expected = String::from_utf8(date.stdout).expect("text").trim().to_owned();
    assert_eq!(episode["first_utc"], expected.as_str());
    assert!(verdict["timelines"][0]["begin_utc"].is_string());
    assert!(text.contains(&expected.replace('T', " ").replace('Z', " UTC")), "{text}");
    assert!(text.contains("port 1, queue 0 of switch 0: Complete Sharing drops "), "{text}");
    by_another_clock(&room, &traces[0], &format!("{seconds}.{ns}"));
    // Of another origin.
    let (verdict, text) = &reports[1];
    assert!(verdict["episodes"][0]["first_utc"].is_null());
    assert!(!text.contains("UTC"), "{text}");
}
