//! Reports of dropped packets beside captures (docs/drops.md): files, folders and whole runs.

use crate::room::Room;
use serde_json::Value;

const LEAF: &str = "
ports = 2
line_rate_bps = 1_000_000_000
buffer_bytes = 60_000
base_rtt_ns = 100_000
wire_overhead_bytes = 24

[[capture.port]]
port = 0
destination_ip = '10.0.0.0/24'

[[capture.port]]
port = 1
destination_ip = '10.0.1.0/24'
";

const START_NS: u64 = 1_767_261_600_000_000_000;
const PACKETS: u64 = 400;
const HOUR_NS: u64 = 3_600_000_000_000;

fn time_ns(hour: u64, i: u64) -> u64 {
    START_NS + hour * HOUR_NS + i / 2 * 12_000
}

/// Whom a packet is for: 10.0.PORT.1.
fn port(i: u64) -> u64 {
    u64::from(i % 8 == 7)
}

/// A capture of a burst of two senders.
fn burst(hour: u64) -> Vec<u8> {
    let word = |number: u64| (number as u32).to_le_bytes();
    let mut bytes: Vec<u8> = [0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, 1].map(word).concat();
    for i in 0..PACKETS {
        let time_ns = time_ns(hour, i);
        bytes.extend(
            [time_ns / 1_000_000_000, time_ns % 1_000_000_000, 60, 1_514].map(word).concat(),
        );
        bytes.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 5, 0xdc]);
        bytes.extend((i as u16 + 1).to_be_bytes());
        bytes.extend([0, 0, 64, 17, 0, 0, 10, 0, 9, (i % 2) as u8, 10, 0, port(i) as u8, 1]);
        bytes.extend([0, 7, 0, 9, 5, 0xc8, 0, 0]);
        bytes.extend([0; 60 - 42]);
    }
    bytes
}

const HEADER: &str =
    "time_ns,source_ip,destination_ip,protocol,source_port,destination_port,ip_id,reason,port\n";

/// Of every tenth packet of the later half.
fn reports(hour: u64) -> String {
    let row = |i: u64| {
        let (time_ns, port, id) = (time_ns(hour, i) + 1_000, port(i), i + 1);
        format!("{time_ns},10.0.9.{},10.0.{port}.1,udp,7,9,{id},tail drop,{port}\n", i % 2)
    };
    (PACKETS / 2..PACKETS).filter(|i| i % 10 == 0).map(row).collect()
}

fn room() -> Room {
    let room = Room::new();
    room.write("leaf.toml", LEAF);
    room.write("burst.pcap", burst(0));
    room.write("drops.csv", HEADER.to_owned() + &reports(0));
    room
}

#[test]
fn a_run_knows_the_real_drops() {
    let room = room();
    let given = "--events burst.pcap --switch leaf.toml --drops drops.csv";
    let said = room.dropcast(&format!("run {given} --name real"));
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.stderr.contains("drop reports: 20 of packets that the buffer dropped"), "{said}");
    // The trace is that of `collect`, and the run can be repeated.
    let said = room.good_with_notes(&format!("collect {given} -o trace.parquet"));
    assert!(said.contains("the real switch dropped 20;"), "{said}");
    assert!(room.read("runs/real/trace.parquet") == room.read("trace.parquet"));
    let config = String::from_utf8(room.read("runs/real/config.toml")).unwrap();
    assert!(config.contains("drops = [\"drops.csv\"]\ndrop_window_ms = 1000\n"), "{config}");
    room.good_with_notes("run --config runs/real/config.toml --name again");
    assert!(room.read("runs/again/trace.parquet") == room.read("trace.parquet"));
    // What is said beside the file takes precedence.
    room.write("none.csv", HEADER);
    room.good_with_notes(
        "run --config runs/real/config.toml --name none --drops none.csv --drop-window-ms 7",
    );
    let config = String::from_utf8(room.read("runs/none/config.toml")).unwrap();
    assert!(config.contains("drops = [\"none.csv\"]\ndrop_window_ms = 7\n"), "{config}");

    let whole = room.read("burst.pcap");
    room.write("cut.pcap", &whole[..whole.len() - 7]);
    room.write("bad.csv", format!("{HEADER}{}1,2,3,udp,7,9,1,acl,0\n", reports(0)));
    let damaged = "run --events cut.pcap --switch leaf.toml --drops bad.csv --name cut";
    let mut transcript = String::new();
    for typed in [
        format!("{damaged} --on-bad-row skip"),
        damaged.to_owned(),
        "run --drops drops.csv --name x".to_owned(),
        "run --on-bad-row skip --name x".to_owned(),
        "run --events burst.pcap --switch leaf.toml --drop-window-ms 5 --name x".to_owned(),
        format!("run {given} --drop-window-ms 3600001 --name x"),
        "run --events burst.pcap --switch leaf.toml --drops - --name x".to_owned(),
        "run --events burst.pcap --switch leaf.toml --drops burst.pcap --name x".to_owned(),
        "collect --events burst.pcap --switch leaf.toml --drops drops.csv -o drops.csv".to_owned(),
    ] {
        let said = room.dropcast(&typed);
        let tail: Vec<&str> = said.stderr.lines().collect();
        transcript.push_str(&format!("$ dropcast {typed}\n{}\n\n", tail.join("\n")));
        let is_good = typed.starts_with(damaged) && typed.ends_with("--on-bad-row skip");
        assert_eq!(said.code, Some(i32::from(!is_good)), "{said}");
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn a_folder_of_captures_shares_its_reports() {
    let room = room();
    for hour in [0, 2] {
        room.write(&format!("day/hour={hour}/port.pcap"), burst(hour));
    }
    // Of an hour without a capture, too.
    room.write("day.csv", HEADER.to_owned() + &reports(0) + &reports(1) + &reports(2));
    let collect = "collect --events day --switch leaf.toml --drops day.csv -o traces --format json";
    let collected: Value = serde_json::from_str(&room.good_with_notes(collect)).unwrap();
    assert_eq!(
        (&collected["labelled"], &collected["real_drops"]["packets"]),
        (&2.into(), &40.into())
    );
    assert_eq!(collected["skipped"], serde_json::json!({"other-time-report": 20}));
    let inputs = |hour: u64| {
        let manifest: Value = serde_json::from_slice(&room.read("traces/manifest.json")).unwrap();
        manifest["folders"][format!("hour={hour}")]["inputs"].clone()
    };
    assert_eq!(inputs(2)[1]["events"], 20);
    assert_eq!(inputs(2)[1]["skipped"], serde_json::json!({"other-time-report": 40}));
    // A run alone has the same drops.
    let alone =
        "collect --events day/hour=2/port.pcap --switch leaf.toml --drops day.csv -o x.parquet";
    assert!(room.good_with_notes(alone).contains("the real switch dropped 20;"));
    // What has not changed is kept; other reports are another job.
    let collected: Value = serde_json::from_str(&room.good_with_notes(collect)).unwrap();
    assert_eq!((&collected["labelled"], &collected["kept"]), (&0.into(), &2.into()));
    assert_eq!(collected["skipped"], serde_json::json!({"other-time-report": 20}));
    room.write("day.csv", HEADER.to_owned() + &reports(0) + &reports(2));
    let collected: Value = serde_json::from_str(&room.good_with_notes(collect)).unwrap();
    assert_eq!(
        (&collected["labelled"], &collected["skipped"]),
        (&2.into(), &serde_json::json!({}))
    );
    let verdict = room.good_with_notes("report --data traces --details");
    assert!(verdict.contains("The real switch drops 40 packets"), "{verdict}");

    // Reports do not say which of two switches dropped.
    room.write("day/switch=3/port.pcap", burst(4));
    let said = room.dropcast(collect);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.stderr.contains("day: holds packets of several switches"), "{said}");
}
