//! Exports forests as tables and code for devices, with vectors that verify them.
//!
//! [`export`] turns a forest into the files of one [`Target`]. It does no IO: the caller writes the
//! files. [`Vectors`] are the rows on which a device must agree with
//! [`Forest::score`](dropcast_forest::Forest::score), and [`Facts`] are a forest's sizes.
//!
//! A target is one file that turns a checked forest into text or bytes, plus one line in
//! `target.rs`.

mod about;
mod c;
mod checked;
mod complete;
mod cpp;
mod dct;
mod dpdk;
mod ebpf;
mod error;
mod facts;
mod ident;
mod json;
mod onnx;
mod origin;
mod ovs;
mod p4;
mod region;
mod resources;
mod splitmix;
pub mod tables;
mod target;
mod ties;
mod tna;
mod tracker;
mod vectors;
mod verilog;

pub use error::ExportError;
pub use facts::{Facts, FeatureThresholds};
pub use origin::{Column, Origin};
pub use resources::{Encoding, FeatureResources, Measured, Resources, TableTotals, TreeResources};
pub use tables::{Tables, TernaryEntries};
pub use target::{EmittedFile, Target, UnknownTarget, export};
pub use ties::Ties;
pub use vectors::{LeafPlace, RowKind, Vectors};
