//! The untrained rule.

mod in_verilog;

use super::{TOOLS, agree, compiled, in_kernel, in_rust, records, unseen, verdicts};
use crate::decision::in_c::{CLANG, GCC};
use crate::event_log::sample;
use dropcast_data::{EventKind, Scheduler, SwitchSpec};
use dropcast_export::{PacketArrival, PolicyCode, PolicyCodeError, Rule};
use dropcast_runtime::{FilterQueue, Waiting};
use dropcast_switch::policies::oracle::drain_time_ns;
use dropcast_verify::Tool;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(super) type Arrivals = Vec<PacketArrival>;

/// What the state of a switch takes in Rust, without its memory of the queues.
const OF_THE_SWITCH: usize = 96;

/// Bursts towards few queues of a switch of these ports.
pub(super) fn bursts(spec: &SwitchSpec, packets: usize, seed: u64) -> Arrivals {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut now, mut queue) = (0, 0);
    let arrival = |_| {
        if random.random_range(0..40) == 0 {
            queue = random.random_range(0..spec.queues());
            now += random.random_range(0..4) * random.random_range(0..20_000);
        }
        now += random.random_range(0..200);
        let other = random.random_range(0..4) == 0;
        let queue = if other { random.random_range(0..spec.queues()) } else { queue };
        let size_bytes = random.random_range(64..1_501);
        PacketArrival { time_ns: now, queue, size_bytes, flow_hash: 0 }
    };
    (0..packets).map(arrival).collect()
}

/// A program around the exported Rust, whose state takes so many bytes beside its memory of the queues.
pub(super) fn in_rust_of(spec: &SwitchSpec, name: &str, beside_queues: usize) -> String {
    let of_a_queue = size_of::<FilterQueue>() + size_of::<Waiting>();
    assert_eq!(of_a_queue, 32);
    let size = beside_queues + spec.queues() * of_a_queue;
    let program = include_str!("rule/main.rs").replace("SIZE", &size.to_string());
    program.replace("dropcast_rule", &format!("dropcast_{name}"))
}

/// Returns how many packets are dropped, and accepted.
fn all_agree(spec: &SwitchSpec, rule: &Rule, arrivals: &Arrivals, tools: &[Tool]) -> [usize; 2] {
    let code = PolicyCode::Rule(rule.clone());
    let packets = code.decided(spec, arrivals.iter().copied()).expect("decided");
    let (files, expected) = (code.files(spec).expect("a switch that it knows"), verdicts(&packets));
    if tools.len() > 1 {
        let program = in_rust_of(spec, "rule", OF_THE_SWITCH);
        assert!(in_rust(&program, &files, &packets) == expected, "{rule:?}, {spec:?}");
        let simulated = in_verilog::decide(&files, &packets, in_verilog::VERILATOR, 6);
        assert!(simulated.is_none_or(|verdicts| verdicts == expected), "{rule:?}, {spec:?}");
    }
    agree(&code, &files, &packets, tools);
    [0, 1].map(|verdict| expected.iter().filter(|&&one| one == verdict).count())
}

/// Ports of two rates, with one to three queues, the third beside the shared buffer; with odd seeds they have reserved bytes.
pub(super) fn switch(seed: u64) -> SwitchSpec {
    let queues_per_port = [1, 2, 3][seed as usize % 3];
    SwitchSpec {
        queues_per_port,
        scheduler: Scheduler::RoundRobin,
        // Acknowledgements' queue, which LQD does not touch.
        pushable: (0..queues_per_port).map(|queue| queue > 0 || queues_per_port == 1).collect(),
        shared: (0..queues_per_port).map(|queue| queue < 2).collect(),
        reserved_bytes: match seed % 2 {
            0 => Vec::new(),
            _ => vec![3_000; queues_per_port.min(2).into()],
        },
        line_rate_bps: vec![8_000_000_000, 2_000_000_000, 8_000_000_000],
        ..SwitchSpec::uniform(3, 8_000_000_000, 60_000, 8_000)
    }
}

/// The arrivals of the sample, at its switch of 40 queues.
pub(super) fn sample_arrivals() -> (SwitchSpec, Arrivals) {
    let input = sample();
    let spec = input.spec;
    let arrival = |event: &dropcast_data::Event| PacketArrival {
        time_ns: event.time_ns,
        queue: spec.queue_index(event.port, event.queue),
        size_bytes: event.size_bytes,
        flow_hash: 0,
    };
    let is_arrival = |event: &&dropcast_data::Event| event.kind == EventKind::Arrival;
    let arrivals = input.events.iter().filter(is_arrival).map(arrival).collect();
    (spec, arrivals)
}

#[test]
#[ignore = "slow"]
fn the_exported_rule_is_the_policy() {
    let mut verdicts = [0, 0];
    for seed in 0..6 {
        let spec = switch(seed);
        let gate = [0.0, 0.5, 0.9][seed as usize / 2];
        let rule = Rule { alpha: vec![16.0, 0.5], horizon_ns: drain_time_ns(&spec), gate };
        let arrivals = bursts(&spec, 20_000, seed);
        let some = if seed < 3 { &TOOLS[..] } else { &TOOLS[..1] };
        let [dropped, accepted] = all_agree(&spec, &rule, &arrivals, some);
        verdicts = [verdicts[0] + dropped, verdicts[1] + accepted];
    }
    assert!(verdicts.iter().all(|&count| count > 1_000), "{verdicts:?}");
}

/// A switch of 40 queues and its sample of packets. Prints what a record takes (`--nocapture`).
#[test]
#[allow(clippy::print_stdout, reason = "what it measured")]
fn the_exported_rule_is_the_policy_on_the_sample() {
    let (spec, arrivals) = sample_arrivals();
    let rule = Rule { alpha: vec![16.0], horizon_ns: drain_time_ns(&spec), gate: 0.5 };
    all_agree(&spec, &rule, &arrivals, &[GCC, CLANG]);
    let code = PolicyCode::Rule(rule);
    let packets = code.decided(&spec, arrivals).expect("decided");
    let files = code.files(&spec).expect("a switch that it knows");
    if let Some(told) = compiled(GCC, &code, &files, &records(&packets), &["time"]) {
        println!("{}", String::from_utf8_lossy(&told).trim());
    }
}

#[test]
fn what_the_header_cannot_do_is_refused() {
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 10_000, 4_000);
    let rule = Rule { alpha: vec![16.0], horizon_ns: 1_000, gate: 0.5 };
    let refused = |rule: &Rule, spec: &SwitchSpec| PolicyCode::Rule(rule.clone()).files(spec).err();
    assert_eq!(refused(&rule, &spec), None);
    let odd = Rule { alpha: vec![0.3], ..rule.clone() };
    assert_eq!(refused(&odd, &spec), Some(PolicyCodeError::Alpha(0.3)));
    let far = Rule { horizon_ns: u64::MAX, ..rule.clone() };
    assert_eq!(refused(&far, &spec), Some(PolicyCodeError::Drain(0)));
}

/// What is wrong in one place of the header is wrong about some packet of the exported ones.
#[test]
#[ignore = "slow"]
fn the_exported_packets_tell_a_header_with_one_change() {
    let rate = 10_000_000_000;
    let spec =
        SwitchSpec { queues_per_port: 2, ..SwitchSpec::uniform(20, rate, 1_052_672, 32_000) };
    let spec = SwitchSpec { pushable: vec![true; 2], shared: vec![true; 2], ..spec };
    let reserves = SwitchSpec { reserved_bytes: vec![30_000, 5_000], ..spec.clone() };
    let mut left = CHANGES.to_vec();
    for (gate, spec) in [(0.5, &spec), (0.9, &spec), (0.5, &reserves)] {
        let rule = Rule { alpha: vec![16.0, 8.0], horizon_ns: drain_time_ns(spec), gate };
        let code = PolicyCode::Rule(rule);
        let packets = code.golden(spec).expect("a switch that it knows");
        let files = code.files(spec).expect("known");
        let right = in_verilog::decide(&files, &packets, in_verilog::ICARUS, 11);
        assert!(right.is_none_or(|told| told == verdicts(&packets)));
        left = unseen(&code, &files, &packets, &left);
    }
    assert!(left.is_empty(), "{left:?}");
}

/// A part of a header, and one that is wrong in its place.
const CHANGES: [(&str, &str); 20] = [
    (
        "size_bytes > room_bytes ? size_bytes - room_bytes : 0",
        "size_bytes > room_bytes ? size_bytes : 0",
    ),
    ("queue->beside_bytes += size_bytes - part_bytes;", "queue->beside_bytes += 0 * size_bytes;"),
    ("queue->beside_bytes -= size_bytes - part_bytes;", ""),
    ("since_ns >= DROPCAST_RULE_WINDOW_NS", "since_ns >= 2 * DROPCAST_RULE_WINDOW_NS"),
    ("2 * (uint64_t)trend->recent_bytes", "(uint64_t)trend->recent_bytes"),
    ("coming - drain", "coming"),
    ("+ arrived_bytes;", "+ arrived_bytes / 2;"),
    ("trend->updated_ns = now_ns;", ""),
    ("DROPCAST_RULE_LONG_BYTES 52634u", "DROPCAST_RULE_LONG_BYTES 210536u"),
    ("expected < cut ? expected : cut", "expected < 2 * cut ? expected : 2 * cut"),
    (
        "return level >= DROPCAST_RULE_BUFFER_BYTES",
        "return level >= DROPCAST_RULE_BUFFER_BYTES / 2",
    ),
    ("is_followed ? part_bytes : 0", "part_bytes"),
    ("(65536 - buffer->confirmed) >> 4", "(65536 - buffer->confirmed) >> 2"),
    ("buffer->confirmed >> 4", "buffer->confirmed >> 2"),
    ("with_packet + buffer->phantom_bytes >", "with_packet >"),
    ("buffer->phantom_bytes -= queue->phantom_bytes;", ""),
    ("dropcast_rule_alpha_128[number]", "dropcast_rule_alpha_128[0]"),
    ("dropcast_rule_drain_bytes[number]", "dropcast_rule_drain_bytes[number] / 2"),
    ("buffer->confirmed >= gate", "gate > 0"),
    ("buffer->confirmed = 0;", "buffer->confirmed = 65536;"),
];

/// The kernel's verifier looks at every queue that a scan passes.
#[test]
fn the_kernel_takes_the_rule_of_256_queues() {
    let spec = SwitchSpec::uniform(256, 100_000_000_000, 4_000_000, 8_000);
    let rule = Rule { alpha: vec![16.0], horizon_ns: drain_time_ns(&spec), gate: 0.5 };
    let code = PolicyCode::Rule(rule);
    let packets = code.golden(&spec).expect("a switch that it knows");
    let expected = verdicts(&packets);
    assert!(expected.contains(&0));
    let files = code.files(&spec).expect("a switch that it knows");
    let in_kernel = in_kernel(&code, &files, &records(&packets));
    assert!(in_kernel.is_none_or(|verdicts| verdicts == expected));
}
