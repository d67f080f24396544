//! Tables of flows, as settings size them.

use crate::BuildError;
use dropcast_features::FlowTable;

/// An empty table of `flows` slots.
///
/// # Errors
/// If the number of slots is no power of two up to 2^24.
pub(crate) fn flow_table<T: Clone + Default>(flows: usize) -> Result<FlowTable<T>, BuildError> {
    FlowTable::new(flows).ok_or_else(|| {
        let problem = format!("is {flows}, expected a power of two up to 2^24");
        BuildError::parameter("flows", problem)
    })
}
