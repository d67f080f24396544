//! Reading and writing labelled traces (`docs/trace.md`).

mod artifact;
mod reader;
mod table;
mod writer;

pub use reader::TraceReader;
pub use writer::TraceWriter;

pub(crate) use artifact::is_artifact;
pub(crate) use table::{meta_in_footer, meta_of};

/// Footer key of a labelled trace: its [`TraceMeta`](crate::TraceMeta), as JSON.
pub const TRACE_KEY: &str = "dropcast.trace";

/// Columns of a labelled trace that are not features.
const BASE_COLUMNS: [&str; 7] =
    ["time_ns", "switch_id", "port", "queue", "size_bytes", "drop", "outcome"];

/// The features of this house in column order. Others may follow them.
const FEATURE_ORDER: [&str; 12] = [
    "queue_length",
    "avg_queue_length",
    "occupancy",
    "avg_occupancy",
    "longest_queue",
    "rank",
    "longest_gap",
    "projected_occupancy",
    "level_occupancy",
    "level_in_quarter_rtt",
    "level_in_one_rtt",
    "level_in_two_rtts",
];
