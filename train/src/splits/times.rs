//! Arrival times of a run's rows, in bounded memory.

use super::episodes::{Cuts, cut_drops};
use super::part::{RunSwitch, RunTime};
use super::split::Split;
use crate::row_numbers::RowNumbers;
use crate::share::Share;
use crate::source::{RowArrivals, RunRows, each_gathered};
use crate::{BatchSource, TrainError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Arrival times of each run's rows, for splits by time.
///
/// A trace's duration says little about where its rows are (nine tenths may be warm-up), so cuts
/// are made at shares of the rows. For each switch, the times of 16,384 to 32,768 evenly spaced
/// rows are kept: a cut is exact for fewer rows than that, and otherwise off by at most 1/16,384 of
/// a switch's rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunTimes {
    switches: BTreeMap<(u64, u16), SpacedTimes>,
}

const TIMES_KEPT: usize = 1 << 15;

/// The time of every `spacing`th row of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SpacedTimes {
    spacing: u64,
    times_ns: Vec<u64>,
}

impl RunTimes {
    /// Reads all rows of `source`, if `split` needs their times.
    pub(crate) fn read<S: BatchSource + ?Sized>(
        source: &S,
        features: usize,
        split: &Split,
    ) -> Result<Self, TrainError> {
        let mut times = RunTimes::default();
        if split.needs_times() {
            times.read_all(source, features, split, RowNumbers::default())?;
        }
        Ok(times)
    }

    /// Reads a part of all rows: those after `before`, where each run and switch has `all` rows.
    pub(crate) fn read_some<S: BatchSource + ?Sized>(
        source: &S,
        features: usize,
        split: &Split,
        before: RowNumbers,
        all: &BTreeMap<RunSwitch, u64>,
    ) -> Result<Self, TrainError> {
        let spaced = |(&of, &rows): (&RunSwitch, &u64)| {
            let mut spacing = 1;
            while rows.div_ceil(spacing) > TIMES_KEPT as u64 {
                spacing *= 2;
            }
            (of, SpacedTimes { spacing, times_ns: Vec::new() })
        };
        let mut times = RunTimes { switches: all.iter().map(spaced).collect() };
        times.read_all(source, features, split, before)?;
        times.switches.retain(|_, spaced| !spaced.times_ns.is_empty());
        Ok(times)
    }

    /// Reads the times of all rows of `source`, and of its drops.
    pub(super) fn read_with_drops<S: BatchSource + ?Sized>(
        source: &S,
        features: usize,
    ) -> Result<(Self, DropTimes), TrainError> {
        let split = Split::time();
        let (mut times, mut drops) = (RunTimes::default(), DropTimes::default());
        let mut numbers = RowNumbers::default();
        each_gathered(source, features, |pieces| {
            pieces.iter().try_for_each(|rows| {
                drops.add(&split, rows)?;
                times.add(&split, rows, &mut numbers)
            })
        })?;
        Ok((times, drops))
    }

    /// Adds the times of other rows.
    pub(crate) fn merge(&mut self, other: RunTimes) {
        for (of, spaced) in other.switches {
            let none = || SpacedTimes { spacing: spaced.spacing, times_ns: Vec::new() };
            let own = self.switches.entry(of).or_insert_with(none);
            own.times_ns.extend(spaced.times_ns);
            // In one order, so that sums do not depend on theirs.
            own.times_ns.sort_unstable();
        }
    }

    fn read_all<S: BatchSource + ?Sized>(
        &mut self,
        source: &S,
        features: usize,
        split: &Split,
        mut numbers: RowNumbers,
    ) -> Result<(), TrainError> {
        each_gathered(source, features, |pieces| {
            pieces.iter().try_for_each(|rows| self.add(split, rows, &mut numbers))
        })
    }

    /// Adds the next rows, which `numbers` numbers in their run and switch.
    fn add(
        &mut self,
        split: &Split,
        rows: &RunRows<'_>,
        numbers: &mut RowNumbers,
    ) -> Result<(), TrainError> {
        let RowArrivals { mut time_ns, .. } = arrivals(split, rows)?;
        numbers.each_stretch(rows, |switch, of_rows| {
            let (these, later) = time_ns.split_at((of_rows.end - of_rows.start) as usize);
            time_ns = later;
            self.switches.entry((rows.run, switch)).or_default().add_all(of_rows.start, these);
        });
        Ok(())
    }

    /// By run, the times of its rows in ascending order, each with the number of rows it
    /// represents.
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

/// Arrival times of the packets that LQD drops, kept as [`RunTimes`] are.
#[derive(Clone, Debug, Default)]
pub(super) struct DropTimes {
    rows: u64,
    switches: BTreeMap<(u64, u16), (u64, SpacedTimes)>,
}

impl DropTimes {
    fn add(&mut self, split: &Split, rows: &RunRows<'_>) -> Result<(), TrainError> {
        let RowArrivals { time_ns, switch_id } = arrivals(split, rows)?;
        self.rows += rows.len() as u64;
        for (at, _) in rows.drop.iter().enumerate().filter(|(_, drop)| **drop) {
            let of = (rows.run, switch_id[at]);
            let (drops, times) = self.switches.entry(of).or_default();
            times.add(*drops, time_ns[at]);
            *drops += 1;
        }
        Ok(())
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of drops.
    pub(super) fn drops(&self) -> u64 {
        self.switches.values().map(|(drops, _)| drops).sum()
    }

    /// Whether the time of every drop was kept.
    pub(super) fn are_all_kept(&self) -> bool {
        self.switches.values().all(|(_, times)| times.spacing == 1)
    }

    /// The drops whose times were kept.
    pub(super) fn kept(&self) -> impl Iterator<Item = RunTime> {
        self.switches.iter().flat_map(|(&(run, _), (_, times))| {
            times.times_ns.iter().map(move |&time_ns| RunTime { run, time_ns })
        })
    }

    /// Where the parts of a split by episodes of drops begin.
    pub(super) fn cuts(&self, train_share: Share, validation_share: Share) -> Option<Cuts> {
        let mut drops: Vec<(RunTime, u64)> = Vec::new();
        for (&(run, _), (_, SpacedTimes { spacing, times_ns })) in &self.switches {
            drops.extend(times_ns.iter().map(|&time_ns| (RunTime { run, time_ns }, *spacing)));
        }
        drops.sort_unstable();
        cut_drops(&drops, train_share, validation_share)
    }
}

impl Default for SpacedTimes {
    fn default() -> Self {
        SpacedTimes { spacing: 1, times_ns: Vec::new() }
    }
}

impl SpacedTimes {
    /// Adds consecutive rows from row number `first` on.
    fn add_all(&mut self, first: u64, times_ns: &[u64]) {
        let mut row = first.next_multiple_of(self.spacing);
        while let Some(&time_ns) = times_ns.get((row - first) as usize) {
            self.add(row, time_ns);
            row = (row + 1).next_multiple_of(self.spacing);
        }
    }

    /// Adds the next row.
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

pub(super) fn arrivals<'a>(
    split: &Split,
    rows: &RunRows<'a>,
) -> Result<RowArrivals<'a>, TrainError> {
    rows.arrivals.ok_or(TrainError::NoTimes { split: split.name(), run: rows.run })
}
