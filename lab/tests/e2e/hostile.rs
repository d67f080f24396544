//! Settings that cannot be, pipes and claims of sizes.

use crate::room::{Room, refuse};
use std::process::Command;

#[test]
fn what_cannot_be_is_refused() {
    let room = Room::with_a_run();
    for pipe in ["pipe", "tables/fig14.svg"] {
        std::fs::create_dir_all(room.path("tables")).unwrap();
        assert!(Command::new("mkfifo").arg(room.path(pipe)).status().unwrap().success());
    }
    let mut transcript = String::new();
    for typed in [
        "simulate pipe",
        "map pipe",
        "reproduce fig14 --ports 0 -o out",
        "reproduce fig14 --bursts-per-slot -1 -o out",
        "reproduce fig14 --repetitions 0 -o out",
        "reproduce fig15 --data missing.parquet -o out",
        "reproduce fig14 -o tables",
    ] {
        transcript.push_str(&refuse(&room, typed));
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn refused_settings_leave_no_folders() {
    let room = Room::with_a_run();
    room.write("m.toml", "runs = 1\n[[grids]]\nname = 'a'\nload = [0.5]\n");
    room.write("e.toml", "policies = ['lqd', 'lqd']\n");
    let before = (room.folders(), room.files());
    for typed in [
        "map m.toml -o new/map",
        "map m.toml",
        "simulate e.toml -o new/experiment",
        "refine --model runs/small/model.json --runs 1 -o new/refined",
        "refine --model runs/small/model.json --runs 5 --labelled-runs 0 --keep kept.jsonl -o new/refined",
        "reproduce fig15 --data none.parquet -o new/fig15",
    ] {
        assert_eq!(room.dropcast(typed).code, Some(1), "{typed}");
        assert!((room.folders(), room.files()) == before, "{typed}");
    }
}

#[test]
fn what_would_take_all_memory_is_refused_first() {
    let room = Room::with_a_run();
    let incasts = "[[traffic.incasts]]\nburst = 65535\nfan_in = 4\nper_server_hz = 500.0\n";
    let grid = "[[grids]]\nname = 'a'\nload = [0.5]\n";
    let flows = "[[traffic.flows]]\nload = 0.5\n";
    room.write("burst.toml", format!("policies = ['lqd']\n{incasts}"));
    room.write("runs.toml", format!("policies = ['lqd']\n{flows}"));
    let rate = "[fabric]\nuplink_rate_bps = 9_223_372_036_854_775_807\n";
    room.write("rate.toml", format!("policies = ['lqd']\n{rate}{flows}"));
    room.write("map.toml", format!("runs = 4294967295\n{flows}{grid}"));
    for (typed, problem) in [
        ("simulate burst.toml", "burst: is 65535, expected 0 to 100"),
        ("simulate runs.toml --runs 4294967295", "runs: is 4294967295, expected 1 to 10000"),
        ("map map.toml", "runs: is 4294967295, expected at least 2 and at most 10000"),
        (
            "refine --model runs/small/model.json --runs 4294967295 -o out",
            "runs: is 4294967295, expected 1 to 10000",
        ),
        ("reproduce fig6 --runs 4294967295", "4294967295 is not in 1..=10000"),
        (
            "reproduce fig14 --slots 18446744073709551615",
            "slots: is 18446744073709551615, too many",
        ),
        (
            "reproduce fig14 --bursts-at-once --bursts-per-slot 0.9 --buffer 10000000",
            "slots: is 50000, too many to keep; give fewer",
        ),
        (
            "simulate rate.toml",
            "uplink_rate_bps: is 9223372036854775807, expected at most 10000000000000",
        ),
    ] {
        let limited =
            format!("ulimit -v 1048576 && exec {} {typed}", env!("CARGO_BIN_EXE_dropcast-lab"));
        let output =
            Command::new("sh").args(["-c", &limited]).current_dir(room.path(".")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(problem), "{typed}: {said}");
    }
}
