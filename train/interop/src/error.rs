//! Why a forest could not be imported.

use dropcast_forest::{Agreement, ForestError};

/// Why a forest could not be imported.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The format is unknown.
    #[error(
        "is not a forest in a known format: {0}; known are ONNX with a tree ensemble (skl2onnx), LightGBM's save_model text and dump_model JSON, XGBoost's save_model JSON and its dumps as text or JSON"
    )]
    Unknown(&'static str),
    /// The file is damaged, or violates its format.
    #[error("{at}: {problem}")]
    Wrong {
        /// Where in the file: a line, a tree and node, a field.
        at: String,
        /// What is wrong.
        problem: String,
    },
    /// The forest is sound, but integer trees cannot express it.
    #[error("{at}: {why}")]
    Refused {
        /// Where in the file.
        at: String,
        /// What is not supported, and what to do.
        why: String,
    },
    /// The features of the columns are unknown.
    #[error("its features: {0}")]
    Features(String),
    /// Weights of 8 bits are too coarse to decide every row as the original does.
    #[error("the imported forest would not decide every row as the original does: {}; allow rounding to accept this", describe(.0))]
    NotProven(Agreement),
    /// The forest is not sound.
    #[error("the forest is not sound: {0}")]
    Forest(#[from] ForestError),
}

fn describe(agreement: &Agreement) -> String {
    let margin = agreement.margin;
    match (agreement.differing, agreement.combinations) {
        (Some(differing), Some(all)) => format!(
            "{differing} of {all} combinations of leaves differ with 8-bit weights, where its score is up to {margin:.3e} from its threshold"
        ),
        _ => format!(
            "there are too many combinations of leaves to compare, and with 8-bit weights scores are up to {margin:.3e} off"
        ),
    }
}
