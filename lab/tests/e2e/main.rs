//! The `dropcast-lab` command from outside, and `dropcast` where it makes what the lab reads.
//!
//! A snapshot is a transcript: commands as typed, and their output.
#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use std::path::{Path, PathBuf};

mod closed_loop;
#[cfg(target_os = "linux")]
#[path = "../../../cli/tests/e2e/disturbed.rs"]
mod disturbed;
mod help;
mod hostile;
#[cfg(target_os = "linux")]
mod kills;
mod map;
mod papers;
mod reproduce;
#[path = "../../../cli/tests/e2e/room.rs"]
mod room;

/// The program that runs a subcommand. `dropcast` belongs to another package: `cargo build --release` puts it next to the
/// lab's.
fn program(subcommand: &str) -> PathBuf {
    let lab = Path::new(env!("CARGO_BIN_EXE_dropcast-lab"));
    let is_pipelines = ["collect", "export", "run", "sweep", "train"].contains(&subcommand);
    if !is_pipelines {
        return lab.to_owned();
    }
    let dropcast = lab.with_file_name(format!("dropcast{}", std::env::consts::EXE_SUFFIX));
    assert!(dropcast.exists(), "{}: build it first: cargo build --release", dropcast.display());
    dropcast
}
