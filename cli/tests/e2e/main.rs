//! The `dropcast` command from outside: files in, files and text out, exit codes.
//!
//! A snapshot is a transcript: commands as typed, and their output.
#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use std::path::PathBuf;

mod bad_input;
mod bad_output;
mod capture_draft;
mod carrying_over;
mod counters;
mod daily;
mod decisions;
#[cfg(target_os = "linux")]
mod disturbed;
mod drop_reports;
mod folders;
mod formats;
mod help;
mod hostile;
mod import;
mod inspect;
#[cfg(target_os = "linux")]
mod kills;
mod layouts;
mod ns3;
mod objects;
mod other_buffers;
mod other_inputs;
#[cfg(all(feature = "linfa", feature = "smartcore"))]
mod other_trainers;
mod own_features;
mod pipeline;
mod pipes;
mod realism;
mod resources;
mod room;
mod shell_files;
mod splits;
mod statistics;
mod sweep;
mod switch_draft;
mod switches;
mod time_units;
mod training;
mod trust;
mod tutorial;
mod verdict;
mod verify;

/// The program that runs a subcommand.
fn program(_: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_dropcast"))
}
