//! Builds a forest's exports with the tools of this machine, runs them, and compares every answer
//! with the forest's own.
//!
//! A runner builds one target's files into [`Program`]s, which answer rows. [`Built`] exports a forest, writes the files into a temporary folder and builds them; [`TargetCheck`]
//! runs its programs on vectors and traces, and reports differences. This crate starts other
//! programs and writes temporary files: it is an edge, like the command line, and no core may
//! depend on it.
//!
//! A new target is one file in `runners/`, with its `mod` line and its line in `build_of`, both in `runners.rs`.
//!
//! ```
//! use dropcast_export::Origin;
//! use dropcast_features::FeatureSet;
//! use dropcast_forest::{Forest, Node, Tree};
//! use dropcast_verify::{Built, TargetCheck};
//!
//! // A drop is predicted if the packet's queue is longer than 60,000 bytes.
//! let split = Node::Split { feature: 0, threshold: 60_000, left: 1, right: 2 };
//! let tree = Tree { nodes: vec![split, Node::Leaf { weight: 0 }, Node::Leaf { weight: 255 }] };
//! let features: FeatureSet = "queue_length".parse()?;
//! let forest = Forest { features: features.names(), vote_threshold: 127, trees: vec![tree] };
//!
//! // The target dct needs no tool: dropcast-runtime reads the table, as a device does.
//! let origin = Origin::new("queue", &"0".repeat(64), &features);
//! let mut check = TargetCheck::new(Built::new(&forest, &origin, "dct".parse()?)?);
//! check.trace(&forest, &[vec![60_000], vec![60_001]])?;
//! assert!(check.finish().iter().all(|program| program.is_verified()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod built;
mod check;
mod compare;
mod compiled;
mod driven;
mod emitted;
mod error;
mod pipe;
mod program;
mod python;
mod runners;
mod tool;

pub use built::Built;
pub use check::{KindCheck, ProgramCheck, TargetCheck};
pub use compare::{Comparison, Mismatch};
pub use driven::{Driven, drive};
pub use error::VerifyError;
pub use program::{Answers, Evidence, Program};
pub use runners::{LogicCells, synthesise};
pub use tool::{FoundTool, Tool};
