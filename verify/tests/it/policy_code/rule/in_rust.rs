//! The rule of `dropcast-oracle`, in this process and as the exported file.

use crate::decision::in_rust::{build_program, succeed};
use dropcast_data::SwitchSpec;
use dropcast_export::{EmittedFile, PolicyPackets};
use dropcast_oracle::{RuleQueue, Waiting};
use std::fs;
use std::process::Command;

/// What the state of a switch takes, without its memory of the queues.
const OF_THE_SWITCH: usize = 80;

/// The verdicts of a program around the exported file, compiled with rustc.
pub(crate) fn compiled(
    files: &[EmittedFile],
    spec: &SwitchSpec,
    packets: &PolicyPackets,
) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    for file in files {
        fs::write(path.join(&file.name), &file.bytes).expect("written");
    }
    fs::write(path.join("packets.csv"), packets.to_csv()).expect("written");
    let of_a_queue = size_of::<RuleQueue>() + size_of::<Waiting>();
    assert_eq!(of_a_queue, 32);
    let size = OF_THE_SWITCH + spec.queues() * of_a_queue;
    let program = include_str!("main.rs").replace("SIZE", &size.to_string());
    fs::write(path.join("main.rs"), program).expect("written");
    build_program(path);
    let mut program = Command::new(path.join("decide"));
    program.stdin(fs::File::open(path.join("packets.csv")).expect("written"));
    let printed = String::from_utf8(succeed(&mut program)).expect("text");
    printed.lines().map(|line| line.parse().expect("a verdict")).collect()
}
