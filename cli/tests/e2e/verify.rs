//! `verify`: exports are run, and those that cannot be run are reported.

use crate::bad_input::MODEL;
use crate::room::{Room, skipped};
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Whether gcc is installed; CI must have it.
fn has_gcc() -> bool {
    let version = Command::new("gcc").arg("--version").output();
    let found = version.is_ok_and(|output| output.status.success());
    let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(found || !ci, "no gcc, and CI=true");
    found
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_trained_model_is_verified_on_vectors_and_its_trace() {
    let room = Room::with_a_run();
    let all = "verify runs/small/model.json --target dct --trace runs/small/trace.parquet";
    let said = json(&room.good(&format!("{all} --rows 5000 --format json")));
    assert_eq!(
        (&said["verified"], said["targets"].as_array().unwrap().len()),
        (&Value::Bool(true), 1)
    );
    let program = &said["targets"][0]["programs"][0];
    assert_eq!((&program["mismatches"], &program["evidence"]), (&0.into(), &"executed".into()));
    assert_eq!(program["ns_per_prediction"], Value::Null);
    let kinds: Vec<(&str, u64)> = program["kinds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| (kind["kind"].as_str().unwrap(), kind["rows"].as_u64().unwrap()))
        .collect();
    let rows = |name| kinds.iter().find(|(kind, _)| *kind == name).unwrap().1;
    assert_eq!(rows("extreme"), 10, "{kinds:?}");
    assert!(rows("random") > 4000 && rows("split") > 50 && rows("leaf") > 10, "{kinds:?}");
    let trace = json(&room.good("inspect runs/small/trace.parquet --format json"));
    assert_eq!(Some(rows("trace")), trace["rows"].as_u64());
    assert_eq!(program["rows"].as_u64(), Some(kinds.iter().map(|(_, rows)| rows).sum()));
}

#[test]
fn the_c_header_is_built_and_timed() {
    if !has_gcc() {
        skipped("no gcc: the C header was not verified");
        return;
    }
    let room = Room::with_a_run();
    let typed = "verify runs/small/model.json --target c --rows 1000 --time \
                 --trace runs/small/trace.parquet --format json";
    let said = json(&room.good(typed));
    let programs = said["targets"][0]["programs"].as_array().unwrap();
    assert!(programs.len() >= 2, "tables and branches: {programs:?}");
    for program in programs {
        assert_eq!(program["mismatches"], 0, "{program}");
        assert!(program["ns_per_prediction"].as_f64().is_some_and(|ns| ns > 0.0), "{program}");
    }
    let text = room.good("verify runs/small/model.json --target c --rows 1000");
    assert!(text.contains("0 mismatches  tables, "), "{text}");
}

#[test]
fn what_is_printed() {
    let room = Room::new();
    room.write("model.json", MODEL);
    let said = room.dropcast("verify model.json --target dct dct --rows 10");
    assert_eq!(said.code, Some(0), "{said}");
    let version = format!("dropcast-runtime {}", env!("CARGO_PKG_VERSION"));
    insta::assert_snapshot!(said.to_string().replace(&version, "dropcast-runtime VERSION"));
}

#[test]
fn a_missing_tool_is_named_and_fails_but_not_the_other_targets() {
    let room = Room::new();
    room.write("model.json", MODEL);
    let mut command = room.command(["verify", "model.json", "--target", "c", "dct", "--rows", "9"]);
    let output = command.env("PATH", "").output().unwrap();
    let (out, err) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    assert!(
        out.contains(
            "NOT RUN: gcc or clang is not installed; on Debian: apt-get install gcc or clang"
        ),
        "{out}"
    );
    assert!(out.contains("0 mismatches  dropcast-runtime"), "{out}");
    assert_eq!(err, "error: not verified: c could not be run\n");
}

/// A compiler that changes a threshold by one before compiling.
#[test]
fn a_header_that_is_not_what_was_exported_is_caught() {
    if !has_gcc() {
        skipped("no gcc: no broken header was compiled");
        return;
    }
    let room = Room::new();
    room.write("model.json", MODEL);
    let script = "#!/bin/sh\nPATH=/usr/bin:/bin\n\
                  [ \"$1\" = --version ] || sed -i 's/<= 1500u/<= 1499u/' model.h\n\
                  exec gcc \"$@\"\n";
    room.write("bin/gcc", script);
    std::fs::set_permissions(room.path("bin/gcc"), Permissions::from_mode(0o755)).unwrap();
    let mut command = room.command(["verify", "model.json", "--target", "c", "--rows", "0"]);
    let output = command.env("PATH", room.path("bin")).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{out}");
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(err, "error: not verified: c has 1 mismatch\n", "{out}");
    let mismatch =
        "    WRONG: 1 split\n    longest_queue 1500: expected score 0 accept, got score 255 drop\n";
    assert!(out.contains(mismatch) && out.contains("0 mismatches  tables"), "{out}");
}

#[test]
fn what_no_tool_runs_is_not_verified() {
    let room = Room::new();
    room.write("model.json", MODEL);
    let said = room.dropcast("verify model.json --target p4 --rows 0");
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.stdout.contains("NOT RUN: no installable tool runs p4 exports"), "{said}");
    assert_eq!(said.stderr, "error: not verified: p4 could not be run\n");
}

#[test]
fn wrong_input_is_refused() {
    let room = Room::with_a_run();
    room.write(
        "old.csv",
        "queueLength,averageQueueLength,sharedOccupancy,averageOccupancy,drop\n0,0,0,0,0\n",
    );
    let mut transcript = String::new();
    for typed in [
        "verify runs/small/trace.parquet --target dct",
        "verify none.json --target dct",
        "verify runs/small/model.json --target dct --time",
        "verify runs/small/model.json --target dct --trace runs/small/events.parquet",
        "verify runs/small/model.json --target dct --trace -",
    ] {
        let said = room.dropcast(typed);
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
        transcript.push_str(&format!("{said}\n"));
    }
    insta::assert_snapshot!(transcript);
}
