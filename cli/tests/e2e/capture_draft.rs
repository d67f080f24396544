//! Switch descriptions drafted from captures.

use crate::room::Room;
use crate::switch_draft::CONFIG;

/// Captured bytes of a packet of UDP from 10.0.A.B to 10.0.C.D, 1,500 on the wire.
fn packet(from: [u8; 2], to: [u8; 2]) -> Vec<u8> {
    let ethernet = [2, 0, 0, 0, to[0], to[1], 2, 0, 0, 0, from[0], from[1], 8, 0];
    let ip =
        [0x45, 0, 5, 0xce, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, from[0], from[1], 10, 0, to[0], to[1]];
    let udp = [1, 0, 7, 0, 5, 0xba, 0, 0];
    ethernet.into_iter().chain(ip).chain(udp).collect()
}

/// A time in ns since 2026, a sender and a receiver.
type Sent = (u32, [u8; 2], [u8; 2]);

const YEAR_2026_S: u32 = 1_767_225_600;

/// A capture with times in nanoseconds.
fn pcap(sent: &[Sent]) -> Vec<u8> {
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut bytes = words(&[0xa1b2_3c4d, 0x0004_0002, 0, 0, 96, 1]);
    for &(time_ns, from, to) in sent {
        let captured = packet(from, to);
        bytes.extend(words(&[YEAR_2026_S, time_ns, captured.len() as u32, 1_500]));
        bytes.extend(captured);
    }
    bytes
}

/// A capture of two interfaces; times are microseconds there.
fn pcapng(sent: &[(u32, Sent)]) -> Vec<u8> {
    let block = |kind: u32, body: Vec<u8>| {
        let length = (body.len().next_multiple_of(4) + 12) as u32;
        let mut bytes = [kind.to_le_bytes(), length.to_le_bytes()].concat();
        bytes.extend(&body);
        bytes.resize(length as usize - 4, 0);
        bytes.extend(length.to_le_bytes());
        bytes
    };
    let mut section = [0x1a2b_3c4d_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat();
    section.extend([0xff; 8]);
    let interface = [1_u32.to_le_bytes(), 96_u32.to_le_bytes()].concat();
    let mut bytes =
        [block(0x0a0d_0d0a, section), block(1, interface.clone()), block(1, interface)].concat();
    for &(interface, (time_ns, from, to)) in sent {
        let captured = packet(from, to);
        let time_us = u64::from(YEAR_2026_S) * 1_000_000 + u64::from(time_ns / 1_000);
        let words =
            [interface, (time_us >> 32) as u32, time_us as u32, captured.len() as u32, 1_500];
        let mut body: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        body.extend(captured);
        bytes.extend(block(6, body));
    }
    bytes
}

/// Packets of two senders to one receiver, faster than its port.
fn burst(from: u32, senders: [[u8; 2]; 2], to: [u8; 2]) -> Vec<Sent> {
    (0..60).map(|i| (from + i * 6_000, senders[i as usize % 2], to)).collect()
}

const GIVEN: &str = "--base-rtt-ns 100000 --rate-bps 1000000000 --buffer-bytes 30000";

/// What is drafted can be used at once.
fn used(room: &Room, captures: &str, given: &str, arrivals: &str) -> String {
    let said = room.dropcast(format!("switch {captures} {GIVEN} {given}").trim_end());
    assert_eq!(said.code, Some(0), "{said}");
    let saved = room.dropcast(&format!("switch {captures} {GIVEN} {given} -o drafted.toml"));
    assert_eq!(
        (saved.code, saved.stdout.as_str(), &saved.stderr),
        (Some(0), "", &said.stderr),
        "{saved}"
    );
    assert_eq!(String::from_utf8(room.read("drafted.toml")).expect("text"), said.stdout);
    let collected = room
        .dropcast(&format!("collect --events {captures} --switch drafted.toml -o drafted.parquet"));
    assert_eq!(collected.code, Some(0), "{collected}");
    assert!(collected.stdout.contains(arrivals), "{collected}");
    format!("{said}\n")
}

#[test]
fn captures_become_a_description_that_can_be_used() {
    let room = Room::new();
    let (one, other, third) = ([1, 1], [2, 1], [3, 1]);
    // Each of what leaves at a port.
    room.write("out/port9.pcap", pcap(&burst(0, [other, third], one)));
    room.write("out/port10.pcap", pcap(&burst(9_000, [one, third], other)));
    let mut transcript =
        used(&room, "out/port9.pcap out/port10.pcap", "--dt-alpha 8", "120 arrivals, LQD drops ");
    assert!(
        String::from_utf8(room.read("drafted.toml")).expect("text").contains("\ndt_alpha = 8.0\n")
    );
    // Each of what comes in: hosts of a subnet are where one of them sends.
    let to_hosts = |from: [u8; 2], start: u32| -> Vec<Sent> {
        let hosts = [one, other, third, [3, 7]];
        let hosts: Vec<[u8; 2]> = hosts.into_iter().filter(|host| host[0] != from[0]).collect();
        (0..60).map(|i| (start + i * 12_000, from, hosts[i as usize / 4 % hosts.len()])).collect()
    };
    for (at, from) in [one, other, third].into_iter().enumerate() {
        room.write(&format!("in{at}.pcap"), pcap(&to_hosts(from, at as u32 * 100)));
    }
    transcript += &used(&room, "in*.pcap", "", "180 arrivals");
    // One of everything, with both directions; also as parts that follow each other.
    let mut all = to_hosts(one, 0);
    all.extend(to_hosts(other, 10));
    all.sort_unstable();
    room.write("all.pcap", pcap(&all));
    transcript += &used(&room, "all.pcap", "", "120 arrivals");
    room.write("parts/all_1.pcap", pcap(&all[..60]));
    room.write("parts/all_2.pcap", pcap(&all[60..]));
    transcript +=
        &used(&room, "parts/all_1.pcap parts/all_2.pcap", "--port-per destination", "120 arrivals");
    // Each interface is a port.
    let both: Vec<(u32, Sent)> =
        burst(0, [other, third], one).into_iter().map(|sent| (0, sent)).collect();
    let more = burst(400_000, [one, third], other).into_iter().map(|sent| (1, sent));
    room.write("two.pcapng", pcapng(&both.into_iter().chain(more).collect::<Vec<_>>()));
    transcript += &used(&room, "two.pcapng", "", "120 arrivals");
    // A folder, as collect takes it: two days of the same links.
    for day in ["2026-01-01", "2026-01-02"] {
        for name in ["port9.pcap", "port10.pcap"] {
            room.write(&format!("days/{day}/{name}"), room.read(&format!("out/{name}")));
        }
    }
    room.write("days/2026-01-01/notes.txt", "the rack was moved at noon\n");
    let said = room.dropcast(&format!("switch days {GIVEN} -o days.toml"));
    assert_eq!(said.code, Some(0), "{said}");
    let collected =
        room.dropcast("collect --events days --switch days.toml --on-bad-row skip -o traces");
    assert!(collected.stdout.contains("2 traces, 240 arrivals"), "{collected}");
    transcript += &said.to_string();
    insta::assert_snapshot!(transcript);
}

/// The packets that the readers are tested with.
#[test]
fn captures_of_every_kind_are_read() {
    let room = Room::new();
    let corpus =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../dev/fuzz/corpus/capture");
    let mut drafted = 0;
    for entry in std::fs::read_dir(corpus).expect("a corpus") {
        let path = entry.expect("an entry").path();
        room.write("x.pcap", std::fs::read(path).expect("a capture"));
        for per in ["capture", "interface", "destination"] {
            let said = room.dropcast(&format!("switch x.pcap {GIVEN} --port-per {per} -o x.toml"));
            assert!(matches!(said.code, Some(0 | 1)), "{said}");
            if said.code == Some(0) {
                drafted += 1;
                room.good_with_notes(
                    "collect --events x.pcap --switch x.toml --on-bad-row skip -o x.parquet",
                );
            } else {
                assert!(said.stderr.starts_with("error: x.pcap: "), "{said}");
            }
        }
    }
    assert!(drafted > 6, "{drafted}");
}

/// tcpdump was killed while it wrote a packet: what came before is used, and noted.
#[test]
fn what_a_cut_capture_holds_is_drafted_and_shown() {
    let room = Room::new();
    let sent = burst(0, [[2, 1], [3, 1]], [1, 1]);
    let whole = pcap(&sent);
    room.write("a.pcap", &whole[..whole.len() - 7]);
    room.write("b.pcap", pcap(&burst(0, [[1, 1], [3, 1]], [2, 1])));
    let before = sent.len() - 1;
    let draft = room.good_with_notes(&format!("switch a.pcap b.pcap {GIVEN}"));
    let note = format!("a.pcap is cut off: the draft is of its {before} packets before the cut");
    assert!(draft.contains(&note), "{draft}");
    let shown = room.good("inspect a.pcap");
    assert!(
        shown.contains("\ncut off: the file ends within what follows these packets\n"),
        "{shown}"
    );
    let shown: serde_json::Value =
        serde_json::from_str(&room.good("inspect a.pcap --format json")).unwrap();
    let capture = &shown["capture"];
    assert_eq!((&capture["packets"], &capture["is_cut_off"]), (&before.into(), &true.into()));
    let shown: serde_json::Value =
        serde_json::from_str(&room.good("inspect b.pcap --format json")).unwrap();
    assert_eq!(shown["capture"]["is_cut_off"], false);
}

#[test]
fn what_is_not_known_is_asked_for_and_what_is_no_capture_refused() {
    let room = Room::new();
    let out = pcap(&burst(0, [[2, 1], [3, 1]], [1, 1]));
    room.write("a.pcap", &out);
    room.write("b.pcap", pcap(&burst(0, [[1, 1], [3, 1]], [2, 1])));
    let both: Vec<Sent> =
        [burst(0, [[1, 1], [3, 1]], [2, 1]), burst(400_000, [[2, 1]; 2], [1, 1])].concat();
    room.write("both.pcap", pcap(&both));
    room.write("header.pcap", &out[..31]);
    room.write("notes.txt", "the rack was moved at noon\n");
    room.write("empty.pcap", "");
    room.write("none/notes.txt", "nothing\n");
    room.write("config_db.json", CONFIG);
    let (rtt, rate, buffer) =
        ("--base-rtt-ns 100000", "--rate-bps 1000000000", "--buffer-bytes 30000");
    let mut transcript = String::new();
    for typed in [
        format!("switch a.pcap b.pcap {rtt}"),
        format!("switch a.pcap b.pcap {rtt} {rate}"),
        format!("switch a.pcap b.pcap {rtt} {buffer}"),
        format!("switch a.pcap {rtt} --rate-bps 0 {buffer}"),
        format!("switch a.pcap {rtt} {rate} --buffer-bytes 0"),
        format!("switch a.pcap {GIVEN} --dt-alpha 0"),
        format!("switch a.pcap {GIVEN} --dt-alpha NaN"),
        format!("switch a.pcap notes.txt {GIVEN}"),
        format!("switch a.pcap header.pcap {GIVEN}"),
        format!("switch a.pcap missing.pcap {GIVEN}"),
        format!("switch missing*.pcap {GIVEN}"),
        format!("switch none {GIVEN}"),
        format!("switch a.pcap both.pcap {GIVEN}"),
        format!("switch empty.pcap {GIVEN}"),
        format!("switch config_db.json {rtt} {rate}"),
        format!("switch a.pcap config_db.json {GIVEN}"),
        format!("switch a.pcap {GIVEN} -o a.pcap"),
        format!("switch a.pcap {rate} {buffer}"),
    ] {
        let said = room.dropcast(&typed);
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
        transcript.push_str(&format!("{said}\n"));
    }
    insta::assert_snapshot!(transcript);
}
