//! Builds a forest's exports with the tools of this machine, runs them, and compares every answer
//! with the forest's own.
//!
//! A [`Runner`] knows one target: it builds emitted files into [`Program`]s, which answer rows.
//! [`Built`] exports a forest, writes the files into a temporary folder and builds them; [`Check`]
//! runs its programs on vectors and traces, and reports differences. This crate starts other
//! programs and writes temporary files: it is an edge, like the command line, and no core may
//! depend on it.
//!
//! A new target is one file with a runner, its `mod` line and its line in [`runner_of`]'s table, both here.
//!
//! ```
//! use dropcast_export::Origin;
//! use dropcast_features::FeatureSet;
//! use dropcast_forest::{Forest, Node, Tree};
//! use dropcast_verify::{Built, Check};
//!
//! // A drop is predicted if the packet's queue is longer than 60,000 bytes.
//! let split = Node::Split { feature: 0, threshold: 60_000, left: 1, right: 2 };
//! let tree = Tree { nodes: vec![split, Node::Leaf { weight: 0 }, Node::Leaf { weight: 255 }] };
//! let features: FeatureSet = "queue_length".parse()?;
//! let forest = Forest { features: features.names(), vote_threshold: 127, trees: vec![tree] };
//!
//! // The target dct needs no tool: dropcast-oracle reads the table, as a device does.
//! let origin = Origin::new("queue", &"0".repeat(64), &features);
//! let mut check = Check::new(Built::new(&forest, &origin, "dct".parse()?)?);
//! check.trace(&forest, &[vec![60_000], vec![60_001]])?;
//! assert!(check.finish().iter().all(|program| program.is_verified()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use runner::{Emitted, Runner};
pub use tool::{FoundTool, Tool};
pub use verilog::{LogicCells, synthesise};

use dropcast_export::Target;

/// Every runner.
const RUNNERS: &[&dyn Runner] = &[
    &c::RUNNER,
    &cpp::RUNNER,
    &dct::RUNNER,
    &dpdk::RUNNER,
    &ebpf::RUNNER,
    &json::RUNNER,
    &onnx::RUNNER,
    &verilog::RUNNER,
];

/// The runner of a target, if there is one.
pub fn runner_of(target: Target) -> Option<&'static dyn Runner> {
    RUNNERS.iter().copied().find(|runner| runner.target() == target.name())
}
