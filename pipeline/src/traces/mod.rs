//! Labelled traces, as stages after `collect` read them.

pub(crate) mod kept_rows;
mod labelled;
mod memory_rows;
mod names;
pub mod timeline;

pub(crate) use labelled::run_of;
/// Drops further apart than this many base round-trip times belong to different episodes.
pub const EPISODE_GAP_RTTS: u64 = 10;

pub use labelled::{LabelledTrace, LabelledTraces, TraceBatches, TraceRows, in_common};
