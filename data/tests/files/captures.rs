//! Captures that Wireshark's tools made, read as `tshark` reads them.

use crate::{Scratch, gzip, read, story};
use dropcast_data::{
    Event, EventFiles, EventKind, EventOptions, InputNote, OnBadRow, SwitchSpec, SwitchSpecs,
    read_switch_file,
};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether a tool is installed. In CI it must be.
pub(crate) fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|out| out.status.success());
    assert!(found || std::env::var_os("CI").is_none(), "{tool} is missing; install tshark");
    if !found {
        std::io::stderr().write_all(b"skipped: Wireshark's tools are missing\n").unwrap();
    }
    found
}

pub(crate) fn run(tool: &str, arguments: &[&str], paths: &[&Path]) -> String {
    let output = Command::new(tool).env("TZ", "UTC").args(arguments).args(paths).output().unwrap();
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const PACKETS: u32 = 300;

/// UDP to 10.0.P.x, every third with a VLAN tag of priority 5; of 46 to 1,500 bytes.
fn frame(i: u32) -> Vec<u8> {
    let size = 46 + (i * 331 % 1_455) as usize;
    let mut bytes = vec![2, 0, 0, 0, 0, (i % 4) as u8, 2, 0, 0, 0, 0, 9];
    if i.is_multiple_of(3) {
        bytes.extend([0x81, 0, 0xa0, 20]);
    }
    bytes.extend([8, 0]);
    let ip = (size - bytes.len()) as u16;
    let class = if i.is_multiple_of(5) { 0xb8 } else { 2 };
    bytes.extend([0x45, class, (ip >> 8) as u8, ip as u8, 0, i as u8, 0, 0, 64, 17, 0, 0]);
    bytes.extend([10, 0, 9, 1, 10, 0, (i % 4) as u8, (i % 7) as u8]);
    bytes.extend([0x30, (i % 11) as u8, 0, 53, ((ip - 20) >> 8) as u8, (ip - 20) as u8, 0, 0]);
    bytes.resize(size, 0xaa);
    bytes
}

/// A capture of nanoseconds, made by `text2pcap`.
fn capture(scratch: &Scratch) -> PathBuf {
    let mut text = String::new();
    for i in 0..PACKETS {
        let time_ns = u64::from(i) * 1_237;
        writeln!(text, "10:00:01.{time_ns:09}").unwrap();
        let frame = frame(i);
        for (line, bytes) in frame.chunks(16).enumerate() {
            let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(text, "{:06x} {}", line * 16, hex.join(" ")).unwrap();
        }
    }
    let (from, to) = (scratch.file("frames.txt", text), scratch.path("all.pcap"));
    run("text2pcap", &["-q", "-F", "nsecpcap", "-t", "%H:%M:%S.%f"], &[&from, &to]);
    to
}

const SWITCH: &str = r#"
ports = 4
line_rate_bps = 1_000_000_000
buffer_bytes = 100_000
base_rtt_ns = 10_000
queues_per_port = 3

[capture]
port = [
    { port = 0, destination_ip = "10.0.0.0/24" },
    { port = 1, destination_mac = "02:00:00:00:00:01", vlan = 20 },
    { port = 1, destination_ip = "10.0.1.0/24" },
    { port = 2, destination_ip = "10.0.2.0/24" },
    { port = 3 },
]
queue = [{ queue = 1, dscp = 46 }, { queue = 2, pcp = [5, 6] }]
"#;

fn options(scratch: &Scratch) -> EventOptions {
    let file = read_switch_file(&scratch.file("switch.toml", SWITCH)).unwrap();
    EventOptions { specs: Some(file.specs), maps: file.maps, ..EventOptions::default() }
}

/// Time, size, port and queue of each packet, by what tshark says of it.
fn by_tshark(path: &Path) -> Vec<(u64, u32, u16, u8)> {
    let fields = [
        "-T",
        "fields",
        "-E",
        "separator=,",
        "-e",
        "frame.time_epoch",
        "-e",
        "frame.len",
        "-e",
        "ip.dst",
        "-e",
        "ip.dsfield.dscp",
        "-e",
        "vlan.priority",
        "-r",
    ];
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let time_ns = fields[0].replace('.', "").parse().unwrap();
        let port = fields[2].split('.').nth(2).unwrap().parse().unwrap();
        let queue = match (fields[3], fields[4]) {
            ("46", _) => 1,
            (_, "5") => 2,
            _ => 0,
        };
        (time_ns, fields[1].parse().unwrap(), port, queue)
    };
    run("tshark", &fields, &[path]).lines().map(line).collect()
}

fn seen(events: &[Event]) -> Vec<(u64, u32, u16, u8)> {
    events.iter().map(|e| (e.time_ns, e.size_bytes, e.port, e.queue)).collect()
}

/// The same pcap file in the other byte order.
fn swapped(pcap: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let word = |at: usize| pcap[at..at + 4].iter().rev().copied();
    bytes.extend(word(0));
    bytes.extend([pcap[5], pcap[4], pcap[7], pcap[6]]);
    (8..24).step_by(4).for_each(|at| bytes.extend(word(at)));
    let mut at = 24;
    while at < pcap.len() {
        (at..at + 16).step_by(4).for_each(|at| bytes.extend(word(at)));
        let length = u32::from_le_bytes(pcap[at + 8..at + 12].try_into().unwrap()) as usize;
        bytes.extend(&pcap[at + 16..at + 16 + length]);
        at += 16 + length;
    }
    bytes
}

#[test]
fn captures_are_read_as_tshark_reads_them() {
    if !["text2pcap", "editcap", "tshark"].into_iter().all(has) {
        return;
    }
    let scratch = Scratch::new();
    let nanoseconds = capture(&scratch);
    let expected = by_tshark(&nanoseconds);
    assert_eq!(expected.len(), PACKETS as usize);
    let (events, provenance) = read(&nanoseconds, options(&scratch)).unwrap();
    assert!(seen(&events) == expected);
    assert!(events.iter().all(|event| event.kind == EventKind::Arrival));
    assert!(events.iter().all(|event| (event.flags == 2) == (event.queue != 1)));
    assert_eq!((provenance.events, provenance.sha256.len()), (u64::from(PACKETS), 64));
    // By address and port: 4 times 7 times 11 flows, of which 300 packets in turn meet 300.
    let mut flows: Vec<u64> = events.iter().map(|event| event.flow_hash).collect();
    flows.sort_unstable();
    flows.dedup();
    assert_eq!(flows.len(), 300);

    let bytes = std::fs::read(&nanoseconds).unwrap();
    let check = |path: &Path, expected: &[(u64, u32, u16, u8)]| {
        let (again, _) = read(path, options(&scratch)).unwrap();
        assert!(seen(&again) == expected, "{}", path.display());
        assert!(again.iter().zip(&events).all(|(a, b)| a.flow_hash == b.flow_hash));
    };
    check(&scratch.file("all.pcap.gz", gzip(&bytes)), &expected);
    check(&scratch.file("all.pcap.zst", zstd::encode_all(&bytes[..], 3).unwrap()), &expected);
    let big = scratch.file("big.pcap", swapped(&bytes));
    assert!(by_tshark(&big) == expected, "what tshark says of the other byte order");
    check(&big, &expected);
    let made = |name: &str, arguments: &[&str]| {
        let path = scratch.path(name);
        run("editcap", arguments, &[&nanoseconds, &path]);
        path
    };
    check(&made("ng.pcapng", &["-F", "pcapng"]), &expected);
    // 64 bytes hold the headers; the size is that on the wire.
    check(&made("snapped.pcapng", &["-F", "pcapng", "-s", "64"]), &expected);
    let micro = made("micro.pcap", &["-F", "pcap"]);
    check(&micro, &by_tshark(&micro));
}

#[test]
fn one_capture_for_each_port_is_merged_by_time() {
    if !["text2pcap", "editcap", "mergecap", "tshark"].into_iter().all(has) {
        return;
    }
    let scratch = Scratch::new();
    let all = capture(&scratch);
    let parts: Vec<PathBuf> = (0..4).map(|port| scratch.path(&format!("p{port}.pcap"))).collect();
    for (port, part) in parts.iter().enumerate() {
        let filter = format!("ip.dst == 10.0.{port}.0/24");
        run("tshark", &["-F", "nsecpcap", "-Y", &filter, "-r"], &[&all, Path::new("-w"), part]);
    }
    let specs = Some(SwitchSpecs::Same(SwitchSpec::uniform(4, 1_000_000_000, 100_000, 10_000)));
    let by_file = EventOptions { specs, ..EventOptions::default() };
    let mut files = EventFiles::open(&parts, &by_file).unwrap();
    let mut merged = Vec::new();
    for batch in files.by_ref() {
        merged.extend(batch.unwrap().events);
    }
    let expected = by_tshark(&all);
    let ports =
        |rows: &[(u64, u32, u16, u8)]| rows.iter().map(|r| (r.0, r.1, r.2)).collect::<Vec<_>>();
    assert!(ports(&seen(&merged)) == ports(&expected));
    let names: Vec<String> = files.provenance().into_iter().map(|input| input.name).collect();
    assert_eq!(names, ["p0.pcap", "p1.pcap", "p2.pcap", "p3.pcap"]);

    // The same from one pcapng with four interfaces.
    let joined = scratch.path("joined.pcapng");
    let parts: Vec<&Path> = parts.iter().map(PathBuf::as_path).collect();
    run("mergecap", &["-I", "none", "-F", "pcapng", "-w"], &[&[&*joined], &parts[..]].concat());
    let rules: String =
        (0..4).map(|p| format!("[[capture.port]]\nport = {p}\ninterface = {p}\n")).collect();
    let plain = SWITCH.split("[capture]").next().unwrap();
    let file = read_switch_file(&scratch.file("s.toml", format!("{plain}{rules}"))).unwrap();
    let options =
        EventOptions { specs: Some(file.specs), maps: file.maps, ..EventOptions::default() };
    let (events, _) = read(&joined, options).unwrap();
    assert!(ports(&seen(&events)) == ports(&expected));
}

#[test]
fn a_capture_of_ns3_has_the_packets_of_its_ascii_trace() {
    let sample =
        |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name);
    let specs = Some(SwitchSpecs::Same(SwitchSpec::uniform(4, 100_000_000, 20_000, 80_000)));
    let options = EventOptions { specs, port: Some(3), ..EventOptions::default() };
    let (sniffed, _) = read(&sample("ns3-star-2-3.pcap.gz"), options.clone()).unwrap();
    let (traced, _) = read(&sample("ns3-star-2-3.tr.gz"), options).unwrap();
    // A device sees what it sends, which has left its queue, and what it receives.
    let sent = traced.iter().filter(|event| event.kind == EventKind::Departure);
    let sent: Vec<(u32, u64)> = sent.map(|event| (event.size_bytes, event.flow_hash)).collect();
    let mut left = sniffed.iter().map(|event| (event.size_bytes, event.flow_hash)).peekable();
    for packet in &sent {
        assert!(left.any(|sniffed| sniffed == *packet), "{packet:?}");
    }
    assert_eq!(sniffed.len(), sent.len() + 110);
}

/// A pcap file of one packet whose header claims these sizes.
fn claiming(captured: u32, original: u32) -> Vec<u8> {
    let mut bytes = vec![0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend([0xff, 0xff, 0, 0, 1, 0, 0, 0]);
    for number in [1_u32, 5, captured, original] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(frame(1));
    bytes
}

#[test]
fn damaged_captures_are_refused_in_clear_words() {
    let scratch = Scratch::new();
    let says = |name: &str, bytes: &[u8]| {
        let path = scratch.file(name, bytes);
        story(&read(&path, options(&scratch)).unwrap_err(), scratch.0.path())
    };
    let size = frame(1).len() as u32;
    assert!(read(&scratch.file("ok", claiming(size, size)), options(&scratch)).is_ok());
    let damaged = |at: u32, after: u32, what: &str| {
        format!(
            "x.pcap: what is at byte {at}, after packet {after}, is damaged: {what}; make or copy the \
             capture again"
        )
    };
    let whole = claiming(size, size);
    let cut = |at: u32| {
        let damaged = damaged(at, 0, "the file ends within it");
        format!("{damaged}, or leave out its end with --on-bad-row skip (docs/pcap.md)")
    };
    assert_eq!(says("x.pcap", &whole[..whole.len() - 1]), cut(24));
    assert_eq!(says("x.pcap", &whole[..30]), cut(24));
    assert_eq!(says("x.pcap", &whole[..20]), cut(0));
    let claim = "it claims 4294967295 bytes, at most 16777216 are read";
    assert_eq!(says("x.pcap", &claiming(u32::MAX, size)), damaged(24, 0, claim));
    assert_eq!(
        says("x.pcap", &claiming(size, 10)),
        format!(
            "x.pcap: row 0 (packet 1): size_bytes is 10, less than the {size} captured, expected the size on the wire"
        )
    );
    let mut variant = whole.clone();
    variant[..4].copy_from_slice(&[0x34, 0xcd, 0xb2, 0xa1]);
    assert!(says("x.pcap", &variant).contains("convert it: editcap -F pcap"));
    let mut block = vec![0x0a, 0x0d, 0x0d, 0x0a, 0xff, 0xff, 0xff, 0xff];
    block.extend([0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
    let claim = "it claims 4294967295 bytes, at most 16777216 are read";
    assert_eq!(says("x.pcap", &block), damaged(0, 0, claim));
    block[8] = 7;
    assert_eq!(says("x.pcap", &block), damaged(0, 0, "its byte order is neither"));
}

#[test]
fn obsolete_packet_blocks_are_read_in_both_byte_orders() {
    let scratch = Scratch::new();
    let time_us = 1_700_000_000_000_000_u64;
    let frame = frame(4);
    let size = frame.len() as u32;
    for is_big in [false, true] {
        let word = |value: u32| if is_big { value.to_be_bytes() } else { value.to_le_bytes() };
        let half = |value: u16| if is_big { value.to_be_bytes() } else { value.to_le_bytes() };
        let block = |kind: u32, words: &[u32], bytes: &[u8]| {
            let padded = bytes.len().next_multiple_of(4);
            let length = word(12 + 4 * words.len() as u32 + padded as u32);
            let mut block = [word(kind), length].concat();
            block.extend(words.iter().flat_map(|&value| word(value)));
            block.extend(bytes);
            block.resize(block.len() + padded - bytes.len(), 0);
            [&block[..], &length].concat()
        };
        // Of interface 1; two packets were lost before it.
        let old = |captured: u32, i: u64| {
            let two = [half(1), half(2)].concat().try_into().unwrap();
            let first = if is_big { u32::from_be_bytes(two) } else { u32::from_le_bytes(two) };
            let time = time_us + i;
            block(2, &[first, (time >> 32) as u32, time as u32, captured, size], &frame)
        };
        let begin = [
            block(0x0a0d_0d0a, &[0x1a2b_3c4d, 0, u32::MAX, u32::MAX], &[]),
            block(1, &[], &[&half(1)[..], &half(0), &word(65_535)].concat()),
            block(1, &[], &[&half(1)[..], &half(0), &word(65_535)].concat()),
        ]
        .concat();
        let mut begin = begin;
        begin[12..16].copy_from_slice(&[half(1), half(0)].concat());
        let whole = [&begin[..], &old(size, 0), &old(size, 1), &old(size, 2)].concat();
        let path = scratch.file("old.pcapng", &whole);
        let (events, _) = read(&path, options(&scratch)).unwrap();
        let found: Vec<_> = events.iter().map(|event| (event.time_ns, event.size_bytes)).collect();
        let expected: Vec<_> = (0..3).map(|i| ((time_us + i) * 1_000, size)).collect();
        assert_eq!(found, expected);
        if has("capinfos") {
            let printed = run("capinfos", &["-M", "-c"], &[&path]);
            assert!(printed.trim_end().ends_with(" 3"), "{printed}");
        }
        let path = scratch.file("old.pcapng", [&begin[..], &old(size + 4, 0)].concat());
        let said = story(&read(&path, options(&scratch)).unwrap_err(), scratch.0.path());
        assert!(said.contains("after packet 0, is damaged"), "{said}");
    }
}

#[test]
fn packets_for_no_port_are_named_or_counted() {
    let scratch = Scratch::new();
    let size = frame(1).len() as u32;
    let path = scratch.file("x.pcap", claiming(size, size));
    let rules = SWITCH.replace("    { port = 3 },\n", "").replace("10.0.1.0/24", "10.0.7.0/24");
    let file = read_switch_file(&scratch.file("s.toml", rules)).unwrap();
    let options =
        EventOptions { specs: Some(file.specs), maps: file.maps, ..EventOptions::default() };
    assert_eq!(
        story(&read(&path, options.clone()).unwrap_err(), scratch.0.path()),
        "x.pcap: row 0 (packet 1): packet matches no rule of [[capture.port]]: interface 0, \
         destination MAC 02:00:00:00:00:01, destination IP 10.0.1.1; add a rule to the switch \
         description"
    );
    let skip = EventOptions { on_bad_row: OnBadRow::Skip, ..options };
    let (events, provenance) = read(&path, skip.clone()).unwrap();
    assert_eq!((events.len(), provenance.skipped["no-port"]), (0, 1));
    let unmapped = EventOptions { maps: Default::default(), ..skip };
    assert!(read(&path, unmapped).unwrap_err().to_string().contains("does not say which packet"));
}

#[test]
fn rules_are_checked() {
    let scratch = Scratch::new();
    let wrong = |from: &str, to: &str| {
        let path = scratch.file("s.toml", SWITCH.replace(from, to));
        story(&read_switch_file(&path).unwrap_err(), scratch.0.path())
    };
    assert!(wrong("10.0.0.0/24", "10.0.0/24").contains("is no IP prefix"));
    assert!(wrong("02:00:00:00:00:01", "02").contains("is no Ethernet address"));
    assert!(wrong("vlan = 20", "vln = 20").contains("vln"));
    assert!(wrong("[capture]", "[captures]").contains("captures"));
}

#[test]
fn a_capture_behind_the_buffer_is_noted() {
    let scratch = Scratch::new();
    let notes = |gap_us: u32| {
        let mut bytes = claiming(0, 0)[..24].to_vec();
        bytes[0..2].copy_from_slice(&[0xd4, 0xc3]);
        bytes[2..4].copy_from_slice(&[0xb2, 0xa1]);
        let frame = frame(3);
        for i in 0..1_200_u32 {
            for number in [1, i * gap_us, frame.len() as u32, 1_500] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend(&frame);
        }
        let path = scratch.file("x.pcap", bytes);
        let mut files = EventFiles::open(&[path], &options(&scratch)).unwrap();
        assert!(files.by_ref().all(|batch| batch.is_ok()));
        let mut notes = files.provenance().remove(0).notes;
        // All its packets are alike.
        notes.remove(&InputNote::Duplicates);
        notes
    };
    // 1,500 bytes take 12 us at 1 Gbps.
    assert_eq!(notes(13)[&InputNote::NoBacklog], 1_200);
    assert!(notes(10).is_empty());
}

#[test]
fn what_is_before_the_cut_of_a_capture_is_read_as_tshark_reads_it() {
    if !["text2pcap", "editcap", "tshark"].into_iter().all(has) {
        return;
    }
    let scratch = Scratch::new();
    let whole = capture(&scratch);
    let ng = scratch.path("all.pcapng");
    run("editcap", &["-F", "pcapng"], &[&whole, &ng]);
    let all = by_tshark(&whole);
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    let [pcap, pcapng] = [&whole, &ng].map(|path| std::fs::read(path).unwrap());
    let (packed, zipped) = (gzip(&pcap), zstd(&pcap));
    for (name, bytes, least) in [
        ("a.pcap", &pcap, 298),
        ("b.pcapng", &pcapng, 298),
        ("c.pcap.gz", &packed, 1),
        ("d.pcap.zst", &zipped, 0),
    ] {
        let path = scratch.file(name, &bytes[..bytes.len() - 7]);
        let skip = EventOptions { on_bad_row: OnBadRow::Skip, ..options(&scratch) };
        let (events, provenance) = read(&path, skip).unwrap();
        assert!(events.len() >= least && seen(&events) == all[..events.len()], "{name}");
        assert_eq!(provenance.skipped["cut-off"], 1, "{name}");
        assert_eq!(
            provenance.notes.get(&InputNote::CutOff).copied().unwrap_or(0),
            events.len() as u64,
            "{name}"
        );
        assert_eq!(provenance.sha256, dropcast_data::sha256_file(&path).unwrap(), "{name}");
        let error = read(&path, options(&scratch)).unwrap_err();
        let said = story(&error, scratch.0.path());
        assert!(said.contains("the file ends within it") || said.contains("is cut off"), "{said}");
        if least > 1 {
            // tshark fails at the cut, but prints the packets before it.
            let arguments = ["-T", "fields", "-e", "frame.number", "-r"];
            let output = Command::new("tshark").args(arguments).arg(&path).output().unwrap();
            assert!(!output.status.success());
            assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), events.len());
        }
    }
}
