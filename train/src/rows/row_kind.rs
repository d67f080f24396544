//! What the rows of a chunk have in common.

use crate::splits::Part;
use serde::{Deserialize, Serialize};

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
