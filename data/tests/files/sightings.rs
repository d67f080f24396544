//! Captures that hold packets twice, whose clocks differ, or that are mirrors, made and judged with Wireshark's tools.

use crate::{Scratch, read};
use dropcast_data::{EventFiles, EventOptions, InputNote, read_switch_file};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const SWITCH: &str = r#"
ports = 2
line_rate_bps = 10_000_000_000
buffer_bytes = 1_000_000
base_rtt_ns = 10_000
capture.port = [{ port = 0, destination_ip = "10.0.0.0/24" }, { port = 1, destination_ip = "10.0.1.0/24" }]
"#;

fn options(scratch: &Scratch) -> EventOptions {
    let file = read_switch_file(&scratch.file("switch.toml", SWITCH)).unwrap();
    EventOptions { specs: Some(file.specs), maps: file.maps, ..EventOptions::default() }
}

/// A TCP packet of `bytes` bytes of data from 10.0.A.1 to 10.0.B.1.
pub(crate) fn tcp(
    (from, to): (u8, u8),
    id: u16,
    (sequence, ack): (u32, u32),
    bytes: u16,
) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, 8, 0, 0x45, 0];
    frame.extend((40 + bytes).to_be_bytes());
    frame.extend(id.to_be_bytes());
    frame.extend([0x40, 0, 64, 6, 0, 0, 10, 0, from, 1, 10, 0, to, 1]);
    let (source, destination) = if from == 0 { (7_u16, 9_u16) } else { (9, 7) };
    frame.extend(source.to_be_bytes());
    frame.extend(destination.to_be_bytes());
    frame.extend(sequence.to_be_bytes());
    frame.extend(ack.to_be_bytes());
    frame.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    frame.resize(frame.len() + usize::from(bytes), 0xaa);
    frame
}

/// A capture of nanoseconds.
fn pcap(packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = vec![0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend([0xff, 0xff, 0, 0, 1, 0, 0, 0]);
    for (time_ns, frame) in packets {
        for number in [1_000, *time_ns as u32, frame.len() as u32, frame.len() as u32] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(frame);
    }
    bytes
}

pub(crate) fn tool(name: &str, arguments: &[&str], paths: &[&Path]) -> Option<String> {
    let output = Command::new(name).args(arguments).args(paths).output();
    assert!(
        output.is_ok() || std::env::var_os("CI").is_none(),
        "{name} is missing; install tshark"
    );
    let output = output.ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(
        String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout),
    )
}

const PACKETS: u32 = 200;

/// What two links bring to the switch: data, and 30 us later its acknowledgements.
fn two_links(scratch: &Scratch) -> [PathBuf; 2] {
    let data =
        |i: u32| (u64::from(i) * 2_000 + 500_000, tcp((0, 1), i as u16 + 1, (i * 1_000, 1), 1_000));
    let ack = |i: u32| {
        (u64::from(i) * 2_000 + 530_000, tcp((1, 0), i as u16 + 1, (1, (i + 1) * 1_000), 0))
    };
    [
        scratch.file("data.pcap", pcap(&(0..PACKETS).map(data).collect::<Vec<_>>())),
        scratch.file("acks.pcap", pcap(&(0..PACKETS).map(ack).collect::<Vec<_>>())),
    ]
}

/// Notes of merged captures, and what is said of their clocks.
fn notes(scratch: &Scratch, paths: &[PathBuf]) -> (BTreeMap<InputNote, u64>, Option<String>) {
    let mut files = EventFiles::open(paths, &options(scratch)).unwrap();
    assert!(files.by_ref().all(|batch| batch.is_ok()));
    let mut notes = files.provenance().remove(0).notes;
    notes.remove(&InputNote::NoBacklog);
    (notes, files.clock_remark())
}

#[test]
fn clocks_that_differ_have_a_lower_bound() {
    let scratch = Scratch::new();
    let [data, acks] = two_links(&scratch);
    assert_eq!(notes(&scratch, &[data.clone(), acks.clone()]), (BTreeMap::new(), None));
    let late = scratch.path("late.pcap");
    if tool("editcap", &["-F", "nsecpcap", "-t", "0.0002"], &[&data, &late]).is_none() {
        return;
    }
    let (notes, said) = notes(&scratch, &[late, acks]);
    assert!(
        notes[&InputNote::Skew] > 0 && notes[&InputNote::Skew] <= u64::from(PACKETS),
        "{notes:?}"
    );
    let said = said.unwrap();
    let (_, bound) = said.split_once("by up to ").unwrap();
    let bound_ns: u64 = bound.split(' ').next().unwrap().parse().unwrap();
    // 200 us less the 30 us between data and acknowledgement.
    assert!((150_000..=200_000).contains(&bound_ns), "{said}");
}

#[test]
fn copies_are_counted_as_editcap_counts_them() {
    let scratch = Scratch::new();
    let [data, acks] = two_links(&scratch);
    let [copies, part, both] =
        ["copies.pcap", "part.pcap", "both.pcap"].map(|name| scratch.path(name));
    if tool("editcap", &["-F", "nsecpcap", "-r"], &[&data, &part, Path::new("20-59")]).is_none() {
        return;
    }
    tool("editcap", &["-F", "nsecpcap", "-t", "0.0000005"], &[&part, &copies]);
    tool("mergecap", &["-F", "nsecpcap", "-w"], &[&both, &data, &copies]);
    let said = tool("editcap", &["-d"], &[&both, &scratch.path("once.pcap")]).unwrap();
    assert!(said.contains("40 packets skipped"), "{said}");
    let expected = (BTreeMap::from([(InputNote::Duplicates, 40)]), None);
    assert_eq!(notes(&scratch, &[both, acks.clone()]), expected);
    // Also of two files.
    assert_eq!(notes(&scratch, &[data, acks, copies]), expected);
}

/// Data at line rate that two hosts send by turns to two others, in two captures: what is for each.
fn one_way(scratch: &Scratch) -> [PathBuf; 2] {
    let packet = |i: u32, to: u8| {
        // 986 bytes in the buffer and no acknowledgement take 789 ns.
        let from = |host: u8| {
            let at_ns = u64::from(i) * 800 + 500_000 + u64::from(host);
            (at_ns, tcp((host, to), i as u16 + 1, (i * 932, 1), 932))
        };
        [from(0), from(3)]
    };
    // A millisecond for one, then one for the other.
    let of = |to: u8| (0..5_000).filter(move |i| i / 1_250 % 2 == u32::from(to) - 1);
    [1, 2].map(|to| {
        let packets: Vec<_> = of(to).flat_map(|i| packet(i, to)).collect();
        scratch.file(&format!("to-{to}.pcap"), pcap(&packets))
    })
}

#[test]
fn more_than_a_link_brings_is_found_in_one_way_traffic() {
    let scratch = Scratch::new();
    let [first, second] = one_way(&scratch);
    let over = |paths: &[PathBuf], rules: &str| {
        let switch = SWITCH
            .lines()
            .filter(|line| !line.starts_with("capture"))
            .collect::<Vec<_>>()
            .join("\n");
        let switch = format!("{switch}\n{rules}");
        let file = read_switch_file(&scratch.file("one-way.toml", switch)).unwrap();
        let options =
            EventOptions { specs: Some(file.specs), maps: file.maps, ..EventOptions::default() };
        let mut files = EventFiles::open(paths, &options).unwrap();
        assert!(files.by_ref().all(|batch| batch.is_ok()));
        let noted = files.provenance().remove(0).notes.get(&InputNote::OverRate).copied();
        let links = files.links_over_rate();
        assert_eq!(noted, (!links.is_empty()).then(|| links.iter().map(|link| link.packets).sum()));
        links
    };
    let rules = "capture.port = [{ port = 0, destination_ip = \"10.0.0.0/23\" }, { port = 1 }]";
    for (rules, link) in [("", "10.0.0.1"), (rules, "port 0")] {
        assert_eq!(over(&[first.clone(), second.clone()], rules), []);
        let late = scratch.path("late.pcap");
        if tool("editcap", &["-F", "nsecpcap", "-t", "0.0002"], &[&first, &late]).is_none() {
            return;
        }
        let links = over(&[late, second.clone()], rules);
        // No rule has the port of the other sender.
        assert_eq!(links.len(), if rules.is_empty() { 2 } else { 1 });
        assert!(links.iter().any(|over| over.link == link), "{links:?}");
        // What a link brings in 200 us.
        let is_bound = |bytes: u64| (200_000..=250_000).contains(&bytes);
        assert!(links.iter().all(|over| is_bound(over.most_bytes)), "{links:?}");
    }
    // A tenth of the packets of a file twice.
    let bytes = std::fs::read(&first).unwrap();
    let (head, packets) = bytes.split_at(24);
    let packets: Vec<&[u8]> = packets.chunks(16 + 986).collect();
    let twice = packets
        .iter()
        .enumerate()
        .flat_map(|(i, packet)| vec![*packet; 1 + usize::from(i % 9 == 0)]);
    let twice =
        scratch.file("twice.pcap", [head.to_vec(), twice.collect::<Vec<_>>().concat()].concat());
    let links = over(&[twice, second], rules);
    assert_eq!((links.len(), links[0].link.as_str()), (1, "port 0"));
    assert!(links[0].most_bytes > 200_000 && links[0].file.ends_with("pcap"), "{links:?}");
}

/// A packet as a switch mirrors it: in IPv4 and GRE, with ERSPAN's own header.
pub(crate) fn erspan(kind: u16, head: &[u8], frame: &[u8]) -> Vec<u8> {
    let sequence: &[u8] = if head.is_empty() { &[] } else { &[0, 0, 0, 1] };
    let length = (24 + sequence.len() + head.len() + frame.len()) as u16;
    let mut bytes = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 8, 0, 0x45, 0];
    bytes.extend(length.to_be_bytes());
    bytes.extend([0, 9, 0, 0, 64, 47, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    bytes.extend(if sequence.is_empty() { [0, 0] } else { [0x10, 0] });
    bytes.extend(kind.to_be_bytes());
    [&bytes[..], sequence, head, frame].concat()
}

#[test]
fn mirrored_packets_are_those_that_tshark_finds_inside() {
    let scratch = Scratch::new();
    let frame = |i: u32| tcp((0, 1), i as u16 + 1, (i * 1_000, 1), 100 + i as u16);
    let second = [0x10, 0, 0, 7, 0, 0, 0, 0];
    let third = [0x20, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0];
    let third_more =
        [&[0x20, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 1][..], &[0x0c, 0, 0, 0, 0, 0, 0, 0]].concat();
    let mut cut = second;
    cut[2] = 4;
    let packets: Vec<Vec<u8>> = vec![
        erspan(0x88be, &[], &frame(0)),
        erspan(0x88be, &second, &frame(1)),
        erspan(0x22eb, &third, &frame(2)),
        erspan(0x22eb, &third_more, &frame(3)),
        erspan(0x88be, &cut, &frame(4)[..60]),
        frame(5),
    ];
    let packets: Vec<(u64, Vec<u8>)> = (0..).map(|i| i * 1_000).zip(packets).collect();
    let path = scratch.file("mirror.pcap", pcap(&packets));
    let (events, provenance) = read(&path, options(&scratch)).unwrap();
    let sizes: Vec<u32> = events.iter().map(|event| event.size_bytes).collect();
    assert_eq!(sizes, [154, 155, 156, 157, 158, 159]);
    assert!(events.iter().all(|event| (event.port, event.flow_hash) == (1, events[5].flow_hash)));
    assert_eq!(provenance.notes[&InputNote::Erspan], 5);
    let fields = [
        "-T",
        "fields",
        "-E",
        "occurrence=l",
        "-e",
        "ip.dst",
        "-e",
        "ip.len",
        "-e",
        "tcp.dstport",
        "-r",
    ];
    let Some(found) = tool("tshark", &fields, &[&path]) else { return };
    let found: Vec<&str> = found.lines().filter(|line| line.contains("10.0.1.1")).collect();
    assert_eq!(found.len(), 6, "{found:?}");
    for (line, size) in found.iter().zip(sizes) {
        assert_eq!(*line, format!("10.0.1.1\t{}\t9", size - 14));
    }
}

/// The same mirrored packet behind every header that packets are read behind, also where only its beginning was mirrored.
#[test]
fn mirrors_are_found_behind_all_headers_that_are_read() {
    let scratch = Scratch::new();
    let inner = tcp((0, 1), 1, (0, 1), 100);
    let tagged = |tag: &[u8], frame: &[u8]| [&frame[..12], tag, &frame[12..]].concat();
    let labelled = |frame: &[u8]| {
        [&frame[..12], &[0x88, 0x47, 0, 1, 0x10, 64, 0, 2, 0x01, 64], &frame[14..]].concat()
    };
    let cut = [0x10, 0, 4, 7, 0, 0, 0, 0];
    let v4 = |frame: &[u8]| erspan(0x88be, &cut, frame);
    // GRE behind IPv6 with hop-by-hop options.
    let v6 = |frame: &[u8]| {
        let gre = &v4(frame)[34..];
        let mut bytes = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x86, 0xdd, 0x60, 0, 0, 0];
        bytes.extend((8 + gre.len() as u16).to_be_bytes());
        bytes.extend([0, 64]);
        bytes.extend([0x20; 32]);
        bytes.extend([47, 0, 1, 4, 0, 0, 0, 0]);
        [&bytes, gre].concat()
    };
    let outer_tag = [0x91, 0, 0, 100];
    let inner_tag = tagged(&[0x91, 0, 0, 5], &inner);
    let packets = [
        v4(&inner),
        tagged(&outer_tag, &v4(&inner)),
        tagged(&outer_tag, &tagged(&[0x81, 0, 0, 7], &v4(&inner))),
        labelled(&v4(&inner)),
        v6(&inner),
        tagged(&outer_tag, &v6(&inner)),
        v4(&inner[..60]),
        v4(&inner_tag[..60]),
        v4(&labelled(&inner)[..70]),
    ];
    let packets: Vec<(u64, Vec<u8>)> = (0..).map(|i| i * 1_000).zip(packets).collect();
    let path = scratch.file("mirror.pcap", pcap(&packets));
    let (events, provenance) = read(&path, options(&scratch)).unwrap();
    let sizes: Vec<u32> = events.iter().map(|event| event.size_bytes).collect();
    assert_eq!(sizes, [154, 154, 154, 154, 154, 154, 154, 158, 162]);
    assert!(events.iter().all(|event| (event.port, event.flow_hash) == (1, events[0].flow_hash)));
    assert_eq!(provenance.notes[&InputNote::Erspan], 9);
}

#[test]
fn under_labels_the_ip_header_counts() {
    let scratch = Scratch::new();
    let plain = tcp((0, 1), 1, (0, 1), 100);
    let labels = [0x88, 0x47, 0, 1, 0x10, 64, 0, 2, 0x01, 64];
    let labelled = [&plain[..12], &labels, &plain[14..]].concat();
    let path = scratch.file("mpls.pcap", pcap(&[(0, plain), (1_000, labelled)]));
    let (events, _) = read(&path, options(&scratch)).unwrap();
    assert_eq!([events[0].port, events[1].port], [1, 1]);
    assert_eq!(events[0].flow_hash, events[1].flow_hash);
}
