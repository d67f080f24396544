//! A flow as ovs-ofctl reads it.

use super::registers::Word;
use std::fmt;

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
        write!(f, "table={}, priority={}", self.table, self.priority)?;
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
