//! One pass over the training rows that counts a level.

use super::counted::CountedLevel;
use super::level_counts::LevelCounts;
use super::quad::{QuadCounter, Scratch};
use crate::error::TrainError;
use crate::rows::binned::BinnedRows;
use crate::splits::Part;
use dropcast_data::Threads;

/// Counts the training rows of nodes on one level.
pub(crate) fn count_level(
    rows: &BinnedRows,
    counted: &CountedLevel,
    threads: &Threads,
) -> Result<LevelCounts, TrainError> {
    let CountedLevel { level, quads } = counted;
    let counters = rows.each_chunk(
        threads,
        |kind| kind.part == Part::Train,
        || {
            (
                Vec::from_iter(quads.iter().map(|quad| QuadCounter::new(quad, *level))),
                Scratch::new(),
            )
        },
        |(counters, scratch), chunk| {
            counters.iter_mut().for_each(|counter| counter.add(chunk, scratch));
        },
    )?;
    let mut found = LevelCounts::new(quads);
    for (counters, _) in counters {
        for (nodes, counter) in found.0.iter_mut().zip(counters) {
            for (nodes, cells) in nodes.iter_mut().zip(counter.finish()) {
                cells.add_to(nodes);
            }
        }
    }
    Ok(found)
}
