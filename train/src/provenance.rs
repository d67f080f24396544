//! The record of how a model was made.

use crate::{Budget, CheckedForestParams, Split, VoteRule};
use serde::{Deserialize, Serialize};

/// How a model was made: the same again gives the same model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The tool and its version.
    pub tool: String,
    /// Where the labelled rows came from.
    pub data: Vec<DataOrigin>,
    /// Parameters of the forest, and the seed (`random_state`).
    pub parameters: CheckedForestParams,
    /// Which rows trained and which tested.
    pub split: Split,
    /// How the vote threshold was chosen.
    pub vote: VoteRule,
    /// What the forest was squeezed into after it was grown; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// How strongly leaf weights were drawn to those the forest was grown with when they were fit
    /// together, in rows for each leaf; absent if they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refit_leaves: Option<f64>,
}

/// A file, or whatever else rows come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataOrigin {
    /// Its name, without the path: a model does not depend on where its data lay.
    pub name: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// The number by which its rows are known ([`crate::RunBatch::run`]).
    pub run: u64,
}
