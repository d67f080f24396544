//! The tables of a program with their entries, independent of format.

use crate::tables::{Code, Ternary};

/// A match-action table.
pub(crate) struct P4Table {
    /// Its identifier; 24 bits.
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) keys: Vec<Key>,
    /// The first is that of entries.
    pub(crate) actions: Vec<P4Action>,
    /// The default action until entries are loaded, if another than with them.
    pub(crate) empty: Option<Call>,
    /// The default action with the entries.
    pub(crate) default: Call,
    pub(crate) entries: Vec<Entry>,
    /// The most entries.
    pub(crate) size: usize,
}

/// What is matched, by a ternary pattern.
pub(crate) struct Key {
    pub(crate) expression: String,
    /// Its name for control planes.
    pub(crate) name: String,
}

/// An action.
pub(crate) struct P4Action {
    /// Its identifier; 24 bits.
    pub(crate) id: u32,
    pub(crate) name: String,
    /// Names and widths.
    pub(crate) params: Vec<(String, usize)>,
    /// Statements.
    pub(crate) body: Vec<String>,
}

/// An action with its data.
#[derive(Clone)]
pub(crate) struct Call {
    /// Which of the table's actions.
    pub(crate) action: usize,
    pub(crate) data: Vec<Code>,
}

/// An entry.
pub(crate) struct Entry {
    /// One for each key.
    pub(crate) patterns: Vec<Ternary>,
    /// 0 to 32. Of the entries that match, the one with the highest wins.
    pub(crate) priority: u32,
    /// The first action's data.
    pub(crate) data: Vec<Code>,
}

impl P4Table {
    /// The action of entries.
    pub(crate) fn action(&self) -> &P4Action {
        &self.actions[0]
    }

    /// The default action with the entries, and its data.
    pub(crate) fn default_action(&self) -> (&P4Action, &[Code]) {
        (&self.actions[self.default.action], &self.default.data)
    }
}
