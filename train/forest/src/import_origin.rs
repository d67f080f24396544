//! The origin of a forest trained elsewhere, and how closely it agrees with the original.

use serde::{Deserialize, Serialize};

/// The file a forest was imported from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportOrigin {
    /// The tool that imported it, and its version.
    pub tool: String,
    /// The file's format: `onnx`, `lightgbm` or `xgboost`.
    pub format: String,
    /// The tool that wrote the file, if the file names it.
    pub producer: Option<String>,
    /// The file's name, without the path.
    pub name: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// How far the forest decides as the original does.
    pub agreement: Agreement,
}

/// How far a forest with 8-bit weights decides as its floating-point original. Splits are always
/// exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    /// Combinations of leaves, one per tree, that rows of 32-bit features can reach. `None` if they
    /// were not enumerated.
    pub combinations: Option<u64>,
    /// How many of these decide differently, or depend on how the original rounds its sums.
    pub differing: Option<u64>,
    /// Decisions can differ only where the original's score is this close to its threshold, in
    /// units of that score. 0 if they are proven equal.
    pub margin: f64,
}

impl Agreement {
    /// Proven equal by reasoning about the sums alone.
    pub const EQUAL: Agreement = Agreement { combinations: None, differing: None, margin: 0.0 };

    /// Whether the forest provably decides every row as the original does.
    pub fn is_proven(&self) -> bool {
        match self.differing {
            Some(differing) => differing == 0,
            None => self.margin == 0.0,
        }
    }
}
