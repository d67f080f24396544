//! Where a forest comes from that was trained elsewhere, and how far it is still the same.

use serde::{Deserialize, Serialize};

/// What a forest was imported from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportOrigin {
    /// The tool that imported it, and its version.
    pub tool: String,
    /// The file's format: `onnx`, `lightgbm` or `xgboost`.
    pub format: String,
    /// What wrote the file, as far as it says.
    pub producer: Option<String>,
    /// The file's name, without the path.
    pub name: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Whether the forest still decides as the original.
    pub agreement: Agreement,
}

/// How far a forest with 8-bit weights decides as the one with floats that it was made from.
/// Splits are always exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    /// Combinations of leaves, one of each tree, that rows of 32-bit features can reach. `None` if
    /// they were not looked at one by one.
    pub combinations: Option<u64>,
    /// How many of these decide otherwise, or are decided by how the original rounds its sums.
    pub differing: Option<u64>,
    /// Decisions differ at most where the original's score is this near its threshold, in units of
    /// that score. 0 if they are proven equal.
    pub margin: f64,
}

impl Agreement {
    /// Proven equal by reasoning about the sums alone.
    pub const EQUAL: Agreement = Agreement { combinations: None, differing: None, margin: 0.0 };

    /// Whether every row is proven to be decided as by the original.
    pub fn is_proven(&self) -> bool {
        match self.differing {
            Some(differing) => differing == 0,
            None => self.margin == 0.0,
        }
    }
}
