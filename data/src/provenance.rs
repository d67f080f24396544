//! Where the rows of a trace came from.

use crate::InputNote;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One input, as it is recorded in whatever is made from it. Holds no path and no time of day, so
/// that equal inputs give equal bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputProvenance {
    /// File name without its directory; `-` for standard input.
    pub name: String,
    /// SHA-256 of the file's bytes as stored (compressed, if it is), lower-case hex.
    pub sha256: String,
    /// Rows used: events, or rows of a labelled trace.
    pub events: u64,
    /// Rows left out, by reason (`docs/events.md`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<String, u64>,
    /// Rows used that are worth knowing about, by what they are (`docs/trace.md`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<InputNote, u64>,
}
