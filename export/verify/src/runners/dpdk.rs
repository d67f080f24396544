//! The SWX program, run by DPDK's pipeline library: packets in, packets out.

use crate::emitted::Emitted;
use crate::error::io_error;
use crate::tool::run;
use crate::{Answers, Program, Tool, VerifyError};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const COMPILER: Tool = Tool { command: "gcc", version_arguments: &["--version"], package: "gcc" };

/// DPDK's static libraries with their headers.
const DPDK: Tool = Tool {
    command: "pkg-config",
    version_arguments: &["--modversion", "libdpdk"],
    package: "pkg-config libdpdk-dev",
};

/// Libraries for the pipeline. Not all of DPDK: with shared libraries drivers are loaded, and one
/// of them brings a second pipeline library.
const LIBRARIES: [&str; 22] = [
    "pipeline",
    "table",
    "port",
    "acl",
    "hash",
    "lpm",
    "cryptodev",
    "ethdev",
    "sched",
    "ip_frag",
    "meter",
    "security",
    "timer",
    "eventdev",
    "mbuf",
    "mempool",
    "ring",
    "rcu",
    "net",
    "kvargs",
    "telemetry",
    "eal",
];
const SYSTEM_LIBRARIES: [&str; 6] = ["numa", "pcap", "bsd", "pthread", "dl", "m"];

const SWITCH: &str = include_str!("dpdk/switch.c");

/// Rows per call.
const CHUNK_ROWS: usize = 1 << 18;

pub(super) fn build(emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
    let (program, prefix) = emitted.file("spec")?;
    let (compiler, dpdk) = (COMPILER.find()?, DPDK.find()?);
    let source = emitted.folder.join("switch.c");
    fs::write(&source, SWITCH).map_err(io_error(&source, "be written"))?;
    let flags = run(dpdk.in_folder(emitted.folder).args(["--cflags", "libdpdk"]), "finding DPDK")?;
    let flags = String::from_utf8_lossy(&flags).into_owned();
    let mut command = compiler.in_folder(emitted.folder);
    command.args(flags.split_whitespace()).args(["-O2", "-DALLOW_EXPERIMENTAL_API"]);
    command.args(["-o", "switch", "switch.c", "-Wl,--start-group"]);
    command.args(LIBRARIES.map(|library| format!("-l:librte_{library}.a")));
    command.arg("-Wl,--end-group");
    command.args(SYSTEM_LIBRARIES.map(|library| format!("-l{library}")));
    run(&mut command, "compiling a switch")?;
    Ok(vec![Box::new(Switch {
        name: format!("DPDK {}", dpdk.version()),
        folder: emitted.folder.to_owned(),
        program,
        prefix,
    })])
}

/// A compiled switch and its program.
struct Switch {
    name: String,
    folder: PathBuf,
    program: PathBuf,
    prefix: String,
}

impl Program for Switch {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
        let (mut scores, mut drops) = (Vec::new(), Vec::new());
        for rows in rows.chunks(CHUNK_ROWS) {
            let packets = self.pass(&pcap(rows.iter().map(|row| query(row))))?;
            let answers = read(&packets, rows).map_err(|problem| VerifyError::BadAnswer {
                program: self.name.clone(),
                problem,
            })?;
            scores.extend(answers.iter().map(|&(score, _)| score));
            drops.extend(answers.iter().map(|&(_, drop)| drop));
        }
        Ok(Answers { scores: Some(scores), drops: Some(drops) })
    }
}

impl Switch {
    /// The packets that come out for these packets.
    fn pass(&self, packets: &[u8]) -> Result<Vec<u8>, VerifyError> {
        let [input, output] = ["in.pcap", "out.pcap"].map(|name| self.folder.join(name));
        fs::write(&input, packets).map_err(io_error(&input, "be written"))?;
        let mut command = Command::new(self.folder.join("switch"));
        command.current_dir(&self.folder).arg(&self.program).args([".", &self.prefix]);
        run(command.args([&input, &output]), "running the program in DPDK")?;
        fs::read(&output).map_err(io_error(&output, "be read"))
    }
}

/// The packets' Ethernet header as sent, and as returned.
const ASKED: &[u8] = b"\x02dest1\x02sourc\x88\xb5";
const ANSWERED: &[u8] = b"\x02sourc\x02dest1\x88\xb5";

/// A packet that carries a row.
fn query(row: &[u32]) -> Vec<u8> {
    let values = row.iter().flat_map(|value| value.to_be_bytes());
    ASKED.iter().copied().chain(values).chain([0xFF; 5]).collect()
}

/// A pcap file in native byte order.
fn pcap(packets: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    // Magic number, version 2.4, time zone, accuracy, longest packet, Ethernet.
    let header = [0xA1B2_C3D4, u32::from_ne_bytes(version()), 0, 0, 65_535, 1];
    let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_ne_bytes()).collect();
    for packet in packets {
        let length = packet.len() as u32;
        bytes.extend([0, 0, length, length].iter().flat_map(|word| word.to_ne_bytes()));
        bytes.extend(packet);
    }
    bytes
}

fn version() -> [u8; 4] {
    let ([a, b], [c, d]) = (2_u16.to_ne_bytes(), 4_u16.to_ne_bytes());
    [a, b, c, d]
}

/// The score and the decision in each packet; the rest must be as sent, with the addresses swapped.
fn read(mut file: &[u8], rows: &[Vec<u32>]) -> Result<Vec<(u32, bool)>, String> {
    let mut take = |count: usize| {
        let (taken, rest) = file.split_at_checked(count).ok_or("the packets end early")?;
        file = rest;
        Ok::<&[u8], String>(taken)
    };
    take(24)?;
    let mut answers = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        take(16)?;
        let expected = [ANSWERED, &query(row)[ASKED.len()..]].concat();
        let packet = take(expected.len())?;
        let (as_sent, answer) = packet.split_at(expected.len() - 5);
        let (Ok([a, b, c, d, drop @ (0 | 1)]), true) =
            (<[u8; 5]>::try_from(answer), expected.starts_with(as_sent))
        else {
            return Err(format!("packet {at} came back as {packet:?}"));
        };
        answers.push((u32::from_be_bytes([a, b, c, d]), drop == 1));
    }
    if take(1).is_ok() {
        return Err("more packets came back than were sent".to_owned());
    }
    Ok(answers)
}
