//! Questions to every partition. Each holds all that its answer needs, so a worker that begins anew
//! in the middle of a training can answer.

use super::placed_rows::PlacedRows;
use crate::growth::growing::GrowingTree;
use crate::growth::histogram::{Counted, CountedLevel, CountedQuad};
use crate::rows::row_kind::RowKind;
use crate::splits::{RunSwitch, Split};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A question to every partition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Question {
    pub(super) reading: Reading,
    pub(super) asks: Asks,
}

/// What is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Reading {
    /// Number of features.
    pub(super) features: usize,
    pub(super) split: Split,
    /// The split's.
    pub(super) seed: u64,
}

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Asks {
    /// The number of rows of each run and switch.
    Rows,
    /// Their arrival times.
    Times(PlacedRows<RunSwitch>),
    /// The training rows by value of each feature.
    Values(Division),
    /// The training rows in the nodes of a level.
    Counts(Binning, CountedLevel),
    /// Rows by score.
    Scores(Binning, Vec<Scoring>),
}

impl Question {
    /// Whether what is asked fits the features and itself.
    pub(super) fn is_sound(&self) -> bool {
        let features = self.reading.features;
        let are_known = |columns: &[usize]| columns.iter().all(|&column| column < features);
        match &self.asks {
            Asks::Rows | Asks::Times(_) | Asks::Values(_) => true,
            Asks::Counts(binning, CountedLevel { level, quads }) => {
                let lane = |columns: &[usize], lane: &Counted| {
                    lane.tree.is_sound(columns.len(), *level)
                        && lane.places.iter().all(|&place| usize::from(place) < 1 << *level)
                };
                let quad = |CountedQuad { columns, lanes, .. }: &CountedQuad| {
                    are_known(columns) && lanes.iter().flatten().all(|of| lane(columns, of))
                };
                *level < 8 && binning.is_sound(features) && quads.iter().all(quad)
            }
            Asks::Scores(binning, forests) => {
                let forest = |Scoring { columns, trees, sizes }: &Scoring| {
                    let fits = |&(count, depth): &(usize, usize)| {
                        count <= trees.len()
                            && trees.iter().all(|tree| tree.is_sound(columns.len(), depth))
                    };
                    are_known(columns) && sizes.iter().all(fits)
                };
                binning.is_sound(features) && forests.iter().all(forest)
            }
        }
    }
}

impl Binning {
    /// Whether the edges are those of the features' bins.
    fn is_sound(&self, features: usize) -> bool {
        let is_sound = |edges: &Vec<u32>| {
            let mut sorted = edges.clone();
            sorted.sort_unstable();
            edges.len() < 256 && sorted.is_sorted_by(|a, b| a < b)
        };
        self.edges.len() == features && self.edges.iter().all(is_sound)
    }
}

/// How rows are divided into parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Division {
    /// Numbers of rows, if parts depend on them.
    pub(super) rows: PlacedRows<RunSwitch>,
    /// By run, the start times of blocks after the first.
    pub(super) cuts: BTreeMap<u64, Vec<u64>>,
}

/// How rows are binned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Binning {
    pub(super) division: Division,
    /// By feature, the edges of its bins, the most useful first.
    pub(super) edges: Vec<Vec<u32>>,
    /// Rows of each kind, whose numbers decide how often they are drawn.
    pub(super) kinds: PlacedRows<RowKind>,
}

/// A forest that scores rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Scoring {
    /// The columns of its features.
    pub(super) columns: Vec<usize>,
    pub(super) trees: Vec<GrowingTree>,
    /// The numbers of trees and the depths of the smaller forests that score, too.
    pub(super) sizes: Vec<(usize, usize)>,
}
