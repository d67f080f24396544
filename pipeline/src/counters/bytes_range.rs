//! Numbers of bytes of which bounds are known.

use serde::Serialize;

/// The sum; `u64::MAX` if it is larger, since a file may claim anything.
pub(super) fn total(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

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
