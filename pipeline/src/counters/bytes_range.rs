//! Numbers of bytes of which bounds are known.

use serde::Serialize;

/// Bytes, of which bounds are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BytesRange {
    /// Certainly so many.
    pub at_least: u64,
    /// Certainly no more.
    pub at_most: u64,
}

impl BytesRange {
    /// Adds others.
    pub(super) fn add(&mut self, other: BytesRange) {
        self.at_least = self.at_least.saturating_add(other.at_least);
        self.at_most = self.at_most.saturating_add(other.at_most);
    }
}
