//! Labelled traces, as stages after `collect` read them.

pub(crate) mod kept_rows;
mod labelled_trace;
mod labelled_traces;
mod memory_rows;
mod names;
mod rows_digest;
pub mod timeline;

pub(crate) use labelled_traces::repeated;
pub(crate) use rows_digest::RowsDigest;
/// Drops further apart than this many base round-trip times belong to different episodes.
pub const EPISODE_GAP_RTTS: u64 = 10;

pub use labelled_trace::{LabelledTrace, TraceBatches, TraceRows};
pub use labelled_traces::{LabelledTraces, in_common};
