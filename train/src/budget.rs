//! Forests that fit into tables: pruned and rounded to a budget with the least loss.

pub(crate) mod refit;
mod search;
mod states;
#[cfg(test)]
mod tests;
mod work;

use crate::VoteRule;
use dropcast_forest::{Forest, ScoreHistogram};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

pub use search::{Squeezed, squeeze};
pub use states::ForestStates;
pub(crate) use work::WorkForest;

/// What a forest takes of a device. How much is known where tables are made, and told by a
/// [`ForestCost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Ternary entries of all tables.
    TernaryEntries,
    /// Entries of tables that match ranges.
    RangeEntries,
    /// Bits of the keys of all ternary entries; their masks take as many again.
    Bits,
    /// Bytes of the `.dct` table.
    DctBytes,
    /// Distinct pairs of a feature and a threshold.
    Thresholds,
}

/// The most that a forest may take. As a text: `RESOURCE=NUMBER`, several of them separated by
/// commas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Budget {
    limits: Vec<(Resource, u64)>,
}

/// A text that is no budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no budget; expected RESOURCE=NUMBER, with one of ternary-entries, range-entries, bits, dct-bytes and thresholds, each once"
)]
pub struct NotABudget(String);

/// How much forests take.
pub trait ForestCost {
    /// How much of `resource` the forest takes; `None` if it cannot be made into tables at all.
    fn cost(&self, forest: &Forest, resource: Resource) -> Option<u64>;
}

impl<F: Fn(&Forest, Resource) -> Option<u64>> ForestCost for F {
    fn cost(&self, forest: &Forest, resource: Resource) -> Option<u64> {
        self(forest, resource)
    }
}

/// What a squeezed forest shall be good at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// The best F1 of any vote threshold.
    F1,
    /// The average precision.
    AveragePrecision,
    /// The lowest bound on `eta` of any vote threshold, in a switch of so many ports.
    EtaBound {
        /// The number of ports.
        ports: u16,
    },
    /// The lowest cost of wrong predictions of any vote threshold.
    Cost {
        /// Of an accepted packet that is predicted to be dropped.
        false_drop: f64,
        /// Of a drop that is predicted to be accepted.
        false_accept: f64,
    },
}

impl Resource {
    /// Every resource.
    pub const ALL: [Resource; 5] = [
        Resource::TernaryEntries,
        Resource::RangeEntries,
        Resource::Bits,
        Resource::DctBytes,
        Resource::Thresholds,
    ];

    /// Its name in a budget.
    pub fn name(self) -> &'static str {
        match self {
            Resource::TernaryEntries => "ternary-entries",
            Resource::RangeEntries => "range-entries",
            Resource::Bits => "bits",
            Resource::DctBytes => "dct-bytes",
            Resource::Thresholds => "thresholds",
        }
    }
}

impl Budget {
    /// A budget of these limits. `None` if there are none or a resource is there twice.
    pub fn new(limits: Vec<(Resource, u64)>) -> Option<Self> {
        let is_twice = |at: usize| limits[..at].iter().any(|limit| limit.0 == limits[at].0);
        let is_sound = !limits.is_empty() && !(0..limits.len()).any(is_twice);
        is_sound.then_some(Budget { limits })
    }

    /// The limits, at least one.
    pub fn limits(&self) -> &[(Resource, u64)] {
        &self.limits
    }

    /// Whether a forest fits.
    pub fn admits(&self, forest: &Forest, cost: &impl ForestCost) -> bool {
        let fits = |&(resource, most): &(Resource, u64)| {
            cost.cost(forest, resource).is_some_and(|cost| cost <= most)
        };
        self.limits.iter().all(fits)
    }
}

impl Objective {
    /// What a forest shall be good at whose vote threshold is chosen by `vote`: what the bound or
    /// the cost says, else the average precision. The best F1 of a thousand forests on the rows
    /// that chose it is luck in part; a ranking is measured at every threshold.
    pub fn of(vote: VoteRule, ports: Option<u16>) -> Self {
        match (vote, ports) {
            (VoteRule::EtaBound, Some(ports)) => Objective::EtaBound { ports },
            (VoteRule::Cost { false_drop, false_accept }, _) => {
                Objective::Cost { false_drop, false_accept }
            }
            _ => Objective::AveragePrecision,
        }
    }

    /// How good scores are; higher is better, and what is undefined is worst.
    pub fn value(self, scores: &ScoreHistogram) -> f64 {
        let best = |of: &dyn Fn(&dropcast_forest::Confusion) -> Option<f64>| {
            let values = scores.operating_points().into_iter().filter_map(|d| of(&d.confusion));
            values.fold(f64::NEG_INFINITY, f64::max)
        };
        match self {
            Objective::F1 => best(&|confusion| confusion.f1()),
            Objective::AveragePrecision => scores.average_precision().unwrap_or(f64::NEG_INFINITY),
            Objective::EtaBound { ports } => {
                best(&|confusion| confusion.eta_bound(ports).map(|eta| 1.0 / eta))
            }
            Objective::Cost { false_drop, false_accept } => best(&|confusion| {
                Some(-(confusion.fp as f64 * false_drop + confusion.fn_ as f64 * false_accept))
            }),
        }
    }
}

impl FromStr for Budget {
    type Err = NotABudget;

    fn from_str(text: &str) -> Result<Self, NotABudget> {
        let limit = |text: &str| {
            let (name, most) = text.split_once('=')?;
            let resource = Resource::ALL.into_iter().find(|resource| resource.name() == name)?;
            Some((resource, most.parse().ok()?))
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
