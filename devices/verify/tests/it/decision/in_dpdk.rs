//! The program of docs/dpdk.md around the decision in C, run by DPDK between captures.

use super::in_c::COMPILERS;
use super::{Model, code, decided};
use crate::event_log::sample;
use crate::replay::found;
use dropcast_data::{Event, EventKind, Scheduler};
use dropcast_export::{Origin, export};
use dropcast_verify::{FoundTool, Tool};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

const DPDK: Tool = Tool {
    command: "pkg-config",
    version_arguments: &["--modversion", "libdpdk"],
    package: "pkg-config libdpdk-dev",
};

/// Ethernet addresses and type; a packet's number follows.
const HEADER_BYTES: usize = 14;

/// Every packet of the sample is accepted or dropped as by Credence in a switch at line rate, and sent in
/// the same order.
#[test]
fn the_pages_program_decides_alike() {
    let Some(dpdk) = found(DPDK) else { return };
    let input = sample();
    let arrivals: Vec<&Event> =
        input.events.iter().filter(|event| event.kind == EventKind::Arrival).collect();
    let model = Model::random(&input.spec, "level4", 1);
    assert_eq!(model.spec.scheduler, Scheduler::RoundRobin, "as the page's program");
    let decided = decided(&model, &input.events, false);
    let mut expected = Outcome { verdicts: [0; 5], sent: vec![Vec::new(); model.spec.ports()] };
    let per_port = usize::from(model.spec.queues_per_port);
    let mut waiting = vec![Vec::new(); model.spec.queues()];
    for (id, (event, verdict)) in arrivals.iter().zip(&decided.expected).enumerate() {
        expected.verdicts[usize::from(code(*verdict))] += 1;
        if verdict.accepts() {
            waiting[model.spec.queue_index(event.port, event.queue)].push(id as u32);
        }
    }
    let mut waiting: Vec<_> = waiting.into_iter().map(Vec::into_iter).collect();
    for &[_, port, queue, ..] in decided.records.iter().filter(|record| record[0] == 1) {
        let id = waiting[port as usize * per_port + queue as usize].next();
        expected.sent[port as usize].push(id.expect("what departs was accepted"));
    }
    let [.., above, predicted] = expected.verdicts;
    assert!(above > 0 && predicted > 0, "{:?}", expected.verdicts);
    for compiler in &COMPILERS[..2] {
        let Some(tool) = found(compiler.tool) else { continue };
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_program(folder.path(), &model);
        write_capture(&folder.path().join("in.pcap"), &arrivals);
        compile(&tool, &dpdk, folder.path(), &["-DPACKET_CLOCK"]);
        let outcome = run(folder.path(), model.spec.ports(), arrivals.len());
        assert_eq!(outcome.verdicts, expected.verdicts);
        // The last packets leave after the last arrival.
        for (port, (sent, before)) in outcome.sent.iter().zip(&expected.sent).enumerate() {
            assert!(sent.starts_with(before), "port {port}");
            let mut rest: Vec<u32> = sent[before.len()..].to_vec();
            rest.sort_unstable();
            let queues = &waiting[port * per_port..][..per_port];
            let mut left: Vec<u32> = queues.iter().flat_map(Clone::clone).collect();
            left.sort_unstable();
            assert_eq!(rest, left, "port {port}");
        }
        compile(&tool, &dpdk, folder.path(), &[]);
        let outcome = run(folder.path(), model.spec.ports(), arrivals.len());
        assert_eq!(outcome.verdicts.iter().sum::<usize>(), arrivals.len());
        let sent: usize = outcome.sent.iter().map(Vec::len).sum();
        assert_eq!(sent, outcome.verdicts[0] + outcome.verdicts[1]);
    }
}

/// What a run of the program did.
struct Outcome {
    /// How often each verdict occurred.
    verdicts: [usize; 5],
    /// The numbers of the packets that each port sent.
    sent: Vec<Vec<u32>>,
}

/// The program of docs/dpdk.md and the headers that it includes.
fn write_program(folder: &Path, model: &Model) {
    let program = include_str!("../../../../../docs/programs/dpdk_switch.c");
    fs::write(folder.join("switch.c"), program).expect("written");
    let origin = Origin { model_name: "example".to_owned(), ..model.origin() };
    let files = export(&model.forest, &origin, "c".parse().expect("a target"));
    for file in files.expect("exportable") {
        fs::write(folder.join(file.name), file.bytes).expect("written");
    }
}

/// A frame for each arrival: its destination is port and queue, it carries its number, and its microseconds
/// are the trace's ns.
fn write_capture(path: &Path, arrivals: &[&Event]) {
    let file = fs::File::create(path).expect("writable");
    let mut file = BufWriter::new(file);
    let words =
        |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_ne_bytes()).collect() };
    // Magic number, version 2.4, time zone, accuracy, longest packet, Ethernet.
    let [a, b] = 2_u16.to_ne_bytes();
    let [c, d] = 4_u16.to_ne_bytes();
    let version = u32::from_ne_bytes([a, b, c, d]);
    file.write_all(&words(&[0xA1B2_C3D4, version, 0, 0, 65_535, 1])).expect("written");
    for (id, event) in (0_u32..).zip(arrivals) {
        let seconds = u32::try_from(event.time_ns / 1_000_000).expect("a short trace");
        let rest = (event.time_ns % 1_000_000) as u32;
        file.write_all(&words(&[seconds, rest, event.size_bytes, event.size_bytes]))
            .expect("written");
        let port = u8::try_from(event.port).expect("few ports");
        let mut frame = vec![2, 0, 0, 0, port, event.queue, 2, 0, 0, 0, 0, 0, 0x88, 0xB5];
        frame.extend(id.to_ne_bytes());
        assert!(frame.len() <= event.size_bytes as usize);
        frame.resize(event.size_bytes as usize, 0);
        file.write_all(&frame).expect("written");
    }
    file.flush().expect("written");
}

fn compile(tool: &FoundTool, dpdk: &FoundTool, folder: &Path, definitions: &[&str]) {
    let flags = succeed(dpdk.in_folder(folder).args(["--cflags", "--libs", "libdpdk"]));
    let mut command = tool.in_folder(folder);
    command.args(["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror"]).args(definitions);
    command.args(["switch.c", "-o", "switch"]).args(flags.split_whitespace());
    succeed(&mut command);
}

fn run(folder: &Path, ports: usize, packets: usize) -> Outcome {
    let mut command = Command::new(folder.join("switch"));
    command.current_dir(folder);
    command.args(["--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "--lcores=0"]);
    command.args(["-m", "256", "--log-level=error"]);
    for port in 0..ports {
        let received = if port == 0 { "rx_pcap=in.pcap," } else { "" };
        command.arg(format!("--vdev=net_pcap{port},{received}tx_pcap=out{port}.pcap"));
    }
    let printed = succeed(command.args(["--", &packets.to_string()]));
    let counts: Vec<usize> =
        printed.split(' ').filter_map(|word| word.trim().parse().ok()).collect();
    let sent = (0..ports).map(|port| numbers(&folder.join(format!("out{port}.pcap")))).collect();
    Outcome { verdicts: counts.try_into().expect("a count of each verdict"), sent }
}

/// The numbers that the packets of a capture carry.
fn numbers(path: &Path) -> Vec<u32> {
    let bytes = fs::read(path).expect("written by the program");
    let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let (mut at, mut numbers) = (24, Vec::new());
    while at < bytes.len() {
        numbers.push(word(at + 16 + HEADER_BYTES));
        at += 16 + word(at + 8) as usize;
    }
    numbers
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
