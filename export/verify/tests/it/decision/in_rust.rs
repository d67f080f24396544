//! The decision of `dropcast-runtime`, in this process and as the exported file.

use dropcast_data::{Scheduler, SwitchSpec};
use dropcast_export::{EmittedFile, Origin, export};
use dropcast_features::FeatureSet;
use dropcast_forest::Forest;
use dropcast_runtime::{
    Average, ClassState, Credence, DriftMonitor, Memory, NotReady, PacketState, PacketVerdict,
    PortState, QueueState, ReservedState, Service, SwitchConstants, Table,
};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The verdicts about the arrivals among `records` (0 arrival or 1 departure, port, queue, bytes, low and
/// high half of the time), with this many places for packets.
pub(crate) fn decide(
    spec: &SwitchSpec,
    features: &FeatureSet,
    forest: &Forest,
    records: &[[u32; 6]],
    packets: usize,
    falls_back: bool,
) -> Vec<PacketVerdict> {
    decide_by_turns(spec, features, [forest, forest], records, records.len(), packets, falls_back)
}

/// The same, with the second forest from record `half` on.
pub(crate) fn decide_by_turns(
    spec: &SwitchSpec,
    features: &FeatureSet,
    forests: [&Forest; 2],
    records: &[[u32; 6]],
    half: usize,
    packets: usize,
    falls_back: bool,
) -> Vec<PacketVerdict> {
    let files = forests.map(|forest| table_of(spec, features, forest));
    let [table, next] = [0, 1].map(|of| Table::parse(&files[of]).expect("a table"));
    let spec = &beside_the_pool(spec);
    let switch = constants(spec);
    refuses_others(&switch);
    let mut memory = Owned::new(spec, packets);
    let mut credence = Credence::with_table(switch, memory.borrowed(), table).expect("it is ready");
    credence.fall_back(falls_back);
    let mut verdicts = Vec::new();
    let mut most = 0;
    for (number, &[kind, port, queue, size_bytes, low, high]) in records.iter().enumerate() {
        if number == half {
            credence.replace_table(next).expect("the same features");
        }
        let now_ns = u64::from(low) | u64::from(high) << 32;
        // Some of what is due before the call: it changes no verdict.
        if low % 3 == 0 && credence.catch_up(now_ns, low % 5) {
            credence.catch_up(now_ns, 1);
        }
        if kind == 0 {
            verdicts.push(credence.arrival(port, queue, size_bytes, now_ns));
        } else {
            credence.departure(port, queue, size_bytes, now_ns);
        }
        most = most.max(credence.occupancy_bytes());
    }
    assert!(most > 0 && most <= spec.buffer_bytes);
    assert!(credence.precision() <= DriftMonitor::ONE);
    assert_eq!((credence.unheld(), credence.unmatched()), (0, 0));
    let [port, queue] = [spec.ports() as u32, u32::from(spec.queues_per_port)];
    for [port, queue, size_bytes] in [[port, 0, 1], [0, queue, 1], [0, 0, 0]] {
        assert_eq!(credence.arrival(port, queue, size_bytes, 0), PacketVerdict::NoRoom);
    }
    verdicts
}

/// Whether a forest may replace another.
pub(crate) fn replaced(
    spec: &SwitchSpec,
    [of, next]: [(&FeatureSet, &Forest); 2],
) -> Result<(), NotReady> {
    let files = [of, next].map(|(features, forest)| table_of(spec, features, forest));
    let [table, next] = [0, 1].map(|of| Table::parse(&files[of]).expect("a table"));
    let mut memory = Owned::new(spec, 16);
    let credence = Credence::with_table(constants(spec), memory.borrowed(), table);
    credence.expect("it is ready").replace_table(next)
}

pub(super) fn table_of(spec: &SwitchSpec, features: &FeatureSet, forest: &Forest) -> Vec<u8> {
    let mut origin = Origin::new("m", &"0".repeat(64), features);
    origin.average_ns = Some(spec.base_rtt_ns);
    let files = export(forest, &origin, "dct".parse().expect("a target")).expect("exportable");
    files.into_iter().next().expect("a table").bytes
}

pub(super) struct Owned {
    ports: Vec<PortState>,
    queues: Vec<QueueState>,
    packets: Vec<PacketState>,
    heard_ns: Vec<u64>,
    classes: Vec<ClassState>,
    averages: Vec<Average>,
    rings: Vec<u64>,
    deficits: Vec<u64>,
    reserves: Vec<ReservedState>,
}

impl Owned {
    pub(super) fn new(spec: &SwitchSpec, packets: usize) -> Self {
        let (ports, queues) = (spec.ports(), spec.queues());
        Owned {
            ports: vec![PortState::IDLE; ports],
            queues: vec![QueueState::EMPTY; queues],
            packets: vec![PacketState::FREE; packets],
            heard_ns: vec![7; queues],
            classes: vec![ClassState::EMPTY; Memory::CLASSES],
            averages: vec![Average::ZERO; queues + 1],
            rings: vec![7; ports * usize::from(spec.transmit_ring_packets)],
            deficits: vec![7; queues],
            reserves: vec![ReservedState::EMPTY; queues],
        }
    }

    pub(super) fn borrowed(&mut self) -> Memory<'_> {
        Memory {
            ports: &mut self.ports,
            queues: &mut self.queues,
            packets: &mut self.packets,
            heard_ns: &mut self.heard_ns,
            classes: &mut self.classes,
            averages: &mut self.averages,
            rings: &mut self.rings,
            deficits: &mut self.deficits,
            reserves: &mut self.reserves,
        }
    }
}

/// Queues that do not share have all that they could need beside the buffer.
pub(super) fn beside_the_pool(spec: &SwitchSpec) -> SwitchSpec {
    if spec.shared.iter().all(|&shares| shares) {
        return spec.clone();
    }
    let queues = || spec.shared.iter().enumerate();
    let reserved = |(queue, &shares)| if shares { spec.reserved_bytes_of(queue) } else { u32::MAX };
    SwitchSpec {
        reserved_bytes: queues().map(reserved).collect(),
        pushable: queues().map(|(queue, &shares)| shares && spec.pushable[queue]).collect(),
        ..spec.clone()
    }
}

pub(super) fn constants(spec: &SwitchSpec) -> SwitchConstants<'_> {
    SwitchConstants {
        queues_per_port: spec.queues_per_port.into(),
        buffer_bytes: spec.buffer_bytes,
        base_rtt_ns: spec.base_rtt_ns,
        line_rate_bps: &spec.line_rate_bps,
        service: match spec.scheduler {
            Scheduler::RoundRobin => Service::RoundRobin,
            Scheduler::StrictPriority => Service::StrictPriority,
            Scheduler::Dwrr => Service::Dwrr(&spec.quantum_bytes),
        },
        wire_overhead_bytes: spec.wire_overhead_bytes,
        transmit_ring_packets: spec.transmit_ring_packets.into(),
        slack_bytes: spec.slack_bytes,
        reserved_bytes: &spec.reserved_bytes,
        pushable: (0_u32..).zip(&spec.pushable).map(|(at, &may)| u32::from(may) << at).sum(),
    }
}

fn refuses_others(switch: &SwitchConstants<'_>) {
    let (ports, queues) = (switch.ports() as u32, switch.queues_per_port);
    let (buffer, rtt) = (u64::from(switch.buffer_bytes), switch.base_rtt_ns);
    let rates = switch.line_rate_bps;
    let mut others = rates.to_vec();
    others[0] += 1;
    let refused = [
        (switch.check(ports + 1, queues, buffer, rtt, rates), NotReady::OtherPorts),
        (switch.check(ports, queues + 1, buffer, rtt, rates), NotReady::OtherQueues),
        (switch.check(ports, queues, buffer - 1, rtt, rates), NotReady::OtherBuffer),
        (switch.check(ports, queues, buffer, rtt + 1, rates), NotReady::OtherBaseRtt),
        (switch.check(ports, queues, buffer, rtt, &others), NotReady::OtherLineRate),
    ];
    for (found, expected) in refused {
        assert_eq!(found, Err(expected));
    }
    assert_eq!(switch.check(ports, queues, buffer, rtt, rates), Ok(()));
}

/// The size of the state and the verdicts of a program around the exported files, compiled with rustc; as
/// the exported C prints them.
pub(crate) fn compiled(
    files: &[EmittedFile],
    spec: &SwitchSpec,
    records: &[[u32; 6]],
) -> (usize, Vec<u8>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        fs::write(folder.path().join(&file.name), &file.bytes).expect("written");
    }
    let rates: Vec<String> = spec.line_rate_bps.iter().map(ToString::to_string).collect();
    let program = include_str!("main.rs")
        .replace("SWITCH_PORTS", &spec.ports().to_string())
        .replace("SWITCH_QUEUES", &spec.queues_per_port.to_string())
        .replace("SWITCH_BUFFER", &spec.buffer_bytes.to_string())
        .replace("SWITCH_RTT", &spec.base_rtt_ns.to_string())
        .replace("LINE_RATES", &rates.join(", "));
    fs::write(folder.path().join("main.rs"), program).expect("written");
    build_program(folder.path());
    let bytes: Vec<u8> = records.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect();
    fs::write(folder.path().join("records"), bytes).expect("written");
    let mut program = Command::new(folder.path().join("decide"));
    program.stdin(fs::File::open(folder.path().join("records")).expect("written"));
    let printed = succeed(&mut program);
    let line = printed.iter().position(|&byte| byte == b'\n').expect("a line");
    let size = std::str::from_utf8(&printed[..line]).expect("text").parse().expect("a number");
    (size, printed[line + 1..].to_vec())
}

/// Compiles `main.rs` in a folder to `decide`, with `dropcast-runtime`.
pub(crate) fn build_program(folder: &Path) {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--release", "--locked", "--offline", "--lib", "--package"])
        .args(["dropcast-runtime", "--target-dir"])
        .arg(&library)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    succeed(&mut cargo);
    let rlib = library.join("release/libdropcast_runtime.rlib");
    let mut rustc = Command::new("rustc");
    rustc
        .args(["--edition", "2024", "-O", "-D", "warnings", "--extern"])
        .arg(format!("dropcast_runtime={}", rlib.display()))
        .args(["main.rs", "-o", "decide"])
        .current_dir(folder);
    succeed(&mut rustc);
}

pub(crate) fn succeed(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output.stdout
}
