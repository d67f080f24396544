//! How rows are read: in batches.

/// Rows of a batch, at most.
pub(crate) const BATCH_ROWS: usize = 65_536;
