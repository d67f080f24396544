//! The counts of a node.

use crate::rows::row_kind::MOST_COUNTED;
use dropcast_forest::binning::BINS;
use serde::{Deserialize, Serialize};

/// Rows, and how often they were drawn into the tree's sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Draws, from which impurity and leaf weights are computed.
    pub(crate) draws: u64,
    /// Distinct rows; equal to draws if no setting needs distinct ones.
    pub(crate) rows: u64,
}

impl Count {
    pub(crate) fn add(&mut self, other: Count) {
        self.draws += other.draws;
        self.rows += other.rows;
    }

    pub(crate) fn minus(self, other: Count) -> Count {
        Count { draws: self.draws - other.draws, rows: self.rows - other.rows }
    }
}

/// A node's counts by feature, bin and class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "PackedHistogram", into = "PackedHistogram")]
pub(crate) struct NodeHistogram(pub(super) Vec<[[Count; 2]; BINS]>);

/// By feature, the counts up to the last bin that has any: draws of accepted and of dropped rows,
/// bin after bin; then distinct rows in the same order, unless they equal the draws.
#[derive(Serialize, Deserialize)]
struct PackedHistogram(Vec<(Vec<u64>, Vec<u64>)>);

impl From<NodeHistogram> for PackedHistogram {
    fn from(histogram: NodeHistogram) -> Self {
        let packed = |bins: &[[Count; 2]; BINS]| {
            let cells = bins.as_flattened();
            let used = cells.iter().rposition(|cell| *cell != Count::default());
            let cells = &cells[..used.map_or(0, |last| last + 1)];
            let draws: Vec<u64> = cells.iter().map(|cell| cell.draws).collect();
            let rows: Vec<u64> = cells.iter().map(|cell| cell.rows).collect();
            let rows = if rows == draws { Vec::new() } else { rows };
            (draws, rows)
        };
        PackedHistogram(histogram.0.iter().map(packed).collect())
    }
}

impl TryFrom<PackedHistogram> for NodeHistogram {
    type Error = &'static str;

    fn try_from(packed: PackedHistogram) -> Result<Self, &'static str> {
        let mut histogram = NodeHistogram::new(packed.0.len());
        for (bins, (draws, rows)) in histogram.0.iter_mut().zip(&packed.0) {
            let cells = bins.as_flattened_mut();
            let fits = rows.is_empty() || rows.len() == draws.len();
            if draws.len() > cells.len() || !fits {
                return Err("a histogram has more counts than bins");
            }
            if draws.iter().chain(rows).any(|&count| count > MOST_COUNTED) {
                return Err("a histogram counts more rows than there can be");
            }
            let rows = if rows.is_empty() { draws } else { rows };
            for (cell, (&draws, &rows)) in cells.iter_mut().zip(draws.iter().zip(rows)) {
                *cell = Count { draws, rows };
            }
        }
        Ok(histogram)
    }
}

impl NodeHistogram {
    pub(super) fn new(features: usize) -> Self {
        NodeHistogram(vec![[[Count::default(); 2]; BINS]; features])
    }

    /// The counts by bin of `feature`: `[accepted, dropped]`.
    pub(crate) fn feature(&self, feature: usize) -> &[[Count; 2]; BINS] {
        &self.0[feature]
    }

    /// The counts of a node minus those of one child: those of the other child. `None` if the child
    /// has more rows than the node.
    pub(crate) fn without(mut self, child: &NodeHistogram) -> Option<Self> {
        let cells = self.0.as_flattened_mut().as_flattened_mut();
        for (cell, child) in cells.iter_mut().zip(child.0.as_flattened().as_flattened()) {
            let draws = cell.draws.checked_sub(child.draws)?;
            let rows = cell.rows.checked_sub(child.rows)?;
            *cell = Count { draws, rows };
        }
        Some(self)
    }

    /// Adds the counts of other rows.
    pub(super) fn add(&mut self, other: &NodeHistogram) {
        let cells = self.0.as_flattened_mut().as_flattened_mut();
        for (cell, more) in cells.iter_mut().zip(other.0.as_flattened().as_flattened()) {
            cell.add(*more);
        }
    }

    /// Number of features.
    pub(super) fn features(&self) -> usize {
        self.0.len()
    }

    /// Bytes of one.
    pub(crate) fn bytes(features: usize) -> usize {
        features * size_of::<[[Count; 2]; BINS]>()
    }
}
