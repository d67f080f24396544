//! Early drops in bursts.

mod in_verilog;

use super::{TOOLS, agree, compiled, in_kernel, in_rust, records, unseen, verdicts};
use crate::decision::in_c::GCC;
use dropcast_data::{Event, EventFiles, EventKind, EventOptions, SwitchSpec};
use dropcast_export::{PolicyCode, PolicyCodeError, PolicyEvent, PolicyPackets};
use dropcast_switch::{Fit, NoObserver, Observed, Packet, PolicySite, PolicySpec, Switch};

fn code(text: &str) -> PolicyCode {
    match text.parse().expect("a policy") {
        PolicySpec::SpareTails(parameters) => PolicyCode::SpareTails(parameters),
        other => panic!("{}", other.name()),
    }
}

/// Ports of two rates, of one to three queues.
pub(super) fn switch(queues_per_port: u8, buffer_bytes: u32) -> SwitchSpec {
    SwitchSpec {
        queues_per_port,
        pushable: vec![true; queues_per_port.into()],
        // The third queue has bytes of its own only.
        shared: (0..queues_per_port).map(|queue| queue < 2).collect(),
        reserved_bytes: (0..queues_per_port)
            .map(|queue| [0, 4_000, 0][usize::from(queue)])
            .collect(),
        line_rate_bps: vec![8_000_000_000, 2_000_000_000, 8_000_000_000],
        ..SwitchSpec::uniform(3, 8_000_000_000, buffer_bytes, 8_000)
    }
}

/// Packets that the policy drops, and its base accepts.
fn early(code: &PolicyCode, spec: &SwitchSpec) -> usize {
    let dropped = |code: &PolicyCode| {
        let packets = code.golden(spec).expect("a switch that it knows");
        packets.verdicts().filter(|accepted| !accepted).count()
    };
    let PolicyCode::SpareTails(parameters) = code else { return 0 };
    let mut never = parameters.clone();
    never.window_ns = Some(1);
    dropped(code).abs_diff(dropped(&PolicyCode::SpareTails(never)))
}

#[test]
#[ignore = "slow"]
fn the_exported_code_is_the_policy() {
    for (queues, buffer_bytes, alphas, text) in [
        (1, 60_000, "[8]", "spare-tails:flows=64"),
        (2, 400_000, "[16, 2]", "spare-tails:base=dt:alpha=[16, 2],flows=4096,burst_flows=2"),
        (
            3,
            4_000_000,
            "[8, 8, 8]",
            "spare-tails:least_held=0.25,burst_flows=8,silence_ns=1000000,flows=1024",
        ),
    ] {
        let (code, spec) = (code(text), switch(queues, buffer_bytes));
        assert!(early(&code, &spec) > 0, "{text}");
        let packets = code.golden(&spec).expect("a switch that it knows");
        let files = code.files(&spec).expect("a switch that it knows");
        agree(&code, &files, &packets, &TOOLS);
        let simulated = in_verilog::decide(&files, &packets, in_verilog::VERILATOR);
        assert!(simulated.is_none_or(|told| told == verdicts(&packets)), "{text}");
        let reserves = format!("{:?}", &[0, 4_000, u32::MAX][..usize::from(queues)]);
        let program = include_str!("spare_tails/main.rs");
        let program = program.replace("ALPHAS", alphas).replace("RESERVES", &reserves);
        let (told, expected) = (in_rust(&program, &files, &packets), verdicts(&packets));
        let first = told.iter().zip(&expected).position(|(ours, theirs)| ours != theirs);
        assert_eq!(first, None, "{text}");
    }
}

/// Prints what a record takes (`--nocapture`).
#[test]
#[allow(clippy::print_stdout, reason = "what it measured")]
fn the_exported_code_of_40_queues_is_the_policy() {
    let code = code("spare-tails");
    let spec = SwitchSpec::uniform(40, 10_000_000_000, 1_052_672, 32_000);
    let packets = code.golden(&spec).expect("a switch that it knows");
    let files = code.files(&spec).expect("a switch that it knows");
    agree(&code, &files, &packets, &TOOLS);
    let simulated = in_verilog::decide(&files, &packets, in_verilog::VERILATOR);
    assert!(simulated.is_none_or(|told| told == verdicts(&packets)));
    if let Some(told) = compiled(GCC, &code, &files, &records(&packets), &["time"]) {
        println!("{}", String::from_utf8_lossy(&told).trim());
    }
}

/// Packets of Linux's TCP at a switch that ran the policy (`linux.parquet`; lab/notes/linux.md): those that it accepted left it.
#[test]
fn the_exported_code_decides_about_linux_as_the_live_switch_did() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/policy_code/linux.parquet");
    let reader = EventFiles::open(&[path.into()], &EventOptions::default()).expect("events");
    let spec = reader.specs().get(0).expect("its switch").clone();
    let policy: PolicySpec = "spare-tails".parse().expect("a policy");
    let policy = policy.build(PolicySite::new(&spec, 1)).expect("it is built");
    let mut switch = Switch::new(&spec, Fit::Exact, policy, Observed::new(spec.queues()));
    let mut events = Vec::new();
    for batch in reader {
        for event in batch.expect("events").events {
            let Event { time_ns, port, queue, size_bytes, flow_hash, flags, .. } = event;
            let place = spec.queue_index(port, queue);
            let held = switch.buffer().lengths()[place];
            let accepted = (event.kind == EventKind::Arrival).then(|| {
                let packet = Packet { flow_hash, flags, ..Packet::new(0, place, size_bytes) };
                switch.arrive(&packet, time_ns)
            });
            if accepted.is_none() {
                switch.service_mut().departed(place, size_bytes, time_ns);
                switch.advance(time_ns, &mut NoObserver);
                assert_eq!(switch.buffer().lengths()[place] + size_bytes, held, "{event:?}");
            }
            let (port, queue) = (port.into(), queue.into());
            events.push(PolicyEvent { time_ns, port, queue, size_bytes, flow_hash, accepted });
        }
    }
    assert_eq!(switch.buffer().packets().count(), 0, "what it accepted has left");
    let packets = PolicyPackets { events };
    let dropped = packets.verdicts().filter(|accepted| !accepted).count();
    assert!(dropped > 1_000 && packets.verdicts().count() > 10_000, "{dropped}");
    let code = code("spare-tails");
    let files = code.files(&spec).expect("a switch that it knows");
    agree(&code, &files, &packets, &TOOLS);
}

#[test]
fn the_kernel_takes_the_code_of_256_queues() {
    let code = code("spare-tails");
    let spec = SwitchSpec::uniform(256, 100_000_000_000, 4_000_000, 8_000);
    let packets = code.golden(&spec).expect("a switch that it knows");
    let files = code.files(&spec).expect("a switch that it knows");
    let in_kernel = in_kernel(&code, &files, &records(&packets));
    assert!(in_kernel.is_none_or(|told| told == verdicts(&packets)));
}

#[test]
fn what_the_code_cannot_do_is_refused() {
    let spec = switch(1, 60_000);
    let refused = |text: &str, spec: &SwitchSpec| code(text).files(spec).err();
    assert_eq!(refused("spare-tails", &spec), None);
    let base = refused("spare-tails:base=complete-sharing", &spec);
    assert_eq!(base, Some(PolicyCodeError::Base("complete-sharing")));
    let alpha = refused("spare-tails:base=dt:alpha=0.3", &spec);
    assert_eq!(alpha, Some(PolicyCodeError::Alpha(0.3)));
    let slots = refused("spare-tails:flows=3", &spec).expect("refused").to_string();
    assert!(slots.contains("power of two"), "{slots}");
}

/// The exported packets of two switches, first those that most changes need.
fn more_and_more(code: &PolicyCode) -> impl Iterator<Item = (SwitchSpec, PolicyPackets)> {
    [switch(2, 400_000), switch(2, 64_000)].into_iter().flat_map(|spec| {
        let PolicyPackets { events } = code.golden(&spec).expect("a switch that it knows");
        let parts = [events[..events.len() / 5].to_vec(), events];
        parts.map(|events| (spec.clone(), PolicyPackets { events }))
    })
}

/// What is wrong in one place of the header is wrong about some packet of the exported ones.
#[test]
fn the_exported_packets_tell_a_header_with_one_change() {
    let code = code("spare-tails:flows=1024,base=dt:alpha=[8, 4]");
    let mut left = CHANGES.to_vec();
    for (spec, packets) in more_and_more(&code) {
        let files = code.files(&spec).expect("known");
        left = unseen(&code, &files, &packets, &left);
    }
    assert!(left.is_empty(), "{left:#?}");
}

/// The same of the module.
#[test]
#[ignore = "slow"]
fn the_exported_packets_tell_a_module_with_one_change() {
    let code = code("spare-tails:flows=1024,base=dt:alpha=[8, 4]");
    let mut left = in_verilog::CHANGES.to_vec();
    for (spec, packets) in more_and_more(&code) {
        let files = code.files(&spec).expect("known");
        left = in_verilog::unseen(&files, &packets, &left);
    }
    assert!(left.is_empty(), "{left:#?}");
}

/// A part of the header, and one that is wrong in its place.
const CHANGES: [(&str, &str); 41] = [
    (
        "size_bytes > room_bytes ? size_bytes - room_bytes : 0",
        "size_bytes > room_bytes ? size_bytes : 0",
    ),
    ("state->queues[queue].beside_bytes += size_bytes - shared_bytes;", ""),
    ("state->queues[queue].beside_bytes -= size_bytes - shared_bytes;", ""),
    ("DROPCAST_SPARE_TAILS_LEAST_BYTES = 512", "DROPCAST_SPARE_TAILS_LEAST_BYTES = 64"),
    ("DROPCAST_SPARE_TAILS_MOST_LATER = 16", "DROPCAST_SPARE_TAILS_MOST_LATER = 40"),
    ("DROPCAST_SPARE_TAILS_BEHIND = 4", "DROPCAST_SPARE_TAILS_BEHIND = 5"),
    ("DROPCAST_SPARE_TAILS_WEIGHT_BITS = 3", "DROPCAST_SPARE_TAILS_WEIGHT_BITS = 2"),
    ("DROPCAST_SPARE_TAILS_MOST_WINDOWS = 8", "DROPCAST_SPARE_TAILS_MOST_WINDOWS = 1"),
    ("DROPCAST_SPARE_TAILS_MOST_WINDOWS = 8", "DROPCAST_SPARE_TAILS_MOST_WINDOWS = 16"),
    ("DROPCAST_SPARE_TAILS_LEAST_FLOWS = 8", "DROPCAST_SPARE_TAILS_LEAST_FLOWS = 30"),
    ("DROPCAST_SPARE_TAILS_PAUSE = 8", "DROPCAST_SPARE_TAILS_PAUSE = 64"),
    ("DROPCAST_SPARE_TAILS_PAUSES_FROM = 4", "DROPCAST_SPARE_TAILS_PAUSES_FROM = 1"),
    ("state->reached[0] / 8)", "state->reached[0] / 64)"),
    ("behind * 10, here * 9", "behind * 10, here * 6"),
    ("state->known / 2, state->went_on", "state->known * 2ull, state->went_on"),
    ("(2 * packet + 1)", "(3 * packet + 1)"),
    ("state->went_on -= state->went_on >> DROPCAST_SPARE_TAILS_WEIGHT_BITS;", ""),
    ("state->known = state->reached[0];", "state->known = state->reached[0] / 2;"),
    ("queue->began_ns[flow] = queue->began_ns[flow - 1];", ""),
    ("&& since_ns < window_ns;", "&& since_ns < window_ns / 4;"),
    ("(!is_on || lasted_ns", "(lasted_ns"),
    ("queue->on_since_ns = now_ns;", ""),
    ("gap_ns * (flow->packets - 1u)", "gap_ns"),
    (
        "flow->began_ns) < DROPCAST_SPARE_TAILS_WINDOW_NS",
        "flow->began_ns) < DROPCAST_SPARE_TAILS_WINDOW_NS / 8",
    ),
    ("flow->counted ? number : 0", "0"),
    ("packet >= from && packet <= number", "packet >= from && packet == number"),
    ("flow->counted = 2;", ""),
    ("dropcast_spare_tails_alpha_128[number]", "dropcast_spare_tails_alpha_128[0]"),
    ("flow->hash != flow_hash ||", ""),
    ("> DROPCAST_SPARE_TAILS_SILENCE_NS;", "> 2 * (uint64_t)DROPCAST_SPARE_TAILS_SILENCE_NS;"),
    ("two_lengths * DROPCAST_SPARE_TAILS_PORTS", "two_lengths / 2"),
    ("&& flow->dropped == 0\n", "\n"),
    ("flow->dropped++;", ""),
    ("DROPCAST_SPARE_TAILS_TELLING = 3", "DROPCAST_SPARE_TAILS_TELLING = 4"),
    ("DROPCAST_SPARE_TAILS_MOST_LOST = 8", "DROPCAST_SPARE_TAILS_MOST_LOST = 9"),
    ("DROPCAST_SPARE_TAILS_MOST_LOST = 8", "DROPCAST_SPARE_TAILS_MOST_LOST = 7"),
    ("&& !gives && !makes_room", "&& !gives && makes_room < 2"),
    ("is_of_burst && flow->telling", "flow->telling"),
    ("TELLING && state->may_give != 0", "TELLING"),
    (
        "length_bytes > DROPCAST_SPARE_TAILS_BUFFER_BYTES",
        "length_bytes * 2 > DROPCAST_SPARE_TAILS_BUFFER_BYTES",
    ),
    ("is_accepted && flow->dropped > 0 && flow->telling", "is_accepted && flow->telling"),
];
