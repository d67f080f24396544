//! The range of a feature on the rows that trained a model.

use serde::{Deserialize, Serialize};

/// The values of a feature on the rows that trained, without the lowest and the highest thousandth of these rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureRange {
    /// The lowest value, in the feature's unit.
    pub lowest: u32,
    /// The highest value, at least `lowest`.
    pub highest: u32,
}
