//! The exported untrained rule decides about every packet as `dropcast_switch`'s does.

mod in_ebpf;
mod in_rust;
mod in_verilog;

use crate::decision::in_c::{CLANG, GCC, WARNINGS};
use crate::decision::record;
use crate::event_log::sample;
use crate::replay::{GXX, found};
use dropcast_data::{Scheduler, SwitchSpec};
use dropcast_export::{EmittedFile, Rule, RuleError, RuleEvent, RulePackets};
use dropcast_switch::policies::oracle::drain_time_ns;
use dropcast_verify::Tool;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

/// Time, queue and size of packets.
type Arrivals = Vec<(u64, usize, u32)>;

/// Records of six words: 0 arrival or 1 departure, port, queue, bytes, low and high half of the time.
fn records(packets: &RulePackets) -> Vec<[u32; 6]> {
    let kind = |event: &RuleEvent| u32::from(event.accepted.is_none());
    let events = packets.events.iter();
    events
        .map(|event| {
            record(kind(event), [event.port, event.queue], event.size_bytes, event.time_ns)
        })
        .collect()
}

/// The verdicts of the compiled header; none without the compiler.
fn compiled(
    tool: Tool,
    files: &[EmittedFile],
    records: &[[u32; 6]],
    arguments: &[&str],
) -> Option<Vec<u8>> {
    let compiler = found(tool)?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        fs::write(folder.path().join(&file.name), &file.bytes).expect("written");
    }
    let (standard, file) =
        if tool.command == "g++" { ("-std=c++17", "rule.cc") } else { ("-std=c99", "rule.c") };
    fs::write(folder.path().join(file), include_str!("rule/main.c")).expect("written");
    let mut command = compiler.in_folder(folder.path());
    let output = command
        .args([standard, "-O2"])
        .args(WARNINGS)
        .args([file, "-o", "rule"])
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes: Vec<u8> = records.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect();
    let mut child = Command::new(folder.path().join("rule"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(&bytes));
        child.wait_with_output().expect("it ends")
    });
    assert!(output.status.success(), "{}", output.status);
    Some(output.stdout)
}

/// Bursts towards few queues of a switch of these ports.
fn bursts(spec: &SwitchSpec, packets: usize, seed: u64) -> Arrivals {
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
        (now, queue, random.random_range(64..1_501))
    };
    (0..packets).map(arrival).collect()
}

fn agree(spec: &SwitchSpec, rule: &Rule, arrivals: &Arrivals, tools: &[Tool]) -> [usize; 2] {
    let packets = RulePackets::decided(rule, spec, arrivals.iter().copied()).expect("decided");
    let (files, records) = (rule.files(spec).expect("a switch that it knows"), records(&packets));
    let expected: Vec<u8> = packets.verdicts().map(u8::from).collect();
    if tools.len() > 1 {
        assert!(in_rust::compiled(&files, spec, &packets) == expected, "{rule:?}, {spec:?}");
        let in_kernel = in_ebpf::decide(&files, &records);
        assert!(in_kernel.is_none_or(|verdicts| verdicts == expected), "{rule:?}, {spec:?}");
        let simulated = in_verilog::decide(&files, &packets, in_verilog::VERILATOR, 6);
        assert!(simulated.is_none_or(|verdicts| verdicts == expected), "{rule:?}, {spec:?}");
    }
    for &tool in tools {
        let Some(verdicts) = compiled(tool, &files, &records, &[]) else { continue };
        assert_eq!(verdicts.len(), expected.len());
        let first = verdicts.iter().zip(&expected).position(|(ours, theirs)| ours != theirs);
        assert_eq!(first, None, "{}: {rule:?}, {spec:?}", tool.command);
    }
    [0, 1].map(|verdict| expected.iter().filter(|&&one| one == verdict).count())
}

#[test]
fn the_exported_rule_is_the_policy() {
    let tools = [GCC, CLANG, GXX];
    let mut verdicts = [0, 0];
    for seed in 0..6 {
        let queues_per_port = [1, 2, 3][seed as usize % 3];
        let spec = SwitchSpec {
            queues_per_port,
            scheduler: Scheduler::RoundRobin,
            // Acknowledgements' queue, which LQD does not touch.
            pushable: (0..queues_per_port).map(|queue| queue > 0 || queues_per_port == 1).collect(),
            shared: vec![true; usize::from(queues_per_port)],
            line_rate_bps: vec![8_000_000_000, 2_000_000_000, 8_000_000_000],
            ..SwitchSpec::uniform(3, 8_000_000_000, 60_000, 8_000)
        };
        let gate = [0.0, 0.5, 0.9][seed as usize / 2];
        let rule = Rule { alpha: vec![16.0, 0.5], horizon_ns: drain_time_ns(&spec), gate };
        let arrivals = bursts(&spec, 20_000, seed);
        let some = if seed < 3 { &tools[..] } else { &tools[..1] };
        let [dropped, accepted] = agree(&spec, &rule, &arrivals, some);
        verdicts = [verdicts[0] + dropped, verdicts[1] + accepted];
    }
    assert!(verdicts.iter().all(|&count| count > 1_000), "{verdicts:?}");
}

/// A switch of 40 queues and its sample of packets. Prints what a record takes (`--nocapture`).
#[test]
#[allow(clippy::print_stdout, reason = "what it measured")]
fn the_exported_rule_is_the_policy_on_the_sample() {
    let input = sample();
    let spec = input.spec;
    let arrivals =
        input.events.iter().filter(|event| event.kind == dropcast_data::EventKind::Arrival);
    let arrivals: Arrivals = arrivals
        .map(|event| (event.time_ns, spec.queue_index(event.port, event.queue), event.size_bytes))
        .collect();
    let rule = Rule { alpha: vec![16.0], horizon_ns: drain_time_ns(&spec), gate: 0.5 };
    agree(&spec, &rule, &arrivals, &[GCC, CLANG]);
    let packets = RulePackets::decided(&rule, &spec, arrivals).expect("decided");
    let files = rule.files(&spec).expect("a switch that it knows");
    if let Some(told) = compiled(GCC, &files, &records(&packets), &["time"]) {
        println!("{}", String::from_utf8_lossy(&told).trim());
    }
}

#[test]
fn what_the_header_cannot_do_is_refused() {
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 10_000, 4_000);
    let rule = Rule { alpha: vec![16.0], horizon_ns: 1_000, gate: 0.5 };
    assert!(rule.files(&spec).is_ok());
    let odd = Rule { alpha: vec![0.3], ..rule.clone() };
    assert_eq!(odd.files(&spec), Err(RuleError::Alpha(0.3)));
    let far = Rule { horizon_ns: u64::MAX, ..rule.clone() };
    assert_eq!(far.files(&spec), Err(RuleError::Drain(0)));
    let apart = SwitchSpec { shared: vec![false], ..spec };
    assert_eq!(rule.files(&apart), Err(RuleError::Reserved));
}

/// What is wrong in one place of the header is wrong about some packet of the exported ones.
#[test]
fn the_exported_packets_tell_a_header_with_one_change() {
    let rate = 10_000_000_000;
    let spec =
        SwitchSpec { queues_per_port: 2, ..SwitchSpec::uniform(20, rate, 1_052_672, 32_000) };
    let spec = SwitchSpec { pushable: vec![true; 2], shared: vec![true; 2], ..spec };
    let mut unseen = CHANGES.to_vec();
    for gate in [0.5, 0.9] {
        let rule = Rule { alpha: vec![16.0, 8.0], horizon_ns: drain_time_ns(&spec), gate };
        let packets = RulePackets::golden(&rule, &spec).expect("a switch that it knows");
        let (records, files) = (records(&packets), rule.files(&spec).expect("known"));
        let expected: Vec<u8> = packets.verdicts().map(u8::from).collect();
        let right = in_verilog::decide(&files, &packets, in_verilog::ICARUS, 11);
        assert!(right.is_none_or(|verdicts| verdicts == expected));
        let right = compiled(GCC, &files, &records, &[]);
        assert!(right.is_none_or(|verdicts| verdicts == expected));
        unseen.retain(|(one, other)| {
            let mut files = files.clone();
            let text = String::from_utf8(std::mem::take(&mut files[0].bytes)).expect("text");
            assert_eq!(text.matches(one).count(), 1, "{one}");
            files[0].bytes = text.replace(one, other).into_bytes();
            compiled(GCC, &files, &records, &[]).is_some_and(|verdicts| verdicts == expected)
        });
    }
    assert!(unseen.is_empty(), "{unseen:?}");
}

/// A part of the header, and one that is wrong in its place.
const CHANGES: [(&str, &str); 17] = [
    ("since_ns >= DROPCAST_RULE_WINDOW_NS", "since_ns >= 2 * DROPCAST_RULE_WINDOW_NS"),
    ("2 * (uint64_t)queue->recent_bytes", "(uint64_t)queue->recent_bytes"),
    ("coming - drain", "coming"),
    ("+ arrived_bytes;", "+ arrived_bytes / 2;"),
    ("queue->updated_ns = now_ns;", ""),
    ("* DROPCAST_RULE_PORTS >=", "* DROPCAST_RULE_PORTS / 4 >="),
    ("expected < cut ? expected : cut", "expected < 2 * cut ? expected : 2 * cut"),
    (
        "return level >= DROPCAST_RULE_BUFFER_BYTES",
        "return level >= DROPCAST_RULE_BUFFER_BYTES / 2",
    ),
    ("is_followed ? size_bytes : 0", "size_bytes"),
    ("(65536 - state->confirmed) >> 4", "(65536 - state->confirmed) >> 2"),
    ("state->confirmed >> 4", "state->confirmed >> 2"),
    ("with_packet + state->phantom_bytes >", "with_packet >"),
    ("state->phantom_bytes -= queue->phantom_bytes;", ""),
    ("dropcast_rule_alpha_128[number]", "dropcast_rule_alpha_128[0]"),
    ("dropcast_rule_drain_bytes[number]", "dropcast_rule_drain_bytes[number] / 2"),
    ("state->confirmed >= dropcast_rule_gate", "1"),
    ("state->confirmed = 0;", "state->confirmed = dropcast_rule_gate;"),
];

/// The kernel's verifier looks at every queue that a scan passes.
#[test]
fn the_kernel_takes_the_rule_of_256_queues() {
    let spec = SwitchSpec::uniform(256, 100_000_000_000, 4_000_000, 8_000);
    let rule = Rule { alpha: vec![16.0], horizon_ns: drain_time_ns(&spec), gate: 0.5 };
    let packets = RulePackets::golden(&rule, &spec).expect("a switch that it knows");
    let expected: Vec<u8> = packets.verdicts().map(u8::from).collect();
    assert!(expected.contains(&0));
    let files = rule.files(&spec).expect("a switch that it knows");
    let in_kernel = in_ebpf::decide(&files, &records(&packets));
    assert!(in_kernel.is_none_or(|verdicts| verdicts == expected));
}
