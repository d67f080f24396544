//! Builds a forest's exports with the tools of this machine, runs them, and compares every answer
//! with the forest's own.
//!
//! A [`Runner`] knows one target: it builds emitted files into [`Program`]s, which answer rows.
//! [`Built`] exports a forest, writes the files into a temporary folder and builds them; [`Check`]
//! runs its programs on vectors and traces, and reports differences. This crate starts other
//! programs and writes temporary files: it is an edge, like the command line, and no core may
//! depend on it.
//!
//! A new target needs one file with a runner, and one line in `runner.rs`.

mod built;
mod c;
mod check;
mod compare;
mod compiled;
mod cpp;
mod dct;
mod dpdk;
mod ebpf;
mod error;
mod json;
mod onnx;
mod pipe;
mod program;
mod python;
mod runner;
mod tool;
mod verilog;

pub use built::Built;
pub use check::{Check, KindCheck, ProgramCheck};
pub use compare::{Comparison, Mismatch};
pub use error::VerifyError;
pub use program::{Answers, Evidence, Program};
pub use runner::{Emitted, Runner, runner_of};
pub use tool::{FoundTool, Tool};
pub use verilog::{LogicCells, synthesise};
