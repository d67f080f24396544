//! Numbers of which bounds are known.

use serde::Serialize;

/// The sum; `u64::MAX` if it is larger, since a file may claim anything.
pub(super) fn total(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

/// A number of which bounds are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bounds {
    /// Certainly so many.
    pub at_least: u64,
    /// Certainly no more; null where counters do not tell.
    pub at_most: Option<u64>,
}

/// A number of which bounds are known; `u64::MAX` is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    /// Certainly so many.
    pub(super) at_least: u64,
    /// Certainly no more.
    pub(super) at_most: u64,
}

impl Range {
    pub(super) const UNKNOWN: Range = Range { at_least: 0, at_most: u64::MAX };

    pub(super) fn exactly(number: u64) -> Self {
        Range { at_least: number, at_most: number }
    }

    /// Adds others.
    pub(super) fn add(&mut self, other: Range) {
        self.at_least = self.at_least.saturating_add(other.at_least);
        self.at_most = self.at_most.saturating_add(other.at_most);
    }

    /// Only what is certainly so many.
    pub(super) fn or_more(self) -> Self {
        Range { at_most: u64::MAX, ..self }
    }

    pub(super) fn bounds(self) -> Bounds {
        let at_most = Some(self.at_most).filter(|&most| most < u64::MAX);
        Bounds { at_least: self.at_least, at_most }
    }
}
