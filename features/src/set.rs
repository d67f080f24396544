//! Lists of features.

use crate::cost::{self, Chip, FeatureCost, FeatureWork};
use crate::descriptor::Arrival;
use crate::feature::Feature;
use crate::history::{FeatureMemory, History};
use crate::list::{LEVEL4, NamedSet, PAPER4, SETS};
use crate::unknown::UnknownFeature;
use crate::view::BufferView;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An ordered list of distinct features.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct FeatureSet {
    features: Vec<Feature>,
    /// The named set of these features in this order, if there is one.
    named: Option<&'static NamedSet>,
}

impl FeatureSet {
    /// The four features of the Credence paper (NSDI '24, section 4.1).
    pub fn paper4() -> Self {
        PAPER4.to_set()
    }

    /// Four features with Longest Queue Drop's view of the packet's queue: before the packet,
    /// everything above the level of its queue is pushed out.
    pub fn level4() -> Self {
        LEVEL4.to_set()
    }

    /// The named sets, with their names.
    pub fn named() -> impl Iterator<Item = (&'static str, FeatureSet)> {
        SETS.iter().map(|set| (set.name, set.to_set()))
    }

    /// No features.
    pub fn none() -> Self {
        FeatureSet::from_iter([])
    }

    /// All features of queues; those of flows (`flow11`) are for labels of flows.
    pub fn all() -> Self {
        Feature::ALL
            .into_iter()
            .filter(|feature| feature.memory() != FeatureMemory::Flows)
            .collect()
    }

    /// Whether one of them is of the packet's flow.
    pub fn looks_at_flows(&self) -> bool {
        self.features.iter().any(|feature| feature.memory() == FeatureMemory::Flows)
    }

    /// The features, in order.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Their names, in order: those of columns.
    pub fn names(&self) -> Vec<String> {
        self.features.iter().map(|feature| feature.name().to_owned()).collect()
    }

    /// How a list of features names them, in order ([`Feature::spelled`]).
    pub fn spelled(&self) -> Vec<String> {
        self.features.iter().map(|feature| feature.spelled()).collect()
    }

    /// Those that dropcast computes, and those of the user's own.
    pub fn split_own(&self) -> (FeatureSet, FeatureSet) {
        let (own, computed): (Vec<_>, Vec<_>) =
            self.features.iter().partition(|feature| feature.is_own());
        (FeatureSet::from_iter(computed), FeatureSet::from_iter(own))
    }

    /// The set with features of the user's own after its others.
    ///
    /// # Errors
    /// If a name is not letters, digits and `_`, or that of a known feature.
    pub fn with_own(&self, names: &[String]) -> Result<Self, UnknownFeature> {
        let own = |name: &String| Feature::own(name).ok_or_else(|| UnknownFeature::own(name));
        let own: Vec<Feature> = names.iter().map(own).collect::<Result<_, _>>()?;
        Ok(self.features.iter().copied().chain(own).collect())
    }

    /// The name of the set of these features in this order (`level4`), if it has one.
    pub fn name(&self) -> Option<&'static str> {
        self.named.map(|set| set.name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.features.len()
    }

    /// What a chip needs for these features in addition to virtual LQD. Nothing is counted for features
    /// of the user's own.
    pub fn cost(&self, chip: Chip) -> FeatureCost {
        cost::cost(self.features.iter().flat_map(|feature| feature.parts().iter().copied()), chip)
    }

    /// Whether one of them looks at the lengths of all queues.
    pub fn looks_at_all_queues(&self) -> bool {
        let mut parts = self.features.iter().flat_map(|feature| feature.parts());
        parts.any(|part| matches!(part, FeatureWork::Rank | FeatureWork::Level))
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.features.is_empty()
    }

    /// The memory of these features for an empty buffer: `line_rate_bps` is the port rate of each
    /// queue; `base_rtt_ns` is the time constant.
    pub fn history(
        &self,
        line_rate_bps: impl ExactSizeIterator<Item = u64>,
        base_rtt_ns: u64,
    ) -> History {
        let memories = self.features.iter().map(|feature| feature.memory());
        History::new(memories, line_rate_bps, base_rtt_ns)
    }

    /// Writes the features of a packet that arrives for `queue` to `values`.
    ///
    /// # Panics
    /// If `values` is shorter than the set, one is of the user's own, or `history` was made for other features.
    #[inline(always)]
    pub fn observe(
        &self,
        buffer: &impl BufferView,
        history: &History,
        queue: usize,
        values: &mut [u32],
    ) {
        let packet = Arrival::new(buffer, history, queue);
        match self.named {
            Some(set) => (set.observe)(&packet, values),
            None => {
                for (value, feature) in values[..self.len()].iter_mut().zip(&self.features) {
                    *value = feature.observe(&packet);
                }
            }
        }
    }

    fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownFeature> {
        let mut features = Vec::new();
        for name in names.into_iter().map(str::trim) {
            match SETS.iter().find(|set| set.name == name) {
                Some(set) => features.extend(set.features()),
                None => features.push(name.parse()?),
            }
        }
        Ok(features.into_iter().collect())
    }
}

impl NamedSet {
    fn features(&self) -> impl Iterator<Item = Feature> {
        self.features.iter().copied().map(Feature::described_by)
    }

    fn to_set(&self) -> FeatureSet {
        self.features().collect()
    }
}

/// Reads names of features and of sets (`paper4,longest,rank`), separated by commas.
impl FromStr for FeatureSet {
    type Err = UnknownFeature;

    fn from_str(text: &str) -> Result<Self, UnknownFeature> {
        FeatureSet::from_names(text.split(','))
    }
}

/// Duplicates are removed; the first occurrence counts.
impl FromIterator<Feature> for FeatureSet {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Self {
        let mut set = Vec::new();
        for feature in features {
            if !set.contains(&feature) {
                set.push(feature);
            }
        }
        let named = SETS.iter().copied().find(|named| named.features().eq(set.iter().copied()));
        FeatureSet { features: set, named }
    }
}

/// A set is its features, in order; whether they have a name follows.
impl PartialEq for FeatureSet {
    fn eq(&self, other: &Self) -> bool {
        self.features == other.features
    }
}

impl Eq for FeatureSet {}

impl fmt::Debug for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FeatureSet").field(&self.features).finish()
    }
}

impl TryFrom<Vec<String>> for FeatureSet {
    type Error = UnknownFeature;

    fn try_from(names: Vec<String>) -> Result<Self, UnknownFeature> {
        FeatureSet::from_names(names.iter().map(String::as_str))
    }
}

impl From<FeatureSet> for Vec<String> {
    fn from(set: FeatureSet) -> Self {
        set.spelled()
    }
}

/// The name of the set if it has one (`level4`), else those of its features, separated by commas.
impl fmt::Display for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => f.write_str(&self.spelled().join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_the_name_of_a_column_is_said() {
        let of_column =
            |name: &str| FeatureSet::none().with_own(&[name.to_owned()]).unwrap_err().to_string();
        let listed = |name: &str| name.parse::<FeatureSet>().unwrap_err().to_string();
        assert_eq!(
            of_column("own:tos"),
            "\"own:tos\" is more than the name of a column; leave out own:, as tos"
        );
        let computed = "\"queue_length\" is computed, it is no column of your own; ask for it among the \
                        features, or rename your column";
        for said in
            [of_column("queue_length"), of_column("own:queue_length"), listed("own:queue_length")]
        {
            assert_eq!(said, computed);
        }
        let no_name = "\"1\" cannot be a feature of your own; its name is letters, digits and _";
        for said in [of_column("1"), of_column("own:1"), listed("own:1")] {
            assert!(said.starts_with(no_name), "{said}");
        }
        assert!(listed("colour").starts_with("unknown feature \"colour\"; known are"));
    }

    #[test]
    fn sets_are_read_by_name_without_repeats() {
        let set: FeatureSet = "longest, carry4,occupancy".parse().expect("known names");
        let names = set.to_string();
        assert_eq!(names, "longest_queue,queue_length,occupancy,longest_gap,projected_occupancy");
        assert_eq!(names.parse(), Ok(set));
        assert_eq!(FeatureSet::level4().to_string(), "level4");
        assert_eq!(FeatureSet::all().to_string().parse(), Ok(FeatureSet::all()));
        let name = |text: &str| text.parse::<FeatureSet>().expect("known names").name();
        assert_eq!((name("level4"), name("carry4,rank")), (Some("level4"), None));
        let own: FeatureSet = "own:tos,level4,own:ttl".parse().expect("letters");
        assert_eq!(own.to_string().parse(), Ok(own.clone()));
        assert_eq!(own.names().first().map(String::as_str), Some("tos"));
        let (computed, rest) = own.split_own();
        assert_eq!(
            (computed.name(), rest.to_string().as_str()),
            (Some("level4"), "own:tos,own:ttl")
        );
        assert_eq!(
            computed
                .with_own(&["tos".to_owned(), "ttl".to_owned(), "tos".to_owned()])
                .expect("letters")
                .len(),
            6
        );
        for bad in ["own:rank", "own:level4", "own:", "own:9", "own:a-b", "tos"] {
            assert!(bad.parse::<FeatureSet>().is_err(), "{bad}");
        }
        let error = "paper4,rnak".parse::<FeatureSet>().expect_err("misspelt");
        assert!(error.to_string().contains("\"rnak\""));
    }
}
