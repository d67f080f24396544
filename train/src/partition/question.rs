//! Questions to every partition. Each holds all that its answer needs, so a worker that begins anew
//! in the middle of a training can answer.

use super::placed_rows::PlacedRows;
use crate::growth::growing::GrowingTree;
use crate::growth::histogram::CountedLevel;
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
