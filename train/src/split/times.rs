//! When the rows of a run arrived, in bounded memory.

use super::Split;
use crate::{RowId, RunBatch, TrainError};
use std::collections::BTreeMap;

/// What splits by time need to know of each run: when its rows arrived.
///
/// A trace's duration says little about where its rows are (a warm-up may be nine tenths of it),
/// so cuts are made at shares of the rows. Of each switch, the times of evenly spaced rows are
/// kept, 16,384 to 32,768 of them: a cut is exact up to as many rows, and off by at most a
/// 16,384th of a switch's rows beyond.
#[derive(Debug, Default)]
pub(crate) struct RunTimes {
    switches: BTreeMap<(u64, u16), SpacedTimes>,
}

const TIMES_KEPT: usize = 1 << 15;

/// The time of every `spacing`th row of a switch.
#[derive(Debug)]
struct SpacedTimes {
    spacing: u64,
    times_ns: Vec<u64>,
}

impl RunTimes {
    /// Takes in a batch.
    pub(crate) fn add(
        &mut self,
        split: &Split,
        batch: &RunBatch,
        ids: &[RowId],
    ) -> Result<(), TrainError> {
        let mut times = times(split, batch)?;
        for same in ids.chunk_by(|a, b| a.switch == b.switch) {
            let (these, others) = times.split_at(same.len());
            times = others;
            let spaced = self
                .switches
                .entry((batch.run, same[0].switch))
                .or_insert_with(|| SpacedTimes { spacing: 1, times_ns: Vec::new() });
            same.iter().zip(these).for_each(|(id, &time_ns)| spaced.add(id.row, time_ns));
        }
        Ok(())
    }

    /// By run, the times of its rows in ascending order, each with the number of rows it is for.
    pub(super) fn by_run(self) -> BTreeMap<u64, Vec<(u64, u64)>> {
        let mut runs: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        for ((run, _), SpacedTimes { spacing, times_ns }) in self.switches {
            let times = times_ns.into_iter().map(|time_ns| (time_ns, spacing));
            runs.entry(run).or_default().extend(times);
        }
        runs.values_mut().for_each(|times| times.sort_unstable());
        runs
    }
}

impl SpacedTimes {
    /// Takes in the next row.
    fn add(&mut self, row: u64, time_ns: u64) {
        if !row.is_multiple_of(self.spacing) {
            return;
        }
        if self.times_ns.len() == TIMES_KEPT {
            // Row number `spacing * TIMES_KEPT`: a multiple of the new spacing too.
            let mut nth = 0_u32;
            self.times_ns.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.spacing *= 2;
        }
        self.times_ns.push(time_ns);
    }
}

pub(super) fn times<'a>(split: &Split, batch: &'a RunBatch) -> Result<&'a [u64], TrainError> {
    match &batch.batch.arrivals {
        Some(arrivals) => Ok(&arrivals.time_ns),
        None => Err(TrainError::NoTimes { split: split.name(), run: batch.run }),
    }
}
