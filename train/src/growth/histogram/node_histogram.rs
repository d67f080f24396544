//! The counts of a node.

use dropcast_forest::binning::BINS;

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
#[derive(Clone, Debug)]
pub(crate) struct NodeHistogram(pub(super) Vec<[[Count; 2]; BINS]>);

impl NodeHistogram {
    pub(super) fn new(features: usize) -> Self {
        NodeHistogram(vec![[[Count::default(); 2]; BINS]; features])
    }

    /// The counts by bin of `feature`: `[accepted, dropped]`.
    pub(crate) fn feature(&self, feature: usize) -> &[[Count; 2]; BINS] {
        &self.0[feature]
    }

    /// The counts of a node minus those of one child: those of the other child.
    pub(crate) fn without(mut self, child: &NodeHistogram) -> Self {
        let cells = self.0.as_flattened_mut().as_flattened_mut();
        for (cell, child) in cells.iter_mut().zip(child.0.as_flattened().as_flattened()) {
            *cell = cell.minus(*child);
        }
        self
    }

    /// Bytes of one.
    pub(crate) fn bytes(features: usize) -> usize {
        features * size_of::<[[Count; 2]; BINS]>()
    }
}
