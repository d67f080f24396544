//! What the rows of a chunk have in common.

use crate::splits::Part;
use serde::{Deserialize, Serialize};

/// More than any rows and draws. Sums of 65,535 such counts do not overflow.
pub(crate) const MOST_COUNTED: u64 = 1 << 48;

/// The run, switch, part and class of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct RowKind {
    pub(crate) run: u64,
    pub(crate) switch: u16,
    pub(crate) part: Part,
    pub(crate) drop: bool,
}

impl RowKind {
    /// 0 accepted, 1 dropped.
    pub(crate) fn class(&self) -> usize {
        usize::from(self.drop)
    }
}
