//! The columns of a labelled trace.

/// Columns of a labelled trace that are not features.
pub(crate) const BASE_COLUMNS: [&str; 8] =
    ["time_ns", "switch_id", "port", "queue", "size_bytes", "drop", "outcome", REAL_DROP];

/// What the real switch did; only in traces that tell of real drops.
pub(crate) const REAL_DROP: &str = "real_drop";
