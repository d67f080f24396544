//! A node of XGBoost's dumps, as both of them have it.

use super::printed::single;
use crate::threshold::Comparison;
use crate::values::{ForeignNode, Leaf};
use dropcast_features::FeatureSet;
use serde::Deserialize;

/// A node of either dump.
#[derive(Default, Deserialize)]
pub(super) struct NodeText {
    pub(super) nodeid: usize,
    pub(super) leaf: Option<f64>,
    pub(super) split: Option<String>,
    pub(super) split_condition: Option<serde_json::Value>,
    pub(super) yes: Option<usize>,
    pub(super) no: Option<usize>,
    pub(super) missing: Option<usize>,
    #[serde(default)]
    pub(super) children: Vec<NodeText>,
}

impl NodeText {
    /// Its threshold, or its leaf's value.
    pub(super) fn number(&self) -> Option<f64> {
        self.leaf.or_else(|| self.split_condition.as_ref()?.as_f64())
    }

    /// Whether it is a split that sends a missing value to another side than 0.
    pub(super) fn sends_zero_elsewhere(&self) -> bool {
        let of_zero = if self.number() > Some(0.0) { self.yes } else { self.no };
        self.leaf.is_none() && self.missing.is_some() && self.missing != of_zero
    }

    /// The node, with the columns of its features.
    pub(super) fn read(&self, features: &FeatureSet) -> Result<ForeignNode, String> {
        if let Some(value) = self.leaf {
            return Ok(ForeignNode::Leaf(Leaf::new(f64::from(single(value)?))));
        }
        let missing = |field: &str| format!("has neither a leaf nor {field}");
        let split = self.split.as_deref().ok_or_else(|| missing("a split"))?;
        let condition =
            self.split_condition.as_ref().ok_or_else(|| missing("a split_condition"))?;
        let threshold = condition
            .as_f64()
            .ok_or_else(|| "splits on categories, which integer trees do not".to_owned())?;
        Ok(ForeignNode::Split {
            feature: column(split, features)?,
            threshold: f64::from(single(threshold)?),
            comparison: Comparison::Below,
            left: self.yes.ok_or_else(|| missing("a yes"))?,
            right: self.no.ok_or_else(|| missing("a no"))?,
        })
    }
}

/// The column that a dump calls by its name, or `f` and its number.
fn column(name: &str, features: &FeatureSet) -> Result<usize, String> {
    let by_name = features.names().iter().position(|feature| feature == name);
    let by_number = || name.strip_prefix('f').and_then(|number| number.parse().ok());
    by_name
        .or_else(by_number)
        .ok_or_else(|| format!("splits on {name:?}, which is no feature given"))
}
