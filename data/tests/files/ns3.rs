//! ASCII traces of ns-3. `samples/ns3-star.tr.gz` is of ns-3.37 with `samples/ns3-star.cc`, whose switch
//! is node 2.

use crate::{Scratch, gzip, read, story};
use dropcast_data::{
    DropReason, Event, EventFiles, EventKind, EventOptions, InputMaps, InputNote, Ns3Map, Ns3Port,
    OnBadRow, SwitchSpec, SwitchSpecs,
};
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name)
}

fn text(name: &str) -> String {
    let mut text = String::new();
    let bytes = std::fs::read(sample(name)).unwrap();
    GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    text
}

fn spec() -> SwitchSpec {
    SwitchSpec::uniform(4, 100_000_000, 20_000, 80_000)
}

/// Node 2 is a switch of four ports.
fn options() -> EventOptions {
    let specs = SwitchSpecs::Each(BTreeMap::from([(2, spec())]));
    EventOptions { specs: Some(specs), ..EventOptions::default() }
}

fn with_map(map: Ns3Map) -> EventOptions {
    let specs = Some(SwitchSpecs::Same(spec()));
    let maps = InputMaps { ns3: map, ..InputMaps::default() };
    EventOptions { specs, maps, ..EventOptions::default() }
}

fn after<'a>(line: &'a str, word: &str) -> &'a str {
    line.split_once(word).unwrap().1.split([' ', ')', '/']).next().unwrap()
}

/// The same by cutting lines at words. Every packet is IPv4 over PPP.
fn by_cutting(line: &str) -> Option<(u64, u16, u32, EventKind)> {
    let kind = match &line[..1] {
        "+" => EventKind::Arrival,
        "d" => EventKind::Drop(DropReason::Admission),
        "-" => EventKind::Departure,
        _ => return None,
    };
    let seconds: f64 = line.split(' ').nth(1).unwrap().parse().unwrap();
    let port = after(line, "/DeviceList/").parse().unwrap();
    let length: u32 = after(line, " length: ").parse().unwrap();
    Some(((seconds * 1e9).round() as u64, port, length + 2, kind))
}

#[test]
fn a_real_trace_is_read_as_its_lines_say() {
    let lines = text("ns3-star.tr.gz");
    let (events, provenance) = read(&sample("ns3-star.tr.gz"), options()).unwrap();
    let read: Vec<_> = events.iter().map(|e| (e.time_ns, e.port, e.size_bytes, e.kind)).collect();
    assert!(read == lines.lines().filter_map(by_cutting).collect::<Vec<_>>());
    let count = |letter| lines.lines().filter(|line| line.starts_with(letter)).count();
    let arrivals = events.iter().filter(|event| event.kind.is_arrival()).count();
    assert_eq!((arrivals, count('d')), (count('+') + count('d'), 270));
    assert_eq!(provenance.skipped, BTreeMap::from([("received".to_owned(), count('r') as u64)]));
    assert!(provenance.notes.is_empty() && provenance.sha256.len() == 64);
    // Two UDP flows and a TCP flow, which is acknowledged.
    let mut flows: Vec<u64> = events.iter().map(|event| event.flow_hash).collect();
    flows.sort_unstable();
    flows.dedup();
    assert_eq!(flows.len(), 4);
}

#[test]
fn a_trace_of_one_device_has_it_in_its_name() {
    let (events, provenance) = read(&sample("ns3-star-2-3.tr.gz"), options()).unwrap();
    assert!(events.iter().all(|event| (event.switch_id, event.port) == (2, 3)));
    let (whole, _) = read(&sample("ns3-star.tr.gz"), options()).unwrap();
    let sizes = |events: &[Event]| {
        let at_three = events.iter().filter(|event| event.port == 3);
        at_three.map(|event| (event.size_bytes, event.kind)).collect::<Vec<_>>()
    };
    assert!(sizes(&events) == sizes(&whole));
    // ns-3 prints six digits by default.
    let notes = BTreeMap::from([(InputNote::SixDigitTime, events.len() as u64)]);
    assert_eq!(provenance.notes, notes);
    let scratch = Scratch::new();
    let path = scratch.file("star.tr", text("ns3-star-2-3.tr.gz"));
    assert_eq!(
        story(&read(&path, options()).unwrap_err(), scratch.0.path()),
        "star.tr: row 0 (line 1): path is empty, expected a path /NodeList/N/DeviceList/D/..., or a \
         file named PREFIX-N-D.tr"
    );
}

#[test]
fn devices_can_be_mapped_to_ports() {
    let path = sample("ns3-star.tr.gz");
    let port = Ns3Port { node: 2, device: 3, switch: 0, port: 1, queue: 0 };
    let (events, provenance) =
        read(&path, with_map(Ns3Map { port: vec![port.clone()], ..Ns3Map::default() })).unwrap();
    assert_eq!(events.len(), 526 + 507 + 270);
    assert!(events.iter().all(|event| (event.switch_id, event.port) == (0, 1)));
    assert_eq!(provenance.skipped["other-device"], 220);
    // A device that is not in the trace: of a switch that has packets, of another.
    let absent = Ns3Port { device: 9, port: 0, ..port.clone() };
    let elsewhere = Ns3Port { device: 8, switch: 5, ..port.clone() };
    let map = Ns3Map { port: vec![port, absent, elsewhere], ..Ns3Map::default() };
    let mut files = EventFiles::open(std::slice::from_ref(&path), &with_map(map)).unwrap();
    assert_eq!(files.by_ref().map(|batch| batch.unwrap().events.len()).sum::<usize>(), 1_303);
    let unmet = ["no packet met device 9 of node 2 of [[ns3.port]]"];
    assert_eq!(files.unmet_rules(), unmet);
    let nodes = Some(vec![7]);
    let (events, provenance) =
        read(&path, with_map(Ns3Map { nodes, ..Ns3Map::default() })).unwrap();
    assert_eq!((events.len(), provenance.skipped["other-node"]), (0, 1523));
}

const IP: &str = "ns3::Ipv4Header (tos 0x0 DSCP Default ECN Not-ECT ttl 64 id 0 protocol 17 offset \
                  (bytes) 0 flags [none] length: 100 10.0.0.1 > 10.0.0.2)";

#[test]
fn bad_lines_are_refused_in_clear_words_or_counted() {
    let scratch = Scratch::new();
    let good = format!("+ 1 /NodeList/2/DeviceList/1/$ns3::X/TxQueue/Enqueue {IP}\n");
    let check = |bad: &str, says: &str| {
        let path = scratch.file("t.tr", format!("{good}{bad}\n{good}"));
        let error = read(&path, options()).expect_err(bad);
        assert_eq!(story(&error, scratch.0.path()), format!("t.tr: row 1 (line 2): {says}"));
        let skip = EventOptions { on_bad_row: OnBadRow::Skip, ..options() };
        let (events, provenance) = read(&path, skip).unwrap();
        assert_eq!((events.len(), provenance.skipped.values().sum::<u64>()), (2, 1));
    };
    let at = "/NodeList/2/DeviceList/1/$ns3::X/TxQueue/Enqueue";
    let lines = "a line of an ns-3 ASCII trace: + - d or r, a time, a path, headers";
    check("what is this", &format!("line is \"what is this\", expected {lines}"));
    check(
        &format!("+ 1.2.3 {at} {IP}"),
        "time is \"1.2.3\", expected a number of seconds from 0 to 18446744073",
    );
    check(
        &format!("+ 1 {at} my::Header (1 2) {IP}"),
        "headers is \"my::Header\", expected a header of known size; say it in [ns3.header_bytes] of the switch description",
    );
    check(
        &format!("+ 1 {at} ns3::PppHeader (cut"),
        "headers is \"ns3::PppHeader (cut\", expected headers as ns-3 prints them, such as ns3::PppHeader (...), up to the end",
    );
    check(
        "- 1 /NodeList/2/DeviceList/0/$ns3::X/TxQueue/Dequeue Payload (size=5)",
        "kind is a departure from switch 2, port 0, queue 0, which holds no packet: every arrival before it has already departed",
    );
    check(
        &format!("+ 1 /NodeList/2/DeviceList/9/$ns3::X/TxQueue/Enqueue {IP}"),
        "port is 9, but switch 2 has ports 0 to 3",
    );
    check(
        &format!("+ 0.5 {at} {IP}"),
        "time_ns is 500000000, before the event above it at 1000000000; sort the input by time; of a capture, with reorder_ns (docs/pcap.md)",
    );
}

#[test]
fn what_is_of_no_buffer_is_left_out_and_counted() {
    let scratch = Scratch::new();
    let lines = [
        format!("r 1 /NodeList/2/DeviceList/1/$ns3::X/MacRx {IP}"),
        format!("d 1 /NodeList/2/DeviceList/1/$ns3::X/PhyRxDrop {IP}"),
        format!("t 1 /NodeList/2/$ns3::Ipv4L3Protocol/Tx(1) {IP}"),
        format!("+ 1 /NodeList/0/DeviceList/0/$ns3::X/TxQueue/Enqueue {IP}"),
        format!("d 1 /NodeList/2/DeviceList/1/$ns3::X/TxQueue/Drop {IP}"),
    ];
    let path = scratch.file("t.tr.gz", gzip(lines.join("\n").as_bytes()));
    let (events, provenance) = read(&path, options()).unwrap();
    assert_eq!((events.len(), events[0].kind), (1, EventKind::Drop(DropReason::Admission)));
    let reasons: Vec<&str> = provenance.skipped.keys().map(String::as_str).collect();
    assert_eq!(reasons, ["lost-before-device", "other-node", "other-object", "received"]);
}
