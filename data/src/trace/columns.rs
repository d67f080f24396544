//! The columns of a labelled trace.

/// Columns of a labelled trace that are not features.
pub(crate) const BASE_COLUMNS: [&str; 9] =
    ["time_ns", "switch_id", "port", "queue", "size_bytes", "drop", "outcome", ECN_MARK, REAL_DROP];

/// Whether the real switch marked the packet; only in traces of events that tell of marks.
pub(crate) const ECN_MARK: &str = "ecn_mark";

/// What the real switch did; only in traces that tell of real drops.
pub(crate) const REAL_DROP: &str = "real_drop";
