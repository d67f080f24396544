//! One pass over the training rows that counts a level.

use super::counted::{Counted, CountedQuad};
use super::node_histogram::NodeHistogram;
use super::quad::{QuadCounter, Scratch};
use crate::error::TrainError;
use crate::growth::bootstrap::LANES;
use crate::rows::binned::BinnedRows;
use crate::splits::Part;
use crate::threads::Threads;

/// Counts the training rows of nodes on one level: by quad, lane and node.
pub(crate) fn count_level(
    rows: &BinnedRows,
    level: usize,
    quads: &[CountedQuad<'_>],
    threads: &Threads,
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
