//! What real switches do beyond a shared buffer: pauses and marks as inputs, and what is refused.

use crate::room::Room;
use serde_json::Value;
use std::process::Command;

const SWITCH: &str = "ports = 2\nline_rate_bps = 1_000_000_000\nbuffer_bytes = 20_000\n\
                      base_rtt_ns = 50_000\nqueues_per_port = 2\n";

/// Packets of 1,000 bytes, 8 us on the wire: 9,000 of them at less than the line rates of two ports.
/// While queue 1 of port 0 is paused, its packets fill the buffer.
fn events(has_pauses: bool) -> String {
    let mut text = "time_ns,port,queue,size_bytes,kind,ecn_mark\n".to_owned();
    for i in 0..9_000_u64 {
        let time_ns = i * 5_000;
        text += &format!("{time_ns},{},{},1000,+,{}\n", i % 2, i / 2 % 2, u8::from(i % 10 == 3));
        match i % 1_000 {
            300 if has_pauses => text += &format!("{time_ns},0,1,0,pause,0\n"),
            700 if has_pauses => text += &format!("{time_ns},0,1,0,resume,0\n"),
            _ => {}
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
fn pauses_stop_virtual_lqd_and_every_replay() {
    let room = Room::new();
    room.write("leaf.toml", SWITCH);
    room.write("events.csv", events(true));
    room.write("flowing.csv", events(false));
    let collect = |events: &str, trace: &str| -> Value {
        let line = format!("collect --events {events} --switch leaf.toml -o {trace} --format json");
        serde_json::from_str(&room.good(&line)).unwrap()
    };
    let paused = collect("events.csv", "paused.parquet");
    let flowing = collect("flowing.csv", "flowing.parquet");
    assert_eq!((&flowing["drops"], &flowing["pauses"]), (&0.into(), &Value::Null));
    assert_eq!(paused["pauses"], 9);
    assert!(paused["drops"].as_u64() > Some(100), "{paused}");
    assert_eq!(paused["ecn_marks"]["packets"], 900);
    assert_eq!(paused["skipped"], serde_json::json!({}));

    // A replay's LQD knows of the pauses only from the footer of the trace.
    room.good_with_notes("train --data paused.parquet --features paper4 -o model.json");
    let report =
        room.good("report --model model.json --data paused.parquet --rows all --format json");
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["replay"]["total"]["lqd_agreement"]["share"], 1.0);
    let verdict = room.good("report --data paused.parquet --format json");
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    let sent = &verdict["policies"][0]["sent"]["packets"];
    assert_eq!(sent.as_u64(), paused["drops"].as_u64().map(|drops| 9_000 - drops));
    assert_eq!(
        (&verdict["pauses"]["pauses"], &verdict["counts"]["marked"]["packets"]),
        (&9.into(), &900.into())
    );
    let text = room.good("report --data paused.parquet --details");
    assert!(text.contains("Queues are paused (PFC) 9 times"), "{text}");
    assert!(text.contains("marks 900 packets"), "{text}");

    let error = bad(&room, "collect --events events.csv --switch leaf.toml -o paused.arrow");
    assert!(error.contains("paused.arrow: cannot hold pauses of queues"), "{error}");
    assert!(!room.files().contains_key("paused.arrow"));
    let stream = Command::new(env!("CARGO_BIN_EXE_dropcast"))
        .args("collect --events events.csv --switch leaf.toml -o -".split(' '))
        .current_dir(room.path(""))
        .output()
        .unwrap();
    let error = String::from_utf8(stream.stderr).unwrap();
    assert!(error.contains("standard output: cannot hold pauses of queues"), "{error}");
    let seen = room.good("inspect flowing.parquet");
    assert!(seen.contains("ecn_mark"), "{seen}");
}

/// 3,000 packets of 1,000 bytes in bursts of 60, for four ports.
fn bursts(place: impl Fn(u64) -> (u16, u16)) -> String {
    let mut text = "time_ns,switch_id,port,size_bytes\n".to_owned();
    for i in 0..3_000_u64 {
        let (switch_id, port) = place(i % 4);
        text += &format!("{},{switch_id},{port},1000\n", i / 60 * 500_000 + i % 60 * 100);
    }
    text
}

#[test]
fn pools_are_switches_of_their_own() {
    let room = Room::new();
    let pool =
        "ports = 2\nline_rate_bps = 1_000_000_000\nbuffer_bytes = 10_000\nbase_rtt_ns = 50_000\n";
    let switches = format!("[[switch]]\nid = 5\n{pool}[[switch]]\nid = 6\n{pool}");
    let pools = "[[pool]]\nof = 0\nports = [0, 3]\nswitch = 5\n[[pool]]\nof = 0\nports = [2, 1]\nswitch = 6\n";
    room.write("plain.toml", &switches);
    room.write("pools.toml", format!("{switches}{pools}"));
    room.write("whole.csv", bursts(|port| (0, port as u16)));
    room.write("parts.csv", bursts(|port| [(5, 0), (6, 1), (6, 0), (5, 1)][port as usize]));
    room.good("collect --events whole.csv --switch pools.toml -o whole.parquet");
    room.good("collect --events parts.csv --switch plain.toml -o parts.parquet");
    let verdict = |trace: &str| -> Value {
        let text = room.good(&format!("report --data {trace} --format json"));
        let mut verdict: Value = serde_json::from_str(&text).unwrap();
        verdict["traces"] = Value::Null;
        verdict
    };
    let whole = verdict("whole.parquet");
    assert_eq!(whole, verdict("parts.parquet"));
    assert!(whole["dropped"]["packets"].as_u64() > Some(0), "{whole}");

    for (wrong, says) in [
        ("ports = [0, 3, 1]", "pool: switch 5 has 2 ports, but 3 ports of switch 0 are listed"),
        ("ports = [0, 2]", "pool: port 2 of switch 0 is in pools 5 and 6"),
    ] {
        let text = format!("{switches}{}", pools.replace("ports = [0, 3]", wrong));
        room.write("wrong.toml", text);
        let error = bad(&room, "collect --events whole.csv --switch wrong.toml -o t.parquet");
        assert!(error.contains(says), "{error}");
    }
    // Switch 0 has no port that is in no pool.
    let divided = pool.replace("ports = 2", "ports = 4");
    room.write("wrong.toml", format!("[[switch]]\nid = 0\n{divided}{switches}{pools}"));
    let error = bad(&room, "collect --events whole.csv --switch wrong.toml -o t.parquet");
    assert!(error.contains("pool: all ports of switch 0 are in pools; remove"), "{error}");
    let three = pool.replace("ports = 2", "ports = 3");
    room.write("wrong.toml", format!("[[switch]]\nid = 0\n{three}{switches}{pools}"));
    let error = bad(&room, "collect --events whole.csv --switch wrong.toml -o t.parquet");
    let says = "pool: switch 0 has 3 ports, from 0, so there is no port 3";
    assert!(error.contains(says), "{error}");
    let error = bad(&room, "collect --events parts.csv --switch pools.toml -o t.parquet");
    let says = "switch_id is 5, expected a switch of the input, not the number of a [[pool]]";
    assert!(error.contains(says), "{error}");
}

#[test]
fn reserved_bytes_are_safe_from_other_queues() {
    let room = Room::new();
    let spec = "ports = 4\nline_rate_bps = 1_000_000_000\nbase_rtt_ns = 50_000\n";
    room.write("plain.toml", format!("{spec}buffer_bytes = 20_000\n"));
    room.write("reserved.toml", format!("{spec}buffer_bytes = 12_000\nreserved_bytes = 2_000\n"));
    // Three of four packets are for port 0.
    room.write("events.csv", bursts(|of_four| (0, if of_four == 3 { 1 } else { 0 })));
    let collect = |switch: &str| -> Value {
        let line = format!("collect --events events.csv --switch {switch}.toml --features paper4");
        let text = room.good(&format!("{line} -o {switch}.parquet --format json"));
        serde_json::from_str(&text).unwrap()
    };
    let (plain, reserved) = (collect("plain"), collect("reserved"));
    // Of the same 20,000 bytes, 4,000 wait for the two queues that get nothing.
    assert!(reserved["drops"].as_u64() > plain["drops"].as_u64(), "{plain} {reserved}");
    room.good_with_notes("train --data reserved.parquet --features paper4 -o model.json");
    let report = "report --model model.json --data reserved.parquet --rows all --format json";
    let report: Value = serde_json::from_str(&room.good(report)).unwrap();
    assert_eq!(report["replay"]["total"]["lqd_agreement"]["share"], 1.0);
    room.good_with_notes(
        "export model.json --target c cpp dct ebpf verilog --switch reserved.toml -o tables",
    );
}

#[test]
fn what_is_not_modelled_is_refused_by_name() {
    let room = Room::new();
    room.write("events.csv", events(false));
    for (key, says) in [
        ("headroom_bytes = 1000", "headroom_bytes is not modelled: headroom holds what senders"),
        ("pfc = true", "pfc is not modelled: this switch pauses nobody"),
        ("ingress_pools = 2", "ingress_pools is not modelled"),
        ("cut_through = true", "cut_through is not modelled"),
        ("buffer_byte = 1", "unknown field `buffer_byte`"),
    ] {
        room.write("leaf.toml", format!("{SWITCH}{key}\n"));
        let error = bad(&room, "collect --events events.csv --switch leaf.toml -o t.parquet");
        assert!(error.contains(says) && error.contains("leaf.toml"), "{error}");
    }
}
