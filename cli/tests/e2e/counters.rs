//! What counters and watermarks tell.

use crate::room::Room;

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
2026-11-24T13:00:00Z,1,1,5000,7,10500,0,0
2026-11-24T13:05:00Z,0,0,60000001000,0,0,900000,2480000
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

fn said(file: &str, more: &str) -> crate::room::Said {
    room(file).dropcast(&format!("counters counters --switch leaf.toml {more}"))
}

#[test]
fn counters_tell_what_is_certain() {
    let none = said(&TABLE.replace("DROPS", "7,10500"), "");
    let few = said(&TABLE.replace("DROPS", "1007,1510500"), "");
    let many = said(&TABLE.replace("DROPS", "9007,13510500"), "");
    let screens = SCREENS.replace("WMARK", "3200000").replace("POOL", "4600000");
    let shown = said(&screens, "--pool egress_lossy_pool");
    let other = {
        let room = room(&TABLE.replace("DROPS", "1007,1510500"));
        room.write("leaf.toml", LEAF.replace("0.25", "1.0"));
        room.dropcast("counters counters --switch leaf.toml")
    };
    for said in [&none, &few, &many, &shown, &other] {
        assert_eq!(said.code, Some(0), "{said}");
    }
    assert!(few.stdout.contains("Alpha 1 for all queues would have dropped none of them"), "{few}");
    assert!(
        none.stdout.starts_with("Nothing was dropped, and the pool peaked at 31.0% of its size"),
        "{none}"
    );
    insta::assert_snapshot!(format!("{none}{few}{many}{shown}{other}"));
    let json = said(&TABLE.replace("DROPS", "1007,1510500"), "--format json");
    insta::assert_snapshot!("counters_json", json.stdout);
}

#[test]
fn what_is_wrong_with_counters_is_told() {
    let screens = SCREENS.replace("WMARK", "3200000").replace("POOL", "4600000");
    let mut transcript = String::new();
    for (file, more) in [
        (TABLE.to_owned(), ""),
        (TABLE.replace("DROPS", "7,1").replace("sent_bytes", "sent"), ""),
        (TABLE.replace("DROPS", "7,1").replace("pool_watermark_bytes", "pool"), ""),
        (TABLE.replace("DROPS", "7,1").replace("13:05", "12:05"), ""),
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
    let told = room.good("counters counters --switch leaf.toml");
    assert!(told.contains("caution: The pool's watermark is"), "{told}");
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
