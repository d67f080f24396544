//! Labelled traces, as stages after `collect` read them.

#[cfg(feature = "polars")]
pub mod frames;
pub(crate) mod kept_rows;
mod labelled;
mod memory_rows;
mod names;
pub mod timeline;

pub(crate) use labelled::run_of;
pub use labelled::{LabelledTrace, LabelledTraces, TraceBatches, TraceRows, in_common};
