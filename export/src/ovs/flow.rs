//! A flow as ovs-ofctl reads it.

use super::registers::Word;
use std::fmt;

/// Marks every exported flow, so that those of the model before can be told from a user's own: "dropcast".
const COOKIE: u64 = u64::from_be_bytes(*b"dropcast");

/// Deletes all that has the cookie, as the first line of a file that `ovs-ofctl add-flows` reads.
pub(super) fn delete_all() -> String {
    format!("delete cookie={COOKIE:#x}/-1\n")
}

/// A flow.
pub(super) struct Flow {
    pub(super) table: usize,
    /// Higher wins.
    pub(super) priority: u32,
    pub(super) matches: Vec<Word>,
    pub(super) actions: Vec<String>,
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cookie={COOKIE:#x}, table={}, priority={}", self.table, self.priority)?;
        for word in self.matches.iter().filter(|word| word.mask != 0) {
            write!(f, ", {}", word.pattern())?;
        }
        writeln!(f, ", actions={}", self.actions.join(","))
    }
}

/// Resubmits to another table and returns.
pub(super) fn resubmit(table: usize) -> String {
    format!("resubmit(,{table})")
}
