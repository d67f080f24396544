//! What counters and watermarks show.

use crate::room::Room;
use std::process::Command;

const LEAF: &str = "\
ports = 2
line_rate_bps = 10_000_000_000
buffer_bytes = 8_000_000
base_rtt_ns = 32_000
queues_per_port = 2
dt_alpha = 0.25
";

const TABLE: &str = "\
time,port,queue,sent_bytes,dropped_packets,dropped_bytes,watermark_bytes,pool_watermark_bytes
2026-11-24T13:00:00Z,0,0,1000,0,0,0,0
2026-11-24T13:00:00Z,0,1,0,0,0,0,0
2026-11-24T13:00:00Z,1,0,0,0,0,0,0
2026-11-24T13:00:00Z,1,1,5000,7,10500,0,0
2026-11-24T13:05:00Z,0,0,60000001000,0,0,900000,2480000
2026-11-24T13:05:00Z,0,1,0,0,0,0,2480000
2026-11-24T13:05:00Z,1,0,0,0,0,0,2480000
2026-11-24T13:05:00Z,1,1,90000005000,DROPS,2000000,2480000
";

/// As sonic-utilities prints them, with thousands in groups.
const SCREENS: &str = "\
2026-11-24T13:00:00Z
     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet4    UC0               0                0            0             0
Ethernet4    UC1             N/A              N/A          N/A           N/A

     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet0    UC0              10            1,000            0             0
Ethernet0    MC0               0                0            0             0

2026-11-24T13:05:00Z
     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet4    UC0      60,000,000   90,000,000,000        1,000     1,500,000
Ethernet0    UC0      50,000,010   60,000,001,000            0             0
Ethernet0    MC0               0                0            0             0
Egress shared pool occupancy per unicast queue:
     Port    UC0    UC1
---------  -----  -----
Ethernet0  90000      0
Ethernet4  WMARK    N/A

Shared pool maximum occupancy:
                 Pool    Bytes
---------------------  -------
    egress_lossy_pool  POOL
 egress_lossless_pool        0
ingress_lossless_pool      100
";

fn room(file: &str) -> Room {
    let room = Room::new();
    room.write("leaf.toml", LEAF);
    room.write("counters", file);
    room
}

fn said_of(leaf: &str, file: &str, more: &str) -> crate::room::Said {
    let room = room(file);
    room.write("leaf.toml", leaf);
    room.dropcast(&format!("counters counters --switch leaf.toml {more}"))
}

fn said(file: &str, more: &str) -> crate::room::Said {
    room(file).dropcast(&format!("counters counters --switch leaf.toml {more}"))
}

#[test]
fn counters_show_what_is_certain() {
    let none = said(&TABLE.replace("DROPS", "7,10500"), "");
    let few = said(&TABLE.replace("DROPS", "1007,1510500"), "");
    let many = said(&TABLE.replace("DROPS", "9007,13510500"), "");
    let screens = SCREENS.replace("WMARK", "3200000").replace("POOL", "4600000");
    let shown = said_of(
        &LEAF.replace("queues_per_port = 2", "queues_per_port = 1"),
        &screens,
        "--pool egress_lossy_pool",
    );
    let other = {
        let room = room(&TABLE.replace("DROPS", "1007,1510500"));
        room.write("leaf.toml", LEAF.replace("0.25", "1.0"));
        room.dropcast("counters counters --switch leaf.toml")
    };
    for said in [&none, &few, &many, &shown, &other] {
        assert_eq!(said.code, Some(0), "{said}");
    }
    assert!(
        few.stdout
            .contains("Alpha 1 (dynamic_th 0) for all queues would have dropped none of them"),
        "{few}"
    );
    assert!(
        none.stdout.starts_with("Nothing was dropped, and the pool peaked at 31.0% of its size"),
        "{none}"
    );
    insta::assert_snapshot!(format!("{none}{few}{many}{shown}{other}"));
    let json = said(&TABLE.replace("DROPS", "1007,1510500"), "--format json");
    insta::assert_snapshot!("counters_json", json.stdout);
}

/// A table of three queues, polled every 5 minutes, in which `cells` is what they sent and dropped at each poll.
fn table(cells: &[&str]) -> String {
    let mut table = "time_ns,port,queue,sent_bytes,dropped_packets,watermark_bytes\n".to_owned();
    for (poll, cells) in cells.iter().enumerate() {
        for (queue, cell) in cells.split(' ').enumerate().filter(|(_, cell)| *cell != "-") {
            table += &format!("{},{},{},{cell},1000\n", poll * 300_000_000, queue / 2, queue % 2);
        }
    }
    table
}

/// Nothing is concluded from what is missing: it is said.
#[test]
fn what_is_missing_from_counters_is_stated() {
    let whole =
        ["0,0 0,0 0,0 0,0", "9,0 9,0 9,0 9,0", "20,0 20,0 20,0 20,0", "30,0 30,0 30,0 30,0"];
    let with = |at: usize, cells: &'static str| {
        let mut polls = whole;
        polls[at] = cells;
        table(&polls)
    };
    let long = table(&whole).replace(&format!("\n{},", 3 * 300_000_000), "\n1500000000,");
    let said_all = [
        table(&whole),
        with(3, "30,0 30,0 30,0 -"),
        with(1, "9,0 9,0 - -"),
        table(&["0,0 0,0 - -", "9,0 9,0 - -", "20,0 20,0 - -"]),
        with(3, "3,0 3,0 3,0 3,0"),
        long,
    ]
    .map(|file| (said(&file, ""), said(&file, "--format json")));
    let mut transcript = String::new();
    for (number, (text, json)) in said_all.iter().enumerate() {
        assert_eq!((text.code, json.code), (Some(0), Some(0)), "{text}{json}");
        let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
        let is_whole = number == 0;
        let kind = if is_whole { "nothing_dropped" } else { "nothing_counted" };
        assert_eq!(json["conclusion"]["kind"], kind, "{text}");
        assert_eq!(text.stdout.contains("Nothing was dropped"), is_whole, "{text}");
        assert_eq!(json["dropped_packets"]["at_most"].is_null(), !is_whole, "{text}");
        transcript += &text.to_string();
    }
    insta::assert_snapshot!(transcript);
}

/// Packets that a switch cuts to their headers are losses.
#[test]
fn trimmed_packets_are_losses() {
    let table = TABLE.replace("DROPS", "7,10500");
    let mut lines: Vec<String> = table.lines().map(str::to_owned).collect();
    for (number, line) in lines.iter_mut().enumerate() {
        *line += match number {
            0 => ",trimmed_packets",
            8 => ",300",
            _ => ",0",
        };
    }
    let trimmed = said(&(lines.join("\n") + "\n"), "");
    assert!(
        trimmed.stdout.contains("trimmed to their headers for want of room: 300 packets"),
        "{trimmed}"
    );
    // The screens that have all counters, and those of trimming alone.
    let screens = SCREENS.replace("WMARK", "3200000").replace("POOL", "4600000");
    let lines = screens.lines().map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        ["Port", "TxQ", ..] => format!("{line}    Trim/pkts    TrimSent/pkts    TrimDrop/pkts"),
        ["Ethernet4", "UC0", _, "90,000,000,000", ..] => format!("{line}  5,000 4,000 1,000"),
        [_, _, _, _, _, "N/A"] => format!("{line}  N/A N/A N/A"),
        [port, _, _, _, _, _] if port.starts_with('E') => format!("{line}  0 0 0"),
        _ => line.to_owned(),
    });
    let all: String = lines.map(|line| line + "\n").collect();
    let alone = screens.replace(
        "Egress shared pool",
        "     Port    TxQ    Trim/pkts    TrimSent/pkts    TrimDrop/pkts\nEthernet4    UC0    5,000    4,000    1,000\n\
         Egress shared pool",
    );
    let leaf = LEAF.replace("queues_per_port = 2", "queues_per_port = 1");
    for (file, is_known) in [(all, true), (alone, false)] {
        let said = said_of(&leaf, &file, "--pool egress_lossy_pool --format json");
        let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        let most = if is_known { 5_000.into() } else { serde_json::Value::Null };
        assert_eq!(json["trimmed_packets"]["at_most"], most, "{said}");
        assert_eq!(json["coverage"]["intervals_covered"], i32::from(is_known), "{said}");
    }
}

/// Memory follows the rows, also where each has its own time, and few queues come often.
#[test]
fn rows_with_a_time_each_take_the_memory_of_rows() {
    let ports = 1_024;
    let room = Room::new();
    room.write("leaf.toml", LEAF.replace("ports = 2", &format!("ports = {ports}")));
    for is_sparse in [false, true] {
        let mut table = "time_ns,port,queue,sent_bytes,dropped_packets\n".to_owned();
        for row in 0..300_000_u64 {
            let place = if is_sparse { row * row * 7 + row } else { row };
            let (port, queue) = (place / 2 % ports, place % 2);
            table += &format!("{},{port},{queue},{row},0\n", 1_000 * row);
        }
        room.write("counters.csv", table);
        // Of virtual memory, with the program's own.
        let limited = format!(
            "ulimit -v 524288 && exec {} counters counters.csv --switch leaf.toml",
            env!("CARGO_BIN_EXE_dropcast")
        );
        let output = Command::new("sh").args(["-c", &limited]).current_dir(room.path("")).output();
        let output = output.unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert!(output.stdout.starts_with(b"No drop was counted"), "{is_sparse}");
    }
}

#[test]
fn what_is_wrong_with_counters_is_reported() {
    let screens = SCREENS.replace("WMARK", "3200000").replace("POOL", "4600000");
    let mut transcript = String::new();
    for (file, more) in [
        (TABLE.to_owned(), ""),
        (TABLE.replace("DROPS", "7,1").replace("sent_bytes", "sent"), ""),
        (TABLE.replace("DROPS", "7,1").replace("pool_watermark_bytes", "pool"), ""),
        (TABLE.replace("DROPS", "7,1").replace("13:05", "12:05"), ""),
        (TABLE.replace("DROPS", "7,1").replace("dropped_bytes", "trimmed"), ""),
        (TABLE.replace("DROPS", "7,1").replace("00Z,1,1", "00Z,2,1"), ""),
        (TABLE.replace("DROPS", "7,1").replace("00Z,1,1", "00Z,0,0"), ""),
        (TABLE.replace("DROPS", "7,1"), "--pool egress_lossy_pool"),
        (screens.clone(), ""),
        (screens[..screens.find("Shared").unwrap()].to_owned(), "--pool egress_lossy_pool"),
        (screens.replace("Ethernet4", "Ethernet0"), "--pool egress_lossy_pool"),
        (screens.replace("1,000 ", "many"), "--pool egress_lossy_pool"),
        (screens.replacen("2026-11-24T13:00:00Z", "", 1), "--pool egress_lossy_pool"),
        ("PING leaf3\n".to_owned(), ""),
        (String::new(), ""),
    ] {
        let said = said(&file, more);
        assert_eq!(said.code, Some(1), "{said}");
        transcript += &said.stderr;
    }
    insta::assert_snapshot!(transcript);
}

/// Whatever a file claims, sums do not overflow, and memory is not taken for it.
#[test]
fn huge_counters_are_no_defect() {
    let most = u64::MAX;
    let table = TABLE
        .replace("DROPS", &format!("{most},{most}"))
        .replace("60000001000", &most.to_string())
        .replace("90000005000", &most.to_string())
        .replace("2000000,2480000", &format!("{most},{most}"));
    let room = room(&table);
    let printed = room.good("counters counters --switch leaf.toml");
    assert!(printed.contains("caution: The pool's watermark is"), "{printed}");
    let said = room.dropcast("counters counters --switch leaf.toml --arrivals events.parquet");
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.stderr.contains("more than 4194304 packets between two polls"), "{said}");
    assert!(!room.path("events.parquet").exists());
}

/// Telemetry of 100 us becomes events that are labelled and replayed.
#[test]
fn telemetry_becomes_arrivals() {
    let room = Room::new();
    room.write("leaf.toml", LEAF.replace("8_000_000", "100_000"));
    let mut table =
        "time_ns,port,queue,sent_bytes,sent_packets,dropped_packets,dropped_bytes,queue_bytes\n"
            .to_owned();
    // A burst of 300 packets of 1,000 bytes for port 0 in the second interval: 125 are sent in each while it lasts.
    for (poll, [sent, dropped, queue]) in
        [[0, 0, 0], [0, 0, 0], [125, 100, 75], [200, 100, 0], [200, 100, 0]].into_iter().enumerate()
    {
        let time_ns = 1_000_000 + 100_000 * poll;
        table += &format!("{time_ns},0,0,{}000,{sent},{dropped},{dropped}000,{queue}000\n", sent);
        table += &format!("{time_ns},1,0,0,0,0,0,0\n");
    }
    room.write("telemetry.csv", &table);
    room.good_with_notes("counters telemetry.csv --switch leaf.toml --arrivals events.parquet");
    let said = room.good("collect --events events.parquet -o trace.parquet");
    assert!(said.contains("300 arrivals, LQD drops"), "{said}");
    room.good("report --data trace.parquet");
    // A single poll has nothing between polls.
    let one: String = table.lines().take(3).map(|line| format!("{line}\n")).collect();
    room.write("telemetry.csv", one);
    let said = room.dropcast("counters telemetry.csv --switch leaf.toml --arrivals other.parquet");
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.stderr.contains("has no two polls") && !room.path("other.parquet").exists());
}
