//! Time stamps of ERSPAN III in place of those of the capture (`docs/pcap.md`); tshark reads the headers.

use crate::drops::pcap;
use crate::sightings::{SWITCH, erspan, tcp, tool};
use crate::{Scratch, read};
use dropcast_data::{EventFiles, EventOptions, InputNote, OnBadRow, read_switch_file};
use std::path::PathBuf;

/// So that a counter of 32 bits wraps after a few packets.
const START_NS: u64 = 1_700_000_000_000_000_000;
const PACKETS: u64 = 600;

/// When the switch mirrored a packet.
fn mirrored_ns(i: u64) -> u64 {
    START_NS + i * 1_200
}

/// When it was captured: after a queue that others share, so that packets overtake each other.
fn captured_ns(i: u64) -> u64 {
    mirrored_ns(i) + 40_000 + i * i % 7 * 900
}

/// ERSPAN III with this time stamp, and perhaps a subheader.
fn third(i: u64, granularity: u8, stamp: u32, subheader: Option<(u8, u32)>) -> Vec<u8> {
    let mut head = vec![0x20, 0, 0, 7];
    head.extend(stamp.to_be_bytes());
    head.extend([0, 0, 0, granularity << 1 | u8::from(subheader.is_some())]);
    if let Some((platform, upper)) = subheader {
        head.extend([platform << 2, 0, 0, 0]);
        head.extend(upper.to_be_bytes());
    }
    let bytes = 100 + i as u16;
    erspan(0x22eb, &head, &tcp((0, 1), i as u16 + 1, (i as u32 * 1_000, 1), bytes))
}

/// Counts of 100 ns; the 300th wraps.
fn count(i: u64) -> u32 {
    (mirrored_ns(i) / 100).wrapping_sub(mirrored_ns(300) / 100) as u32
}

/// In order of capture.
fn capture(scratch: &Scratch, name: &str, packet: impl Fn(u64) -> Vec<u8>) -> PathBuf {
    let mut packets: Vec<_> = (0..PACKETS).map(|i| (captured_ns(i), packet(i))).collect();
    packets.sort();
    pcap(scratch, name, &packets)
}

fn options(scratch: &Scratch, times: &str) -> EventOptions {
    let text = format!("{SWITCH}capture.times = \"{times}\"\n");
    let file = read_switch_file(&scratch.file("switch.toml", text)).unwrap();
    EventOptions { specs: Some(file.specs), maps: file.maps, ..EventOptions::default() }
}

#[test]
fn the_times_of_the_switch_are_taken_where_it_is_asked_for() {
    let scratch = Scratch::new();
    let counter = |i| third(i, 1, count(i), None);
    let stamp_ns = |i| mirrored_ns(i) + 37_000_000_000;
    let seconds = |i| {
        let (whole, rest) = (stamp_ns(i) / 1_000_000_000, stamp_ns(i) % 1_000_000_000);
        third(i, 2, rest as u32, Some((5, whole as u32)))
    };
    let halves = |i| third(i, 2, stamp_ns(i) as u32, Some((3, (stamp_ns(i) >> 32) as u32)));
    let captures: [PathBuf; 3] = [
        capture(&scratch, "counter.pcap", counter),
        capture(&scratch, "seconds.pcap", seconds),
        capture(&scratch, "halves.pcap", halves),
    ];
    // The first packet's way is taken for that of all; those of IEEE 1588 have the time.
    let begins = [captured_ns(0), START_NS, START_NS];
    for (path, begin_ns) in captures.iter().zip(begins) {
        let (events, provenance) = read(path, options(&scratch, "mirror")).unwrap();
        let found: Vec<(u64, u32)> =
            events.iter().map(|event| (event.time_ns - begin_ns, event.size_bytes)).collect();
        let expected: Vec<(u64, u32)> =
            (0..PACKETS).map(|i| (mirrored_ns(i) - START_NS, 154 + i as u32)).collect();
        assert_eq!(found, expected, "{path:?}");
        assert_eq!(
            (provenance.notes[&InputNote::Erspan], provenance.notes[&InputNote::MirrorTime]),
            (PACKETS, PACKETS)
        );
        // Without being asked, nothing changes, and it is noted.
        let (events, provenance) = read(path, options(&scratch, "capture")).unwrap();
        let mut captured: Vec<u64> = (0..PACKETS).map(captured_ns).collect();
        captured.sort_unstable();
        assert_eq!(events.iter().map(|event| event.time_ns).collect::<Vec<_>>(), captured);
        assert_eq!(provenance.notes[&InputNote::UnusedMirrorTime], PACKETS);
    }

    let fields =
        ["erspan.timestamp", "erspan.gra", "erspan.pid3.timestamp", "erspan.pid5.timestamp"];
    let mut arguments = vec!["-T", "fields"];
    fields.iter().for_each(|field| arguments.extend(["-e", field]));
    arguments.push("-r");
    let first = stamp_ns(0);
    let expected = [
        format!("{}\t1\t\t", count(0)),
        format!("0\t2\t\t{}", first / 1_000_000_000),
        format!("{}\t2\t{}\t", first as u32, first >> 32),
    ];
    for (path, expected) in captures.iter().zip(expected) {
        let Some(found) = tool("tshark", &arguments, &[path]) else { return };
        let line = found.lines().find(|line| line.contains('\t')).unwrap();
        assert_eq!(line, expected);
    }
}

/// Two mirrors of a switch to two collectors: their captures are on the switch's clock.
#[test]
fn captures_of_one_switch_share_its_clock() {
    let scratch = Scratch::new();
    let paths = [0, 1].map(|part| {
        let packets: Vec<_> = (0..PACKETS)
            .filter(|i| i % 2 == part)
            // The second is a tenth of a millisecond later on its way.
            .map(|i| (captured_ns(0) + i * 1_200 + part * 100_000, third(i, 1, count(i), None)))
            .collect();
        pcap(&scratch, &format!("{part}.pcap"), &packets)
    });
    let mut files = EventFiles::open(&paths, &options(&scratch, "mirror")).unwrap();
    let events: Vec<_> = files.by_ref().flat_map(|batch| batch.unwrap().events).collect();
    let sizes: Vec<u32> = events.iter().map(|event| event.size_bytes).collect();
    assert_eq!(sizes, (0..PACKETS as u32).map(|i| 154 + i).collect::<Vec<_>>());
    let last_ns = events.last().unwrap().time_ns;
    assert_eq!(last_ns - events[0].time_ns, mirrored_ns(PACKETS - 1) - START_NS);
}

#[test]
fn packets_without_a_usable_stamp_are_bad_rows() {
    let scratch = Scratch::new();
    // Linux stamps in units of 100 us.
    let coarse =
        capture(&scratch, "coarse.pcap", |i| third(i, 0, (mirrored_ns(i) / 100_000) as u32, None));
    let message = read(&coarse, options(&scratch, "mirror")).unwrap_err().to_string();
    assert!(
        message.contains("(packet 1): time of the mirror is missing: the packet has no usable time stamp of ERSPAN III"),
        "{message}"
    );
    let (_, provenance) = read(&coarse, options(&scratch, "capture")).unwrap();
    assert!(!provenance.notes.contains_key(&InputNote::UnusedMirrorTime), "{provenance:?}");

    // A switch that is started again, and packets that were not mirrored.
    let mixed = capture(&scratch, "mixed.pcap", |i| match i {
        100 => tcp((0, 1), 1, (0, 1), 10),
        i if i < 500 => third(i, 1, count(i), None),
        i => third(i, 1, 50_000_000 + i as u32, None),
    });
    let skip = EventOptions { on_bad_row: OnBadRow::Skip, ..options(&scratch, "mirror") };
    let (events, provenance) = read(&mixed, skip).unwrap();
    assert_eq!(
        (events.len(), provenance.skipped["empty"], provenance.skipped["out-of-range"]),
        (499, 1, 100)
    );
    let message = read(&mixed, options(&scratch, "mirror")).unwrap_err().to_string();
    assert!(message.contains("time of the mirror is missing"), "{message}");
}
