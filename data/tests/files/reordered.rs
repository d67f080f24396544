//! Packets of a capture that come a little late (`docs/pcap.md`).

use crate::drops::pcap;
use crate::sightings::{SWITCH, tcp};
use crate::{Scratch, read};
use dropcast_data::{EventOptions, InputNote, OnBadRow, read_switch_file};
use std::path::PathBuf;

const START_NS: u64 = 1_700_000_000_000_000_000;

/// Every third packet is written after the two that follow it: at most 2,000 ns late.
fn disordered(scratch: &Scratch) -> (PathBuf, Vec<u64>) {
    let packet = |i: u64| {
        let bytes = tcp((0, 1), i as u16 + 1, (i as u32 * 1_000, 1), 100 + i as u16);
        (START_NS + i * 1_000, bytes)
    };
    let mut packets: Vec<_> = (0..300).map(packet).collect();
    let sorted = packets.iter().map(|packet| packet.0).collect();
    for three in packets.chunks_mut(3) {
        three.rotate_left(1);
    }
    (pcap(scratch, "late.pcap", &packets), sorted)
}

fn options(scratch: &Scratch, reorder_ns: u64) -> EventOptions {
    let text = format!("{SWITCH}capture.reorder_ns = {reorder_ns}\n");
    let file = read_switch_file(&scratch.file("switch.toml", text)).unwrap();
    EventOptions { specs: Some(file.specs), maps: file.maps, ..EventOptions::default() }
}

#[test]
fn packets_within_the_window_are_put_in_order() {
    let scratch = Scratch::new();
    let (capture, sorted) = disordered(&scratch);
    for reorder_ns in [2_000, 50_000] {
        let (events, provenance) = read(&capture, options(&scratch, reorder_ns)).unwrap();
        let times: Vec<u64> = events.iter().map(|event| event.time_ns).collect();
        assert_eq!(times, sorted, "{reorder_ns}");
        // Sizes went with them.
        assert!(events.windows(2).all(|two| two[0].size_bytes < two[1].size_bytes));
        assert_eq!(provenance.notes[&InputNote::Reordered], 100);
    }
}

/// A window that is too short refuses, or leaves out, what comes later than it waits.
#[test]
fn packets_beyond_the_window_are_bad_rows() {
    let scratch = Scratch::new();
    let (capture, _) = disordered(&scratch);
    for reorder_ns in [0, 500] {
        let error = read(&capture, options(&scratch, reorder_ns)).unwrap_err().to_string();
        assert!(error.contains("packet 3") && error.contains("before the event above"), "{error}");
        let skip = EventOptions { on_bad_row: OnBadRow::Skip, ..options(&scratch, reorder_ns) };
        let (events, provenance) = read(&capture, skip).unwrap();
        assert_eq!(
            (events.len(), provenance.skipped["time-backwards"]),
            (200, 100),
            "{reorder_ns}"
        );
    }
}
