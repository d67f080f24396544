//! Exports forests as tables and code for devices, with vectors that verify them.
//!
//! [`export`] turns a forest into the files of one [`Target`]. It does no IO: the caller writes the
//! files. [`Vectors`] are the rows on which a device must agree with
//! [`Forest::score`](dropcast_forest::Forest::score), and [`Facts`] are a forest's sizes.
//!
//! A target is one file that turns a checked model into text or bytes, and one line in `targets.rs`.
//!
//! ```
//! use dropcast_export::{Origin, TableResources, export};
//! use dropcast_features::FeatureSet;
//! use dropcast_forest::{Forest, Node, Tree};
//!
//! // A drop is predicted if the packet's queue is longer than 60,000 bytes.
//! let split = Node::Split { feature: 0, threshold: 60_000, left: 1, right: 2 };
//! let tree = Tree { nodes: vec![split, Node::Leaf { weight: 0 }, Node::Leaf { weight: 255 }] };
//! let features: FeatureSet = "queue_length".parse()?;
//! let forest = Forest { features: features.names(), vote_threshold: 127, trees: vec![tree] };
//!
//! let origin = Origin::new("queue", &"0".repeat(64), &features);
//! let files = export(&forest, &origin, "p4".parse()?)?;
//! assert!(files.iter().any(|file| file.name.ends_with(".p4")));
//! assert_eq!(TableResources::new(&forest, &origin)?.forest.thresholds[0].distinct, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod about;
mod c;
mod checked;
mod complete;
mod cpp;
mod dct;
mod decision;
mod definitions;
mod ebpf;
mod error;
mod facts;
mod fixed_layout;
mod golden;
mod ident;
mod json;
mod onnx;
mod origin;
mod p4;
mod region;
mod resources;
pub mod tables;
mod target;
mod targets;
mod ties;
mod tracker;
mod vectors;
mod verilog;

pub use error::ExportError;
pub use facts::{Facts, FeatureThresholds};
pub use fixed_layout::FixedLayout;
pub use golden::{GoldenEvent, GoldenPackets};
pub use json::JSON_TABLE_VERSION;
pub use origin::{Column, Origin};
pub use resources::{
    Encoding, FeatureResources, Measured, TableResources, TableTotals, TreeResources,
};
pub use tables::{Tables, TernaryEntries};
pub use target::{EmittedFile, Target, export};
pub use targets::{TargetError, TargetKind};
pub use ties::Ties;
pub use vectors::{LeafPlace, RowKind, Vectors};

/// The programs on the page of `dropcast-runtime` compile. That crate is also built where the page is not.
#[cfg(doctest)]
#[doc = include_str!("../../docs/oracle.md")]
struct OraclePage;
