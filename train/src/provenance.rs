//! The record of how a model was made.

use crate::budgets::Budget;
use crate::params::CheckedForestParams;
use crate::splits::{PassedOver, Split};
use crate::votes::VoteRule;
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, SwitchContext, Tree};
use serde::{Deserialize, Serialize};

/// A model with the record of how this crate trained it.
pub type TrainedModel = dropcast_forest::Model<Provenance>;

/// How a model was made: repeating it gives the same model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The tool and its version.
    pub tool: String,
    /// Where the labelled rows came from.
    pub data: Vec<DataOrigin>,
    /// Parameters of the forest, and the seed (`seed`).
    pub parameters: CheckedForestParams,
    /// Which rows trained and which tested.
    pub split: Split,
    /// Splits that were tried before: they leave a part without drops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<PassedOver>,
    /// How the vote threshold was chosen.
    pub vote: VoteRule,
    /// The budget that the grown forest was squeezed into, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The ridge penalty toward the grown weights, in rows per leaf, if leaf weights were refitted
    /// jointly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refit_leaves: Option<f64>,
}

impl Provenance {
    /// That of a forest as it was grown.
    pub fn new(
        tool: String,
        data: &[DataOrigin],
        parameters: CheckedForestParams,
        split: Split,
        vote: VoteRule,
    ) -> Self {
        Provenance {
            tool,
            data: data.to_vec(),
            parameters,
            split,
            passed_over: Vec::new(),
            vote,
            budget: None,
            refit_leaves: None,
        }
    }

    /// The model of these trees, which was made like this; its vote threshold is not chosen yet.
    pub fn model(
        self,
        trees: Vec<Tree>,
        features: FeatureSet,
        switch: SwitchContext,
    ) -> TrainedModel {
        let forest = Forest { features: features.names(), vote_threshold: 0, trees };
        TrainedModel { provenance: Some(self), ..TrainedModel::new(forest, features, switch) }
    }
}

/// A file or another source of rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataOrigin {
    /// Its name without the path: a model does not depend on where its data was stored.
    pub name: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// The number that identifies it in every random draw ([`crate::RunBatch::run`]).
    pub run: u64,
}
