//! What real switches do beyond a shared buffer: pauses and marks as inputs, and what is refused.

use crate::room::Room;
use serde_json::Value;

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
    room.write("events.csv", &events(true));
    room.write("flowing.csv", &events(false));
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
    room.good("train paused.parquet --features paper4 -o model.json");
    let report =
        room.good("report --model model.json --data paused.parquet --rows all --format json");
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["replay"]["total"]["lqd_agreement"]["share"], 1.0);
    let verdict = room.good("report --data paused.parquet --format json");
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    let sent = &verdict["policies"][0]["sent"]["packets"];
    assert_eq!(sent.as_u64(), paused["drops"].as_u64().map(|drops| 9_000 - drops));

    let error = bad(&room, "collect --events events.csv --switch leaf.toml -o paused.arrow");
    assert!(error.contains("paused.arrow: cannot hold pauses of queues"), "{error}");
    assert!(!room.files().contains_key("paused.arrow"));
    let seen = room.good("inspect flowing.parquet");
    assert!(seen.contains("ecn_mark"), "{seen}");
}

#[test]
fn what_is_not_modelled_is_refused_by_name() {
    let room = Room::new();
    room.write("events.csv", &events(false));
    for (key, says) in [
        ("headroom_bytes = 1000", "headroom_bytes is not modelled: headroom holds what senders"),
        ("pfc = true", "pfc is not modelled: this switch pauses nobody"),
        ("ingress_pools = 2", "ingress_pools is not modelled"),
        ("cut_through = true", "cut_through is not modelled"),
        ("buffer_byte = 1", "unknown field `buffer_byte`"),
    ] {
        room.write("leaf.toml", &format!("{SWITCH}{key}\n"));
        let error = bad(&room, "collect --events events.csv --switch leaf.toml -o t.parquet");
        assert!(error.contains(says) && error.contains("leaf.toml"), "{error}");
    }
}
