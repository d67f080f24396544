//! The columns of a labelled trace.

use crate::{DataError, TraceMeta};

/// Columns of a labelled trace that are not features.
pub(crate) const BASE_COLUMNS: [&str; 11] = [
    "time_ns",
    "switch_id",
    "port",
    "queue",
    "size_bytes",
    "drop",
    "outcome",
    ECN_MARK,
    FLOW_HASH,
    FIRST_RTT,
    REAL_DROP,
];

/// Whether the real switch marked the packet; only in traces of events that record marks.
pub(crate) const ECN_MARK: &str = "ecn_mark";

/// A hash of the packet's flow; only in traces that keep flows.
pub(crate) const FLOW_HASH: &str = "flow_hash";

/// Whether the packet is of its flow's first round-trip time; only in traces that keep flows.
pub(crate) const FIRST_RTT: &str = "first_rtt";

/// What the real switch did; only in traces that record real drops.
pub(crate) const REAL_DROP: &str = "real_drop";

impl TraceMeta {
    /// Refuses features that would be two columns of one name; `file` is what errors call the trace.
    ///
    /// # Errors
    /// If a feature is named twice or like another column.
    pub fn check_columns(&self, file: &str) -> Result<(), DataError> {
        for (place, name) in self.features.iter().enumerate() {
            if BASE_COLUMNS.contains(&name.as_str()) || self.features[..place].contains(name) {
                let problem = format!("would have two columns {name:?}");
                return Err(DataError::file(file, problem, "name each feature once"));
            }
        }
        Ok(())
    }
}
