//! How rows are divided.

use super::part::{Part, RunSwitch, RunTime, part_of_switch};
use crate::share::Share;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// How rows are divided. A row's part is a function of the split, the seed, the row's identity and
/// time, and all times of the run; never of how rows were read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Split {
    /// Every row trains.
    None,
    /// The earlier rows of each run train, the middle ones validate, the later ones test.
    Time {
        /// Share of the rows that train.
        train_share: Share,
        /// Share of the rows that validate.
        #[serde(default, skip_serializing_if = "Share::is_zero")]
        validation_share: Share,
        /// Rows within this time after a cut are left out, nanoseconds.
        guard_ns: u64,
    },
    /// Each run is cut in time into blocks with equal numbers of rows; even blocks (from 0) train
    /// and odd ones test. Some of the even ones, evenly spread, validate instead.
    TimeBlocks {
        /// Number of blocks.
        blocks: NonZeroU32,
        /// Share of all blocks that validate, up to one half.
        #[serde(default, skip_serializing_if = "Share::is_zero")]
        validation_share: Share,
        /// Rows within this time after the start of a block are left out, nanoseconds.
        guard_ns: u64,
    },
    /// Rows up to a moment train, those up to another validate, the later ones test; the moments lie
    /// in pauses between episodes of drops ([`SplitBy::Episodes`](crate::SplitBy::Episodes)). Runs
    /// follow one another in the order of their numbers.
    Episodes {
        /// From here on rows validate; none do without it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        validation_from: Option<RunTime>,
        /// From here on rows test.
        test_from: RunTime,
        /// Rows within this time after a cut are left out, nanoseconds.
        guard_ns: u64,
    },
    /// Each row is assigned at random, as in the Credence paper. It leaks: neighbours in a queue
    /// are nearly the same row, so the model has seen the test rows. For the paper's numbers only.
    Random {
        /// Probability that a row trains.
        train_share: Share,
        /// Probability that a row validates.
        #[serde(default, skip_serializing_if = "Share::is_zero")]
        validation_share: Share,
    },
    /// Whole runs test or validate, the others train.
    Runs {
        /// The test runs.
        test: Vec<u64>,
        /// The validation runs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        validation: Vec<u64>,
    },
    /// Whole switches test or validate, in every run, the others train.
    Switches {
        /// The test switches.
        test: Vec<u16>,
        /// The validation switches.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        validation: Vec<u16>,
    },
    /// Some switches of some runs, divided by another split; rows of other switches are left out.
    /// Thus models of single switches and the pooled model are tested on the same rows.
    Only {
        /// Run and switch.
        switches: Vec<RunSwitch>,
        /// How all rows are divided.
        of: Box<Split>,
    },
}

impl Split {
    /// Blocks of time of [`Split::time_blocks`].
    pub const BLOCKS: NonZeroU32 = NonZeroU32::new(20).expect("20 is not 0");

    /// The split by time with the paper's share: 60% train, the rest test.
    pub fn time() -> Self {
        Split::Time { train_share: paper_share(), validation_share: Share::ZERO, guard_ns: 0 }
    }

    /// Even twentieths of time train, odd ones test.
    pub fn time_blocks() -> Self {
        let blocks = Split::BLOCKS;
        Split::TimeBlocks { blocks, validation_share: Share::ZERO, guard_ns: 0 }
    }

    /// The paper's random split with its share: 60% train.
    pub fn random() -> Self {
        Split::Random { train_share: paper_share(), validation_share: Share::ZERO }
    }

    /// Cross-validation over runs: `folds` splits, or one for each run if there are fewer runs. Each
    /// run tests in exactly one of them. `runs` must be distinct; their order does not matter.
    pub fn folds_of_runs(runs: &[u64], folds: usize) -> Vec<Split> {
        let mut runs = runs.to_vec();
        runs.sort_unstable();
        let folds = folds.clamp(1, runs.len().max(1));
        let fold = |nth: usize| {
            let test = runs.iter().copied().skip(nth).step_by(folds).collect();
            Split::Runs { test, validation: Vec::new() }
        };
        (0..folds).map(fold).collect()
    }

    /// The part of every row of `run`, if all have the same.
    pub fn part_of_run(&self, run: u64) -> Option<Part> {
        match self {
            Split::Only { switches, .. } if switches.iter().all(|of| of.0 != run) => {
                Some(Part::Gap)
            }
            Split::None => Some(Part::Train),
            Split::Runs { test, .. } if test.contains(&run) => Some(Part::Test),
            Split::Runs { validation, .. } if validation.contains(&run) => Some(Part::Validation),
            Split::Runs { .. } => Some(Part::Train),
            Split::Episodes { .. } => {
                let cut_here =
                    self.episode_cuts().any(|(cut, _)| cut.run == run && cut.time_ns > 0);
                (!cut_here).then(|| self.part_of_episode(RunTime { run, time_ns: u64::MAX }))
            }
            _ => None,
        }
    }

    /// Where the validation and test rows of a split by episodes begin.
    fn episode_cuts(&self) -> impl DoubleEndedIterator<Item = (RunTime, Part)> {
        let (validation, test) = match *self {
            Split::Episodes { validation_from, test_from, .. } => {
                (validation_from, Some(test_from))
            }
            _ => (None, None),
        };
        let validation = validation.map(|cut| (cut, Part::Validation));
        validation.into_iter().chain(test.map(|cut| (cut, Part::Test)))
    }

    /// The part of a row in a split by episodes.
    pub(super) fn part_of_episode(&self, at: RunTime) -> Part {
        let guard_ns = if let Split::Episodes { guard_ns, .. } = self { *guard_ns } else { 0 };
        match self.episode_cuts().rev().find(|(cut, _)| *cut <= at) {
            None => Part::Train,
            Some((cut, _)) if cut.run == at.run && at.time_ns - cut.time_ns < guard_ns => Part::Gap,
            Some((_, part)) => part,
        }
    }

    /// The part of every row of a switch of `run`, if all have the same.
    pub(crate) fn part_of_switch(&self, run: u64, switch: u16) -> Option<Part> {
        match self {
            Split::Only { switches, .. } if !switches.contains(&(run, switch)) => Some(Part::Gap),
            Split::Only { of, .. } => of.part_of_switch(run, switch),
            Split::Switches { test, validation } => Some(part_of_switch(switch, test, validation)),
            _ => self.part_of_run(run),
        }
    }

    /// Whether the split's settings give rows to `part`.
    pub fn keeps(&self, part: Part) -> bool {
        let (validates, tests) = match self {
            Split::None => (false, false),
            Split::Time { train_share, validation_share, .. }
            | Split::Random { train_share, validation_share } => {
                let tests = train_share.get() + validation_share.get() < 1.0;
                (!validation_share.is_zero(), tests)
            }
            Split::TimeBlocks { blocks, validation_share, .. } => {
                (!validation_share.is_zero(), blocks.get() > 1)
            }
            Split::Episodes { validation_from, .. } => (validation_from.is_some(), true),
            Split::Runs { test, validation } => (!validation.is_empty(), !test.is_empty()),
            Split::Switches { test, validation } => (!validation.is_empty(), !test.is_empty()),
            Split::Only { of, .. } if part != Part::Gap => return of.keeps(part),
            Split::Only { .. } => return true,
        };
        match part {
            Part::Train => true,
            Part::Validation => validates,
            Part::Test => tests,
            Part::Gap => matches!(
                self,
                Split::Time { guard_ns, .. }
                    | Split::TimeBlocks { guard_ns, .. }
                    | Split::Episodes { guard_ns, .. } if *guard_ns > 0
            ),
        }
    }

    /// Whether the arrival times of all rows of a run decide the parts of each.
    pub(crate) fn needs_times(&self) -> bool {
        match self {
            Split::Only { of, .. } => of.needs_times(),
            _ => matches!(self, Split::Time { .. } | Split::TimeBlocks { .. }),
        }
    }

    /// Whether neighbouring rows may be in different parts, so that no part's rows are consecutive
    /// arrivals.
    pub fn is_random(&self) -> bool {
        match self {
            Split::Only { of, .. } => of.is_random(),
            _ => matches!(self, Split::Random { .. }),
        }
    }

    /// Its name in settings.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Split::Only { of, .. } => of.name(),
            split => split.into(),
        }
    }
}

fn paper_share() -> Share {
    Share::new(0.6).expect("0.6 is a share")
}
