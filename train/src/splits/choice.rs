//! The split of given rows: the one that is stated, or the first with drops in every part.
//!
//! Congestion comes in episodes, so a fifth of the rows may hold no drop: nothing can be chosen or
//! measured on it.

use super::episodes::Cuts;
use super::part::{Part, RunTime};
use super::plan::{SplitPlan, part_between, run_cuts};
use super::split::Split;
use super::split_by::SplitBy;
use super::times::{DropTimes, RunTimes};
use crate::row_numbers::RowNumbers;
use crate::share::Share;
use crate::source::each_gathered;
use crate::{BatchSource, TrainError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Checked settings of a split: the splits to try, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitChoice {
    candidates: Vec<(SplitBy, Candidate)>,
}

/// A split to try.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Candidate {
    Stated(Split),
    /// Cut where the drops are.
    Episodes {
        train_share: Share,
        validation_share: Share,
        guard_ns: u64,
    },
}

/// How given rows are divided, and which splits were passed over.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenSplit {
    /// The split.
    pub split: Split,
    /// The splits that were tried before, in order.
    pub passed_over: Vec<PassedOver>,
    /// Of a split by episodes: the shortest pause between two drops of a run that it cuts, nanoseconds.
    pub shortest_pause_ns: Option<u64>,
}

/// A split that leaves a part without drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassedOver {
    /// The split.
    pub by: SplitBy,
    /// The first part that LQD drops no packet of.
    pub without_drops: Part,
}

/// Parts that need drops.
const PARTS: [Part; 3] = [Part::Train, Part::Validation, Part::Test];

impl From<Split> for Candidate {
    fn from(split: Split) -> Self {
        Candidate::Stated(split)
    }
}

impl From<Split> for ChosenSplit {
    fn from(split: Split) -> Self {
        ChosenSplit { split, passed_over: Vec::new(), shortest_pause_ns: None }
    }
}

impl From<Split> for SplitChoice {
    fn from(split: Split) -> Self {
        // Its kind matters only where others are tried.
        SplitChoice::of(vec![(SplitBy::Auto, split.into())])
    }
}

impl ChosenSplit {
    /// Which split it is and why, if others were passed over.
    pub fn why(&self) -> Option<String> {
        why(&self.split, &self.passed_over)
    }
}

/// Which split rows are divided by and why, if others were passed over.
pub fn why(split: &Split, passed_over: &[PassedOver]) -> Option<String> {
    let reason = |PassedOver { by, without_drops }: &PassedOver| {
        format!("by {by} no {} row is a drop", without_drops.name())
    };
    let reasons: Vec<String> = passed_over.iter().map(reason).collect();
    (!reasons.is_empty())
        .then(|| format!("split by {}, because {}", split.name(), reasons.join(" and ")))
}

impl SplitChoice {
    pub(super) fn of(candidates: Vec<(SplitBy, Candidate)>) -> Self {
        SplitChoice { candidates }
    }

    /// The split that is stated; none where the rows decide.
    pub fn stated(&self) -> Option<&Split> {
        match self.candidates.as_slice() {
            [(_, Candidate::Stated(split))] => Some(split),
            _ => None,
        }
    }

    /// The split of the rows of `source`, whose batches have so many features. If one is stated, the
    /// source is not read.
    ///
    /// # Errors
    /// Those of the source; [`TrainError::NoTimes`] if rows have no times;
    /// [`TrainError::NoSplit`] if none has drops in every part.
    pub fn choose<S: BatchSource + ?Sized>(
        &self,
        source: &S,
        features: usize,
    ) -> Result<ChosenSplit, TrainError> {
        if let Some(split) = self.stated() {
            return Ok(split.clone().into());
        }
        let (times, drops) = RunTimes::read_with_drops(source, features)?;
        let mut passed_over = Vec::new();
        for (by, candidate) in &self.candidates {
            let mut shortest_pause_ns = None;
            let split = match candidate {
                Candidate::Stated(split) => split.clone(),
                &Candidate::Episodes { train_share, validation_share, guard_ns } => {
                    let cuts = drops.cuts(train_share, validation_share);
                    let Some(cuts) = cuts else { continue };
                    let Cuts { validation_from, test_from, shortest_pause_ns: shortest_ns } = cuts;
                    shortest_pause_ns = (shortest_ns < u64::MAX).then_some(shortest_ns);
                    Split::Episodes { validation_from, test_from, guard_ns }
                }
            };
            let rows = Counted { source, features, times: &times, drops: &drops };
            match rows.part_without_drops(&split)? {
                None => return Ok(ChosenSplit { split, passed_over, shortest_pause_ns }),
                Some(without_drops) => passed_over.push(PassedOver { by: *by, without_drops }),
            }
        }
        Err(match (drops.rows(), drops.drops()) {
            (0, _) => TrainError::NoRows,
            (rows, 0) => TrainError::NoDrops { rows },
            (_, drops) => TrainError::NoSplit { drops },
        })
    }
}

/// Rows whose drops are counted by part.
struct Counted<'a, S: ?Sized> {
    source: &'a S,
    features: usize,
    times: &'a RunTimes,
    drops: &'a DropTimes,
}

impl<S: BatchSource + ?Sized> Counted<'_, S> {
    /// The first part that the split keeps and that has no drop.
    fn part_without_drops(&self, split: &Split) -> Result<Option<Part>, TrainError> {
        let cuts = run_cuts(split, self.times.clone());
        let part = |at: RunTime| match split {
            Split::Episodes { .. } => split.part_of_episode(at),
            _ => part_between(split, cuts.get(&at.run).map_or(&[], Vec::as_slice), at.time_ns),
        };
        let lacks = |has: &BTreeSet<Part>| {
            PARTS.into_iter().find(|part| split.keeps(*part) && !has.contains(part))
        };
        match lacks(&self.drops.kept().map(part).collect()) {
            // Of very many drops only some were kept.
            Some(_) if !self.drops.are_all_kept() => {
                let plan = SplitPlan::with_cuts(split, 0, cuts);
                Ok(lacks(&self.parts_with_drops(&plan)?))
            }
            lacking => Ok(lacking),
        }
    }

    /// The parts of all drops.
    fn parts_with_drops(&self, plan: &SplitPlan<'_>) -> Result<BTreeSet<Part>, TrainError> {
        let mut numbers = RowNumbers::default();
        let mut found = BTreeSet::new();
        each_gathered(self.source, self.features, |pieces| {
            for rows in pieces {
                let parts = plan.parts(rows, &numbers.number(rows))?;
                let drops = rows.drop.iter().enumerate().filter(|(_, drop)| **drop);
                found.extend(drops.map(|(at, _)| parts.part(at)));
            }
            Ok(())
        })?;
        Ok(found)
    }
}
