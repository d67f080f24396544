//! Budgets and the resources they limit.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A device resource that a forest uses. A [`ForestCost`](super::cost::ForestCost) says how much.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Resource {
    /// Ternary entries of all tables.
    TernaryEntries,
    /// Entries of tables that match ranges.
    RangeEntries,
    /// Key bits of all ternary entries, without the masks (as many again).
    Bits,
    /// Bytes of the `.dct` table.
    DctBytes,
    /// Distinct pairs of a feature and a threshold.
    Thresholds,
    /// Entries to load into the P4 program.
    LoadedEntries,
    /// Stages of the P4 program by dependencies alone.
    Stages,
}

/// Limits on a forest's resources. As text: `RESOURCE=NUMBER`, several separated by commas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Budget {
    limits: Vec<(Resource, u64)>,
}

/// A text that is not a budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a budget; expected RESOURCE=NUMBER, with one of ternary-entries, range-entries, \
    bits, dct-bytes, thresholds, loaded-entries and stages, each at most once"
)]
pub struct NotABudget(String);

impl Resource {
    /// Every resource.
    pub const ALL: &'static [Resource] = <Resource as strum::VariantArray>::VARIANTS;

    /// Its name in a budget.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Budget {
    /// A budget with these limits. `None` if there are none or a resource occurs twice.
    pub fn new(limits: Vec<(Resource, u64)>) -> Option<Self> {
        let is_twice = |at: usize| limits[..at].iter().any(|limit| limit.0 == limits[at].0);
        let is_sound = !limits.is_empty() && !(0..limits.len()).any(is_twice);
        is_sound.then_some(Budget { limits })
    }

    /// The limits, at least one.
    pub fn limits(&self) -> &[(Resource, u64)] {
        &self.limits
    }
}

impl FromStr for Budget {
    type Err = NotABudget;

    fn from_str(text: &str) -> Result<Self, NotABudget> {
        let limit = |text: &str| {
            let (name, most) = text.split_once('=')?;
            Some((name.parse().ok()?, most.parse().ok()?))
        };
        let limits: Option<Vec<_>> = text.split(',').map(limit).collect();
        limits.and_then(Budget::new).ok_or_else(|| NotABudget(text.to_owned()))
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (resource, most)) in self.limits.iter().enumerate() {
            let comma = if nth > 0 { "," } else { "" };
            write!(f, "{comma}{}={most}", resource.name())?;
        }
        Ok(())
    }
}

impl TryFrom<String> for Budget {
    type Error = NotABudget;

    fn try_from(text: String) -> Result<Self, NotABudget> {
        text.parse()
    }
}

impl From<Budget> for String {
    fn from(budget: Budget) -> String {
        budget.to_string()
    }
}
