//! A split applied to given runs.

use super::part::{Part, RunTime, part_of_switch};
use super::split::Split;
use super::times::{RunTimes, arrivals};
use crate::TrainError;
use crate::random::Purpose;
use crate::source::RunRows;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A split applied to given runs.
#[derive(Debug)]
pub(crate) struct SplitPlan<'a> {
    split: &'a Split,
    seed: u64,
    /// By run, the start times of blocks after the first.
    cuts: BTreeMap<u64, Vec<u64>>,
}

impl<'a> SplitPlan<'a> {
    /// The plan of `split`; `times` must have seen every row if the split needs times.
    pub(crate) fn new(split: &'a Split, seed: u64, times: RunTimes) -> Self {
        SplitPlan::with_cuts(split, seed, run_cuts(split, times))
    }

    /// The plan of `split` with the [`run_cuts`] of all rows.
    pub(crate) fn with_cuts(split: &'a Split, seed: u64, cuts: BTreeMap<u64, Vec<u64>>) -> Self {
        SplitPlan { split, seed, cuts }
    }

    /// Whether a row's part depends on its number among the rows of its run and switch.
    pub(crate) fn needs_numbers(&self) -> bool {
        self.split.is_random()
    }

    /// The parts of rows; `numbers` are their row numbers, if needed.
    pub(crate) fn parts(&self, rows: &RunRows<'_>, numbers: &[u64]) -> Result<Parts, TrainError> {
        if rows.is_empty() {
            return Ok(Parts::Each(Vec::new()));
        }
        self.parts_by(self.split, rows, numbers)
    }

    fn parts_by(
        &self,
        split: &Split,
        rows: &RunRows<'_>,
        numbers: &[u64],
    ) -> Result<Parts, TrainError> {
        let switches = rows.arrivals.map(|arrivals| arrivals.switch_id);
        let parts = match split {
            Split::Only { switches: kept, of } => {
                let parts = self.parts_by(of, rows, numbers)?;
                let is_kept = |switch: u16| kept.contains(&(rows.run, switch));
                match switches {
                    None if is_kept(0) => return Ok(parts),
                    None => return Ok(Parts::All(Part::Gap)),
                    Some(switches) => switches
                        .iter()
                        .enumerate()
                        .map(
                            |(at, &switch)| {
                                if is_kept(switch) { parts.part(at) } else { Part::Gap }
                            },
                        )
                        .collect(),
                }
            }
            Split::None => return Ok(Parts::All(Part::Train)),
            Split::Runs { .. } => {
                return Ok(Parts::All(split.part_of_run(rows.run).unwrap_or(Part::Train)));
            }
            Split::Switches { test, validation } => {
                let switches = switches.ok_or(TrainError::NoSwitches { run: rows.run })?;
                switches.iter().map(|&switch| part_of_switch(switch, test, validation)).collect()
            }
            Split::Random { train_share, validation_share } => {
                let train = chance(train_share.get());
                let validate = chance(train_share.get() + validation_share.get());
                let part = |(at, &number): (usize, &u64)| {
                    let switch = switches.map_or(0, |switches| switches[at]);
                    let of_switch = Purpose::Split.stream(self.seed, &[rows.run, switch.into()]);
                    match of_switch.at(number) {
                        toss if toss < train => Part::Train,
                        toss if toss < validate => Part::Validation,
                        _ => Part::Test,
                    }
                };
                numbers.iter().enumerate().map(part).collect()
            }
            Split::Episodes { .. } => {
                if let Some(part) = split.part_of_run(rows.run) {
                    return Ok(Parts::All(part));
                }
                let at = |&time_ns: &u64| RunTime { run: rows.run, time_ns };
                let times = arrivals(split, rows)?.time_ns.iter();
                times.map(|time_ns| split.part_of_episode(at(time_ns))).collect()
            }
            Split::Time { .. } | Split::TimeBlocks { .. } => {
                let cuts = self.cuts.get(&rows.run).ok_or(TrainError::SourceChanged)?;
                let times = arrivals(split, rows)?.time_ns;
                // Most rows are of the same stretch as the one before.
                let mut parts = Vec::with_capacity(times.len());
                while let Some(&time_ns) = times.get(parts.len()) {
                    let (stretch, part) = stretch_between(split, cuts, time_ns);
                    let later = times[parts.len()..].chunks(SAME_PART);
                    let same = later.take_while(|times| are_within(times, &stretch));
                    let same: usize = same.map(<[u64]>::len).sum();
                    // The end of a stretch is within a few rows, or this row alone is of it.
                    let rest = times[parts.len() + same..].iter().take(SAME_PART);
                    let rest = rest.take_while(|time_ns| stretch.contains(time_ns)).count();
                    parts.resize(parts.len() + same + rest, part);
                }
                parts
            }
        };
        Ok(Parts::Each(parts))
    }
}

/// Rows whose times are compared together.
const SAME_PART: usize = 256;

/// Whether all times are in a range; without an early end, so that the compiler compares several at once.
fn are_within(times: &[u64], range: &RangeInclusive<u64>) -> bool {
    times.iter().fold(true, |all, time_ns| all & range.contains(time_ns))
}

/// The parts that rows belong to.
#[derive(Clone, Debug)]
pub(crate) enum Parts {
    /// All rows are of one part.
    All(Part),
    /// Each row's part.
    Each(Vec<Part>),
}

impl Parts {
    /// The part of the row at `at`.
    pub(crate) fn part(&self, at: usize) -> Part {
        match self {
            Parts::All(part) => *part,
            Parts::Each(parts) => parts[at],
        }
    }

    /// Whether each of `rows` rows is of one of `wanted`.
    pub(crate) fn are(&self, wanted: &[Part], rows: usize) -> Vec<bool> {
        match self {
            Parts::All(of_all) => vec![wanted.contains(of_all); rows],
            Parts::Each(parts) => parts.iter().map(|of| wanted.contains(of)).collect(),
        }
    }
}

/// By run, the start times of blocks after the first; none if the split does not need times.
pub(crate) fn run_cuts(split: &Split, times: RunTimes) -> BTreeMap<u64, Vec<u64>> {
    times.by_run().into_iter().map(|(run, times)| (run, cuts(split, &times))).collect()
}

/// Where to cut a run: `times` are its rows' times, ascending, each with a number of rows.
fn cuts(split: &Split, times: &[(u64, u64)]) -> Vec<u64> {
    let rows: u64 = times.iter().map(|&(_, rows)| rows).sum();
    let time_of_row = |row: u64| {
        let mut before = 0;
        times.iter().find_map(|&(time_ns, rows)| {
            before += rows;
            (before > row).then_some(time_ns)
        })
    };
    match split {
        Split::Time { train_share, validation_share, .. } => {
            let train = train_share.get();
            let mut ends = vec![train];
            if !validation_share.is_zero() {
                ends.push(train + validation_share.get());
            }
            let cut = |end: f64| time_of_row((end * rows as f64) as u64);
            ends.into_iter().filter_map(cut).collect()
        }
        Split::TimeBlocks { blocks, .. } => {
            let blocks = u64::from(blocks.get());
            let first =
                |block: u64| (u128::from(block) * u128::from(rows) / u128::from(blocks)) as u64;
            (1..blocks).filter_map(|block| time_of_row(first(block))).collect()
        }
        Split::Only { of, .. } => cuts(of, times),
        _ => Vec::new(),
    }
}

/// The part of a row of a run that is cut at `cuts`.
pub(super) fn part_between(split: &Split, cuts: &[u64], time_ns: u64) -> Part {
    stretch_between(split, cuts, time_ns).1
}

/// The same, and the times around it of the same part: the block, or the guard at its start.
fn stretch_between(split: &Split, cuts: &[u64], time_ns: u64) -> (RangeInclusive<u64>, Part) {
    let guard_ns = match split {
        Split::Time { guard_ns, .. } | Split::TimeBlocks { guard_ns, .. } => *guard_ns,
        _ => 0,
    };
    let block = cuts.partition_point(|&cut| cut <= time_ns);
    let last_ns = cuts.get(block).map_or(u64::MAX, |&end_ns| end_ns - 1);
    let Some(begin_ns) = block.checked_sub(1).map(|before| cuts[before]) else {
        return (0..=last_ns, part_of_block(split, block));
    };
    let guarded_ns = begin_ns.saturating_add(guard_ns);
    if time_ns < guarded_ns {
        return (begin_ns..=last_ns.min(guarded_ns - 1), Part::Gap);
    }
    (guarded_ns..=last_ns, part_of_block(split, block))
}

/// The part of the rows between two cuts.
fn part_of_block(split: &Split, block: usize) -> Part {
    match split {
        Split::Time { validation_share, .. } => match block {
            0 => Part::Train,
            1 if !validation_share.is_zero() => Part::Validation,
            _ => Part::Test,
        },
        Split::TimeBlocks { validation_share, .. } if block.is_multiple_of(2) => {
            // An even block validates if the cumulative share reaches the next whole number with
            // it.
            let share = 2.0 * validation_share.get();
            let passed = |blocks: usize| (share * blocks as f64) as usize;
            let nth = block / 2;
            if passed(nth + 1) > passed(nth) { Part::Validation } else { Part::Train }
        }
        _ => Part::Test,
    }
}

/// A probability as a threshold for 64-bit draws.
fn chance(share: f64) -> u64 {
    // The cast saturates at a probability of 1.
    (share * 18_446_744_073_709_551_616.0) as u64
}
