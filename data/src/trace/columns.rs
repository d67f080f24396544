//! The columns of a labelled trace.

/// Columns of a labelled trace that are not features.
pub(crate) const BASE_COLUMNS: [&str; 7] =
    ["time_ns", "switch_id", "port", "queue", "size_bytes", "drop", "outcome"];
