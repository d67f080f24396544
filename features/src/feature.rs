//! Which features there are, and how each is read off the state of a buffer.

use crate::{History, Horizon, saturated};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What features need to know of a buffer. All lengths are bytes.
pub trait BufferView {
    /// Length of one queue.
    fn queue_bytes(&self, queue: usize) -> u32;
    /// Bytes in the shared buffer, the papers' `Q`.
    fn occupancy_bytes(&self) -> u32;
    /// Length of the longest queue that draws on the shared buffer.
    fn longest_queue_bytes(&self) -> u32;
    /// Number of queues that draw on the shared buffer and hold more than `bytes`.
    fn queues_longer_than(&self, bytes: u32) -> u32;
    /// Bytes that the shared buffer would hold if every queue that draws on it were cut down to
    /// `level_bytes`.
    fn bytes_up_to(&self, level_bytes: u32) -> u64;
    /// Whether a queue draws on the shared buffer.
    fn shares(&self, queue: usize) -> bool;
}

/// A feature: what a prediction is made from. Its value is recorded when a packet arrives, before
/// the packet is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Feature {
    /// Length of the packet's queue.
    QueueLength = 0,
    /// Moving average of the length of the packet's queue.
    AvgQueueLength = 1,
    /// Bytes in the shared buffer.
    Occupancy = 2,
    /// Moving average of the occupancy.
    AvgOccupancy = 3,
    /// Length of the longest queue.
    LongestQueue = 4,
    /// Number of queues longer than the packet's queue.
    Rank = 5,
    /// By how much the longest queue is longer than the packet's queue.
    LongestGap = 6,
    /// Occupancy that the present arrival rates lead to in two base RTTs.
    ProjectedOccupancy = 7,
    /// Occupancy if every queue were cut down to the length of the packet's queue.
    LevelOccupancy = 8,
    /// The same of the queues that are to be expected in a quarter of a base RTT.
    LevelInQuarterRtt = 9,
    /// The same of the queues that are to be expected in one base RTT.
    LevelInOneRtt = 10,
    /// The same of the queues that are to be expected in two base RTTs.
    LevelInTwoRtts = 11,
}

impl Feature {
    /// Every feature, in the order of trace columns.
    pub const ALL: [Feature; 12] = [
        Feature::QueueLength,
        Feature::AvgQueueLength,
        Feature::Occupancy,
        Feature::AvgOccupancy,
        Feature::LongestQueue,
        Feature::Rank,
        Feature::LongestGap,
        Feature::ProjectedOccupancy,
        Feature::LevelOccupancy,
        Feature::LevelInQuarterRtt,
        Feature::LevelInOneRtt,
        Feature::LevelInTwoRtts,
    ];

    /// Four features that look at the buffer as Longest Queue Drop does from the packet's place:
    /// before the packet is pushed out, everything above the level of its queue is.
    pub const LEVEL4: [Feature; 4] = [
        Feature::LevelOccupancy,
        Feature::LevelInQuarterRtt,
        Feature::LevelInOneRtt,
        Feature::LevelInTwoRtts,
    ];

    /// Four features that carry over to other loads and bursts: how full the buffer is, where it
    /// is heading, how long the packet's queue is, and how far from being the longest.
    pub const CARRY4: [Feature; 4] = [
        Feature::QueueLength,
        Feature::Occupancy,
        Feature::LongestGap,
        Feature::ProjectedOccupancy,
    ];

    /// The four features of the Credence paper (section 4.1).
    pub const PAPER4: [Feature; 4] =
        [Feature::QueueLength, Feature::AvgQueueLength, Feature::Occupancy, Feature::AvgOccupancy];

    /// Name: the column of a trace, and what `model.json` says.
    pub fn name(self) -> &'static str {
        match self {
            Feature::QueueLength => "queue_length",
            Feature::AvgQueueLength => "avg_queue_length",
            Feature::Occupancy => "occupancy",
            Feature::AvgOccupancy => "avg_occupancy",
            Feature::LongestQueue => "longest_queue",
            Feature::Rank => "rank",
            Feature::LongestGap => "longest_gap",
            Feature::ProjectedOccupancy => "projected_occupancy",
            Feature::LevelOccupancy => "level_occupancy",
            Feature::LevelInQuarterRtt => "level_in_quarter_rtt",
            Feature::LevelInOneRtt => "level_in_one_rtt",
            Feature::LevelInTwoRtts => "level_in_two_rtts",
        }
    }

    /// Unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Feature::Rank => "queues",
            _ => "bytes",
        }
    }

    /// Whether its value depends on the base RTT: the time constant of averages and projections.
    pub fn has_time_constant(self) -> bool {
        matches!(self, Feature::AvgQueueLength | Feature::AvgOccupancy) || self.needs_projection()
    }

    /// Whether its value is made from arrival rates.
    pub fn needs_projection(self) -> bool {
        self == Feature::ProjectedOccupancy || self.horizon().is_some()
    }

    /// How far ahead it looks, if it is a level of expected queues.
    pub fn horizon(self) -> Option<Horizon> {
        match self {
            Feature::LevelInQuarterRtt => Some(Horizon::QuarterRtt),
            Feature::LevelInOneRtt => Some(Horizon::OneRtt),
            Feature::LevelInTwoRtts => Some(Horizon::TwoRtts),
            _ => None,
        }
    }

    /// One sentence that defines it.
    pub fn definition(self) -> &'static str {
        match self {
            Feature::QueueLength => "bytes in the packet's queue before it is added",
            Feature::AvgQueueLength => {
                "moving average of the queue's bytes, updated when a packet leaves it, time constant base RTT"
            }
            Feature::Occupancy => "bytes in the shared buffer before the packet is added",
            Feature::AvgOccupancy => {
                "moving average of the occupancy, updated when a packet leaves the switch, time constant base RTT"
            }
            Feature::LongestQueue => "bytes in the longest queue of the shared buffer",
            Feature::Rank => "queues of the shared buffer that are longer than the packet's queue",
            Feature::LongestGap => {
                "bytes by which the longest queue of the shared buffer is longer than the packet's queue"
            }
            Feature::ProjectedOccupancy => {
                "occupancy in two base RTTs if arrivals keep the rate of the last eighth of one and nothing is dropped"
            }
            Feature::LevelOccupancy => {
                "bytes that the shared buffer would hold if all its queues were cut down to the length of the packet's queue"
            }
            Feature::LevelInQuarterRtt => {
                "bytes in a quarter of a base RTT if arrivals kept their rate and all queues were cut down to the present length of the packet's queue"
            }
            Feature::LevelInOneRtt => {
                "bytes in one base RTT if arrivals kept their rate and all queues were cut down to the present length of the packet's queue"
            }
            Feature::LevelInTwoRtts => {
                "bytes in two base RTTs if arrivals kept their rate and all queues were cut down to the present length of the packet's queue"
            }
        }
    }

    /// Where it comes from.
    pub fn source(self) -> &'static str {
        match self {
            Feature::ProjectedOccupancy => {
                "after Smartbuf's gradient and ABM's drain rates: a buffer overflows because of what is coming"
            }
            Feature::LongestQueue | Feature::Rank | Feature::LongestGap => {
                "Longest Queue Drop's own decision variable: how far the packet's queue is from being the victim"
            }
            Feature::LevelOccupancy
            | Feature::LevelInQuarterRtt
            | Feature::LevelInOneRtt
            | Feature::LevelInTwoRtts => {
                "Longest Queue Drop's order: it pushes a packet out only when everything above its level has gone"
            }
            _ => "Credence (NSDI '24), section 4.1 and the authors' ns-3 code",
        }
    }

    fn value(self, buffer: &impl BufferView, history: &History, queue: usize) -> u32 {
        match self {
            Feature::QueueLength => buffer.queue_bytes(queue),
            Feature::AvgQueueLength => history.averages().queue_bytes(queue),
            Feature::Occupancy => buffer.occupancy_bytes(),
            Feature::AvgOccupancy => history.averages().occupancy_bytes(),
            Feature::LongestQueue => buffer.longest_queue_bytes(),
            Feature::Rank => buffer.queues_longer_than(buffer.queue_bytes(queue)),
            Feature::LongestGap => {
                buffer.longest_queue_bytes().saturating_sub(buffer.queue_bytes(queue))
            }
            Feature::ProjectedOccupancy => history.projection().occupancy_bytes(),
            Feature::LevelOccupancy => saturated(buffer.bytes_up_to(buffer.queue_bytes(queue))),
            Feature::LevelInQuarterRtt | Feature::LevelInOneRtt | Feature::LevelInTwoRtts => {
                let horizon = self.horizon().expect("levels of expected queues have one");
                history.projection().bytes_up_to(horizon, buffer.queue_bytes(queue))
            }
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no feature or set of features has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown feature {0:?}; known are paper4 (queue_length, avg_queue_length, occupancy, avg_occupancy), level4 (level_occupancy, level_in_quarter_rtt, level_in_one_rtt, level_in_two_rtts), carry4 (queue_length, occupancy, longest_gap, projected_occupancy), longest_queue (or longest), rank"
)]
pub struct UnknownFeature(pub String);

/// An ordered list of distinct features.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct FeatureSet(Vec<Feature>);

impl FeatureSet {
    /// The paper's four features.
    pub fn paper4() -> Self {
        FeatureSet(Feature::PAPER4.to_vec())
    }

    /// [`Feature::LEVEL4`].
    pub fn level4() -> Self {
        FeatureSet(Feature::LEVEL4.to_vec())
    }

    /// [`Feature::CARRY4`].
    pub fn carry4() -> Self {
        FeatureSet(Feature::CARRY4.to_vec())
    }

    /// No features.
    pub fn none() -> Self {
        FeatureSet(Vec::new())
    }

    /// Every feature there is.
    pub fn all() -> Self {
        FeatureSet(Feature::ALL.to_vec())
    }

    /// The features, in order.
    pub fn features(&self) -> &[Feature] {
        &self.0
    }

    /// Their names, in order.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the value of each feature for a packet that arrives for `queue` to `values`.
    ///
    /// # Panics
    /// If `values` is shorter than the set, or `history` was made for other features.
    pub fn observe(
        &self,
        buffer: &impl BufferView,
        history: &History,
        queue: usize,
        values: &mut [u32],
    ) {
        for (slot, feature) in self.0.iter().enumerate() {
            values[slot] = feature.value(buffer, history, queue);
        }
    }

    fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownFeature> {
        let mut features = Vec::new();
        for name in names {
            match name.trim() {
                "paper4" => features.extend(Feature::PAPER4),
                "level4" => features.extend(Feature::LEVEL4),
                "carry4" => features.extend(Feature::CARRY4),
                "longest" => features.push(Feature::LongestQueue),
                name => features.push(
                    Feature::ALL
                        .into_iter()
                        .find(|feature| feature.name() == name)
                        .ok_or_else(|| UnknownFeature(name.to_owned()))?,
                ),
            }
        }
        Ok(features.into_iter().collect())
    }
}

/// Reads `paper4,longest,rank` or names of single features, separated by commas.
impl FromStr for FeatureSet {
    type Err = UnknownFeature;

    fn from_str(text: &str) -> Result<Self, UnknownFeature> {
        FeatureSet::from_names(text.split(','))
    }
}

/// Each feature once, where it comes first.
impl FromIterator<Feature> for FeatureSet {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Self {
        let mut set = Vec::new();
        for feature in features {
            if !set.contains(&feature) {
                set.push(feature);
            }
        }
        FeatureSet(set)
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
        set.names()
    }
}

impl fmt::Display for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_by_name_without_repeats() {
        let set: FeatureSet =
            "paper4,longest,rank,carry4,level4,occupancy".parse().expect("known names");
        assert_eq!(set, FeatureSet::all());
        assert_eq!(set.to_string().parse(), Ok(set));
        let error = "paper4,rnak".parse::<FeatureSet>().expect_err("misspelt");
        assert!(error.to_string().contains("\"rnak\""));
    }
}
