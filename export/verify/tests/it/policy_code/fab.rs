//! Flow-aware buffer sharing.

use super::spare_tails::switch;
use super::{TOOLS, agree, compiled, records, unseen};
use crate::decision::in_c::GCC;
use dropcast_data::SwitchSpec;
use dropcast_export::{PolicyCode, PolicyCodeError};
use dropcast_switch::PolicySpec;

fn code(text: &str) -> PolicyCode {
    match text.parse().expect("a policy") {
        PolicySpec::Fab(parameters) => PolicyCode::Fab(parameters),
        other => panic!("{}", other.name()),
    }
}

#[test]
fn the_exported_code_is_the_policy() {
    for (queues, buffer_bytes, text, without) in [
        (1, 60_000, "fab:alpha=8,flows=64", "fab:alpha=8,first_alpha=8"),
        (
            2,
            400_000,
            "fab:alpha=[0.5, 0.125],first_alpha=4,first_bytes=9000,window_ns=100000",
            "fab:alpha=[0.5, 0.125],first_alpha=4,first_bytes=0",
        ),
        (3, 4_000_000, "fab:flows=1024", "fab:first_alpha=0.5"),
    ] {
        let (code, without) = (code(text), code(without));
        let spec = switch(queues, buffer_bytes);
        let packets = code.golden(&spec).expect("a switch that it knows");
        let arrivals = packets.events.iter().filter(|event| event.accepted.is_some());
        let arrivals = arrivals.map(|event| dropcast_export::PacketArrival {
            time_ns: event.time_ns,
            queue: event.port * usize::from(queues) + event.queue,
            size_bytes: event.size_bytes,
            flow_hash: event.flow_hash,
        });
        let without = without.decided(&spec, arrivals).expect("known");
        assert!(packets.verdicts().ne(without.verdicts()), "{text}: first bytes change nothing");
        let files = code.files(&spec).expect("a switch that it knows");
        agree(&code, &files, &packets, &TOOLS);
    }
}

/// Prints what a record takes (`--nocapture`).
#[test]
#[allow(clippy::print_stdout, reason = "what it measured")]
fn the_exported_code_of_40_queues_is_the_policy() {
    let code = code("fab:alpha=8");
    let spec = SwitchSpec::uniform(40, 10_000_000_000, 1_052_672, 32_000);
    let packets = code.golden(&spec).expect("a switch that it knows");
    let files = code.files(&spec).expect("a switch that it knows");
    agree(&code, &files, &packets, &TOOLS);
    if let Some(told) = compiled(GCC, &code, &files, &records(&packets), &["time"]) {
        println!("{}", String::from_utf8_lossy(&told).trim());
    }
}

#[test]
fn what_the_code_cannot_do_is_refused() {
    let spec = switch(1, 60_000);
    let refused = |text: &str| code(text).files(&spec).err();
    assert_eq!(refused("fab"), None);
    assert_eq!(refused("fab:alpha=0.3"), Some(PolicyCodeError::Alpha(0.3)));
    assert_eq!(refused("fab:first_alpha=0.3"), Some(PolicyCodeError::Alpha(0.3)));
    let slots = refused("fab:flows=3").expect("refused").to_string();
    assert!(slots.contains("power of two"), "{slots}");
}

/// What is wrong in one place of the header is wrong about some packet of the exported ones.
#[test]
fn the_exported_packets_tell_a_header_with_one_change() {
    let mut left = CHANGES.to_vec();
    for text in ["fab:alpha=[1, 0.25],flows=64,window_ns=100000", "fab:first_alpha=4"] {
        let (code, spec) = (code(text), switch(2, 400_000));
        let packets = code.golden(&spec).expect("known");
        let files = code.files(&spec).expect("known");
        left = unseen(&code, &files, &packets, &left);
    }
    assert!(left.is_empty(), "{left:#?}");
}

/// A part of the header, and one that is wrong in its place.
const CHANGES: [(&str, &str); 15] = [
    ("if (flow_hash == 0) {", "if (flow_hash == 1) {"),
    ("DROPCAST_FAB_FLOWS - 1u", "DROPCAST_FAB_FLOWS / 2 - 1u"),
    ("flow->hash != flow_hash || ", ""),
    ("silent_ns > DROPCAST_FAB_WINDOW_NS", "silent_ns > UINT64_MAX / 2"),
    ("silent_ns > DROPCAST_FAB_WINDOW_NS", "silent_ns > 2 * DROPCAST_FAB_WINDOW_NS"),
    ("flow->bytes = 0;", ""),
    ("flow->bytes += size_bytes;", "flow->bytes += size_bytes / 2;"),
    ("flow->seen_ns = now_ns;", ""),
    ("flow->bytes < DROPCAST_FAB_FIRST_BYTES", "flow->bytes < 2 * DROPCAST_FAB_FIRST_BYTES"),
    ("dropcast_fab_alpha_128[queue];", "dropcast_fab_alpha_128[0];"),
    ("128 * (uint64_t)of->length_bytes", "129 * (uint64_t)of->length_bytes"),
    ("|| shared_bytes > free_bytes", ""),
    ("of->beside_bytes += size_bytes - shared_bytes;", ""),
    ("of->beside_bytes -= size_bytes - shared_bytes;", ""),
    ("size_bytes < of->length_bytes ? size_bytes", "size_bytes > 0 ? size_bytes"),
];
