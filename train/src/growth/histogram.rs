//! Integer histograms of the nodes of a level: how many rows of each class are in each bin of each
//! feature. Sums of integers, so the order of rows and threads leaves no trace.

mod cells;
mod quad;
mod root;

use crate::growth::bootstrap::{Bootstrap, LANES};
use crate::growth::growing::GrowingTree;
use crate::rows::binned::BinnedRows;
use crate::{Part, TrainError};
use dropcast_forest::binning::BINS;
use quad::{QuadCounter, Scratch};

/// Rows, and how often they were drawn into the tree's sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Draws: what impurity and leaf weights are made from.
    pub(crate) draws: u64,
    /// Distinct rows; as many as draws, where no rule asks for distinct ones.
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
pub(crate) struct NodeHistogram(Vec<[[Count; 2]; BINS]>);

impl NodeHistogram {
    fn new(features: usize) -> Self {
        NodeHistogram(vec![[[Count::default(); 2]; BINS]; features])
    }

    /// The counts by bin of `feature`: `[accepted, dropped]`.
    pub(crate) fn of(&self, feature: usize) -> &[[Count; 2]; BINS] {
        &self.0[feature]
    }

    /// The counts of a node without those of one of its children: those of the other.
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

/// What to count for one tree.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) tree: &'a GrowingTree,
    /// The places on the level whose nodes are counted.
    pub(crate) places: Vec<u8>,
}

/// What to count for trees that share their draws.
#[derive(Debug)]
pub(crate) struct CountedQuad<'a> {
    pub(crate) bootstrap: Bootstrap,
    /// Whether distinct rows shall be counted beside draws.
    pub(crate) distinct: bool,
    /// The column of each of the trees' features.
    pub(crate) columns: &'a [usize],
    pub(crate) lanes: [Option<Counted<'a>>; LANES],
}

/// Counts the training rows of nodes on one level: by quad, lane and place.
pub(crate) fn count_level(
    rows: &BinnedRows,
    level: usize,
    quads: &[CountedQuad<'_>],
    threads: usize,
) -> Result<Vec<[Vec<NodeHistogram>; LANES]>, TrainError> {
    let counters = rows.each_chunk(
        threads,
        |kind| kind.part == Part::Train,
        || (Vec::from_iter(quads.iter().map(|quad| QuadCounter::new(quad, level))), Scratch::new()),
        |(counters, scratch), chunk| {
            counters.iter_mut().for_each(|counter| counter.add(chunk, scratch));
        },
    )?;
    let mut found: Vec<[Vec<NodeHistogram>; LANES]> = Vec::new();
    for quad in quads {
        let empty = |lane: &Option<Counted<'_>>| {
            let nodes = lane.as_ref().map_or(0, |lane| lane.places.len());
            vec![NodeHistogram::new(quad.columns.len()); nodes]
        };
        found.push(std::array::from_fn(|lane| empty(&quad.lanes[lane])));
    }
    for (counters, _) in counters {
        for (nodes, counter) in found.iter_mut().zip(counters) {
            for (nodes, cells) in nodes.iter_mut().zip(counter.finish()) {
                cells.add_to(nodes);
            }
        }
    }
    Ok(found)
}
