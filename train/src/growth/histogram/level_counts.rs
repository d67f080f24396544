//! The counts of a level.

use super::counted::CountedQuad;
use super::node_histogram::NodeHistogram;
use crate::growth::bootstrap::LANES;
use serde::{Deserialize, Serialize};

/// The counts of the counted nodes of a level: by quad, lane and node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LevelCounts(pub(crate) Vec<[Vec<NodeHistogram>; LANES]>);

impl LevelCounts {
    /// No rows yet in the counted nodes of `quads`.
    pub(crate) fn new(quads: &[CountedQuad]) -> Self {
        let of_quad = |quad: &CountedQuad| {
            std::array::from_fn(|lane| {
                let nodes = quad.lanes[lane].as_ref().map_or(0, |lane| lane.places.len());
                vec![NodeHistogram::new(quad.columns.len()); nodes]
            })
        };
        LevelCounts(quads.iter().map(of_quad).collect())
    }

    /// Adds the counts of other rows; false if they are of other nodes.
    pub(crate) fn merge(&mut self, other: &LevelCounts) -> bool {
        if !self.is_like(other) {
            return false;
        }
        let nodes = self.0.iter_mut().flatten().flatten();
        nodes.zip(other.0.iter().flatten().flatten()).for_each(|(own, more)| own.add(more));
        true
    }

    /// Whether both are of as many quads, nodes and features.
    pub(crate) fn is_like(&self, other: &LevelCounts) -> bool {
        let lanes = |counts: &LevelCounts| -> Vec<Vec<usize>> {
            let features =
                |nodes: &Vec<NodeHistogram>| nodes.iter().map(NodeHistogram::features).collect();
            counts.0.iter().flatten().map(features).collect()
        };
        lanes(self) == lanes(other)
    }
}
