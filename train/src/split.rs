//! Splits: which rows train and which test.

use crate::random::{Purpose, Stream};
use crate::{RowId, RunBatch, Share, TrainError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// How rows are divided. Whether a row trains is a function of the split, the seed, the row's
/// identity and time, and of the run's times as a whole; never of how rows were read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Split {
    /// Every row trains.
    None,
    /// The earlier rows of each run train, the later ones test.
    Time {
        /// Share of the rows that train.
        train_share: Share,
        /// Rows this soon after the cut are left out, nanoseconds.
        guard_ns: u64,
    },
    /// Each run is cut in time into blocks of equally many rows; they train and test in turn.
    TimeBlocks {
        /// Number of blocks.
        blocks: NonZeroU32,
        /// Rows this soon after the beginning of a block are left out, nanoseconds.
        guard_ns: u64,
    },
    /// Each row by the toss of a coin, as in the Credence paper. It leaks: neighbours in a queue
    /// are nearly the same row, so the test rows have been seen. For the paper's numbers only.
    Random {
        /// Chance that a row trains.
        train_share: Share,
    },
    /// Whole runs test, the others train.
    Runs {
        /// The runs that test.
        test: Vec<u64>,
    },
}

/// What a row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The forest and the vote threshold are made from it.
    Train,
    /// The model is measured on it.
    Test,
    /// It is left out, between the two.
    Gap,
}

impl Split {
    /// The split by time at the paper's share: 60% train.
    pub fn time() -> Self {
        Split::Time { train_share: paper_share(), guard_ns: 0 }
    }

    /// Even twentieths of time train, odd ones test.
    pub fn time_blocks() -> Self {
        let blocks = NonZeroU32::new(20).expect("20 is not 0");
        Split::TimeBlocks { blocks, guard_ns: 0 }
    }

    /// The paper's random split at its share: 60% train.
    pub fn random() -> Self {
        Split::Random { train_share: paper_share() }
    }

    /// Whether rows need arrival times.
    pub fn needs_times(&self) -> bool {
        matches!(self, Split::Time { .. } | Split::TimeBlocks { .. })
    }

    fn name(&self) -> &'static str {
        match self {
            Split::None => "none",
            Split::Time { .. } => "time",
            Split::TimeBlocks { .. } => "time-blocks",
            Split::Random { .. } => "random",
            Split::Runs { .. } => "runs",
        }
    }
}

fn paper_share() -> Share {
    Share::new(0.6).expect("0.6 is a share")
}

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
    fn by_run(self) -> BTreeMap<u64, Vec<(u64, u64)>> {
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

fn times<'a>(split: &Split, batch: &'a RunBatch) -> Result<&'a [u64], TrainError> {
    match &batch.batch.arrivals {
        Some(arrivals) => Ok(&arrivals.time_ns),
        None => Err(TrainError::NoTimes { split: split.name(), run: batch.run }),
    }
}

/// A split made definite for the runs at hand.
#[derive(Debug)]
pub(crate) struct SplitPlan<'a> {
    split: &'a Split,
    seed: u64,
    /// By run, the times at which blocks after the first begin.
    cuts: BTreeMap<u64, Vec<u64>>,
}

impl<'a> SplitPlan<'a> {
    /// The plan of `split`; `times` has seen every row if the split needs times.
    pub(crate) fn new(split: &'a Split, seed: u64, times: RunTimes) -> Self {
        let cuts =
            times.by_run().into_iter().map(|(run, times)| (run, cuts(split, &times))).collect();
        SplitPlan { split, seed, cuts }
    }

    /// Replaces `parts` by those of the batch's rows.
    pub(crate) fn parts(
        &self,
        batch: &RunBatch,
        ids: &[RowId],
        parts: &mut Vec<Part>,
    ) -> Result<(), TrainError> {
        parts.clear();
        match self.split {
            Split::None => parts.resize(ids.len(), Part::Train),
            Split::Runs { test } => {
                let part = if test.contains(&batch.run) { Part::Test } else { Part::Train };
                parts.resize(ids.len(), part);
            }
            Split::Random { train_share } => {
                // 2^64 times a share below 1 fits.
                let limit = (train_share.get() * 18_446_744_073_709_551_616.0) as u64;
                parts.extend(ids.iter().map(|&id| {
                    let trains = Stream::of_row(self.seed, Purpose::Split, id) < limit;
                    if trains { Part::Train } else { Part::Test }
                }));
            }
            Split::Time { guard_ns, .. } | Split::TimeBlocks { guard_ns, .. } => {
                let cuts = self.cuts.get(&batch.run).ok_or(TrainError::SourceChanged)?;
                let times = times(self.split, batch)?;
                parts.extend(times.iter().map(|&time_ns| part_in_time(cuts, *guard_ns, time_ns)));
            }
        }
        Ok(())
    }
}

/// Where to cut a run: `times` are those of its rows, ascending, each for a number of rows.
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
        Split::Time { train_share, .. } => {
            time_of_row((train_share.get() * rows as f64) as u64).into_iter().collect()
        }
        Split::TimeBlocks { blocks, .. } => {
            let blocks = u64::from(blocks.get());
            let first =
                |block: u64| (u128::from(block) * u128::from(rows) / u128::from(blocks)) as u64;
            (1..blocks).filter_map(|block| time_of_row(first(block))).collect()
        }
        _ => Vec::new(),
    }
}

fn part_in_time(cuts: &[u64], guard_ns: u64, time_ns: u64) -> Part {
    let block = cuts.partition_point(|&cut| cut <= time_ns);
    if block > 0 && time_ns - cuts[block - 1] < guard_ns {
        Part::Gap
    } else if block % 2 == 0 {
        Part::Train
    } else {
        Part::Test
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::each_batch;
    use dropcast_data::LabelledBatch;

    fn run_of(run: u64, times: &[u64]) -> RunBatch {
        let mut batch = LabelledBatch::with_arrivals(0);
        let arrivals = batch.arrivals.as_mut().unwrap();
        arrivals.time_ns = times.to_vec();
        arrivals.switch_id = vec![3; times.len()];
        batch.drop = vec![false; times.len()];
        RunBatch { run, batch }
    }

    fn parts(split: &Split, batches: &[RunBatch]) -> Result<String, TrainError> {
        let mut times = RunTimes::default();
        if split.needs_times() {
            each_batch(batches, 0, |batch, ids| times.add(split, batch, ids))?;
        }
        let plan = SplitPlan::new(split, 1, times);
        let mut text = String::new();
        let mut parts = Vec::new();
        each_batch(batches, 0, |batch, ids| {
            plan.parts(batch, ids, &mut parts)?;
            text.extend(parts.iter().map(|part| match part {
                Part::Train => 'r',
                Part::Test => 'e',
                Part::Gap => '-',
            }));
            Ok(())
        })?;
        Ok(text)
    }

    #[test]
    fn time_splits_by_rows_and_not_by_the_clock() {
        let warm_up = run_of(7, &[0, 1_000_000, 1_000_001, 1_000_002, 1_000_003]);
        assert_eq!(parts(&Split::time(), &[warm_up]).unwrap(), "rrree");
    }

    #[test]
    fn each_run_is_cut_on_its_own_clock() {
        let runs = [run_of(1, &[1, 2, 3, 4, 5]), run_of(2, &[901, 902, 903, 904, 905])];
        assert_eq!(parts(&Split::time(), &runs).unwrap(), "rrreerrree");
    }

    #[test]
    fn rows_of_one_instant_stay_together() {
        assert_eq!(parts(&Split::time(), &[run_of(0, &[1, 2, 2, 2, 3])]).unwrap(), "reeee");
    }

    #[test]
    fn a_guard_leaves_out_what_follows_a_cut() {
        let share = Share::new(0.5).unwrap();
        let split = Split::Time { train_share: share, guard_ns: 2 };
        assert_eq!(parts(&split, &[run_of(0, &[0, 1, 2, 3, 4, 5, 6, 7])]).unwrap(), "rrrr--ee");
    }

    #[test]
    fn blocks_take_turns() {
        let split = Split::TimeBlocks { blocks: NonZeroU32::new(4).unwrap(), guard_ns: 0 };
        assert_eq!(parts(&split, &[run_of(0, &[0, 1, 2, 3, 4, 5, 6, 7])]).unwrap(), "rreerree");
        let times: Vec<u64> = (0..40).collect();
        let twentieths = parts(&Split::time_blocks(), &[run_of(0, &times)]).unwrap();
        assert_eq!(twentieths, "rree".repeat(10));
    }

    #[test]
    fn a_random_split_keeps_its_share_and_ignores_batches() {
        let times: Vec<u64> = (0..20_000).collect();
        let whole = parts(&Split::random(), &[run_of(5, &times)]).unwrap();
        let (head, tail) = times.split_at(777);
        let halves = parts(&Split::random(), &[run_of(5, head), run_of(5, tail)]).unwrap();
        assert_eq!(whole, halves);
        let train = whole.matches('r').count();
        assert!((11_700..12_300).contains(&train), "{train}");
    }

    #[test]
    fn cuts_of_long_runs_are_off_by_little() {
        let rows = 1_000_003;
        let times: Vec<u64> = (0..rows).map(|row| row * row).collect();
        let split = parts(&Split::time(), &[run_of(5, &times)]).unwrap();
        let train = split.find('e').unwrap() as f64;
        assert!((train - 0.6 * rows as f64).abs() < rows as f64 / 16_384.0, "{train}");
        assert!(!split[train as usize..].contains('r'));
    }

    #[test]
    fn switches_of_a_run_are_cut_at_the_same_time() {
        let mut run = run_of(5, &[1, 2, 3, 4, 5, 5, 6, 7, 8, 9]);
        run.batch.arrivals.as_mut().unwrap().switch_id = vec![0, 1, 0, 0, 1, 0, 1, 1, 1, 1];
        assert_eq!(parts(&Split::time(), &[run]).unwrap(), "rrrrrreeee");
    }

    #[test]
    fn runs_are_kept_apart_whole() {
        let runs = [run_of(1, &[1, 2]), run_of(2, &[1]), run_of(1, &[3])];
        assert_eq!(parts(&Split::Runs { test: vec![2] }, &runs).unwrap(), "rrer");
    }

    #[test]
    fn splits_by_time_refuse_rows_without_times() {
        let mut batch = run_of(4, &[1, 2]);
        batch.batch.arrivals = None;
        let error = parts(&Split::time(), &[batch.clone()]).unwrap_err();
        assert!(matches!(error, TrainError::NoTimes { split: "time", run: 4 }), "{error}");
        assert_eq!(parts(&Split::None, &[batch]).unwrap(), "rr");
    }
}
