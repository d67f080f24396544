//! The program of docs/c-header.md, run by DPDK between captures.

use dropcast_data::SwitchSpec;
use dropcast_verify::{FoundTool, Tool};
use std::collections::VecDeque;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

pub(crate) const DPDK: Tool = Tool {
    command: "pkg-config",
    version_arguments: &["--modversion", "libdpdk"],
    package: "pkg-config libdpdk-dev",
};

/// A packet's number ends its source address.
const NUMBER_AT: usize = 8;

/// What a run of the program did.
pub(crate) struct Outcome {
    /// How often each verdict occurred.
    pub(crate) verdicts: Vec<usize>,
    /// The numbers of the packets that each port sent.
    pub(crate) sent: Vec<Vec<u32>>,
}

/// What a switch's ports send of the packets that are accepted.
pub(crate) struct Served {
    /// By port, up to the last arrival, in order.
    before: Vec<Vec<u32>>,
    /// By port, after it.
    after: Vec<Vec<u32>>,
}

impl Served {
    /// Of arrivals, accepted or not, and departures of ports' queues, in order.
    pub(crate) fn new(
        spec: &SwitchSpec,
        events: impl Iterator<Item = (usize, usize, Option<bool>)>,
    ) -> Self {
        let per_port = usize::from(spec.queues_per_port);
        let mut waiting = vec![VecDeque::new(); spec.queues()];
        let mut before = vec![Vec::new(); spec.ports()];
        let mut id = 0;
        for (port, queue, accepted) in events {
            let queue = &mut waiting[port * per_port + queue];
            match accepted {
                None => before[port].push(queue.pop_front().expect("what departs was accepted")),
                Some(accepted) => {
                    queue.extend(accepted.then_some(id));
                    id += 1;
                }
            }
        }
        let rest = |queues: &[VecDeque<u32>]| sorted(queues.iter().flatten().copied().collect());
        Served { before, after: waiting.chunks(per_port).map(rest).collect() }
    }

    /// Every port sent these.
    pub(crate) fn check(&self, sent: &[Vec<u32>]) {
        assert_eq!(sent.len(), self.before.len());
        for (port, (sent, before)) in sent.iter().zip(&self.before).enumerate() {
            assert!(sent.starts_with(before), "port {port}");
            assert_eq!(sorted(sent[before.len()..].to_vec()), self.after[port], "port {port}");
        }
    }
}

fn sorted(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort_unstable();
    numbers
}

/// A packet of the capture.
pub(crate) struct Frame {
    pub(crate) time_ns: u64,
    pub(crate) port: u16,
    pub(crate) queue: u8,
    pub(crate) size_bytes: u32,
}

/// Writes the program of docs/c-header.md to a folder.
pub(crate) fn write_program(folder: &Path) {
    let program = include_str!("../../../../docs/programs/dpdk_switch.c");
    fs::write(folder.join("switch.c"), program).expect("written");
}

/// A frame for each packet: its destination is port and queue, it carries its number, and its microseconds
/// are the packet's ns.
pub(crate) fn write_capture(path: &Path, frames: &[Frame]) {
    let file = fs::File::create(path).expect("writable");
    let mut file = BufWriter::new(file);
    let words =
        |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_ne_bytes()).collect() };
    // Magic number, version 2.4, time zone, accuracy, longest packet, Ethernet.
    let [a, b] = 2_u16.to_ne_bytes();
    let [c, d] = 4_u16.to_ne_bytes();
    let version = u32::from_ne_bytes([a, b, c, d]);
    file.write_all(&words(&[0xA1B2_C3D4, version, 0, 0, 65_535, 1])).expect("written");
    for (id, packet) in (0_u32..).zip(frames) {
        let &Frame { time_ns, port, queue, size_bytes } = packet;
        let seconds = u32::try_from(time_ns / 1_000_000).expect("a short trace");
        let rest = (time_ns % 1_000_000) as u32;
        file.write_all(&words(&[seconds, rest, size_bytes, size_bytes])).expect("written");
        let port = u8::try_from(port).expect("few ports");
        let mut frame = vec![2, 0, 0, 0, port, queue, 2, 0];
        assert_eq!(frame.len(), NUMBER_AT);
        frame.extend(id.to_ne_bytes());
        assert!(NUMBER_AT + 4 <= size_bytes as usize);
        frame.resize(size_bytes as usize, 0);
        file.write_all(&frame).expect("written");
    }
    file.flush().expect("written");
}

pub(crate) fn compile(tool: &FoundTool, dpdk: &FoundTool, folder: &Path, definitions: &[&str]) {
    let flags = succeed(dpdk.in_folder(folder).args(["--cflags", "--libs", "libdpdk"]));
    let mut command = tool.in_folder(folder);
    command.args(["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror"]).args(definitions);
    command.args(["switch.c", "-o", "switch"]).args(flags.split_whitespace());
    succeed(&mut command);
}

pub(crate) fn run(folder: &Path, ports: usize, packets: usize) -> Outcome {
    let mut command = Command::new(folder.join("switch"));
    command.current_dir(folder);
    command.args(["--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "--lcores=0"]);
    command.args(["-m", "256", "--log-level=error"]);
    for port in 0..ports {
        let received = if port == 0 { "rx_pcap=in.pcap," } else { "" };
        command.arg(format!("--vdev=net_pcap{port},{received}tx_pcap=out{port}.pcap"));
    }
    let printed = succeed(command.args(["--", &packets.to_string()]));
    let verdicts = printed.split(' ').filter_map(|word| word.trim().parse().ok()).collect();
    let sent = (0..ports).map(|port| numbers(&folder.join(format!("out{port}.pcap")))).collect();
    Outcome { verdicts, sent }
}

/// The numbers that the packets of a capture carry.
fn numbers(path: &Path) -> Vec<u32> {
    let bytes = fs::read(path).expect("written by the program");
    let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let (mut at, mut numbers) = (24, Vec::new());
    while at < bytes.len() {
        numbers.push(word(at + 16 + NUMBER_AT));
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
