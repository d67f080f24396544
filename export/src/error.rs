//! Why a forest cannot be exported.

use dropcast_forest::ForestError;
use dropcast_runtime::ShapeError;

/// Why a forest cannot be exported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The forest is unsound.
    #[error("the forest is not sound")]
    Forest(#[source] ForestError),
    /// More trees than any target counts.
    #[error("the forest has {0} trees; at most {max} can be exported", max = u16::MAX)]
    TooManyTrees(usize),
    /// No feature, or more than a target can index.
    #[error("the forest has {0} features; 1 to {max} can be exported", max = u8::MAX)]
    FeatureCount(usize),
    /// The forest's features differ from those its origin describes.
    #[error("the forest's features are {forest}, the model's are {origin}")]
    OtherFeatures {
        /// The forest's.
        forest: String,
        /// The origin's.
        origin: String,
    },
    /// Two features have the same name, or names that become the same identifier.
    #[error("features {0:?} and {1:?} have the same name in code")]
    SameName(String, String),
    /// The time constant of the moving averages does not fit 32 bits.
    #[error("the averages' time constant of {0} ns is more than 4.29 s")]
    TimeConstant(u64),
    /// The model's hash is not a SHA-256.
    #[error("{0:?} is not a SHA-256 in hexadecimal")]
    NotAHash(String),
    /// The forest does not fit into complete trees.
    #[error("the forest does not fit into a table")]
    Shape(#[source] ShapeError),
    /// The table would be too large for any device or compiler.
    #[error("the table would take {bytes} bytes, more than {max}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The maximum.
        max: usize,
    },
    /// The whole decision cannot be exported for a switch.
    #[error("the decision cannot be exported to {target}: {problem}")]
    Decision {
        /// The target.
        target: &'static str,
        /// What does not fit or cannot be expressed.
        problem: String,
    },
    /// A target cannot express the forest.
    #[error("the forest cannot be exported to {target}: {problem}")]
    Unsupported {
        /// The target.
        target: &'static str,
        /// The part it cannot express, and what to do.
        problem: String,
    },
}
