//! Forests replayed on the rows of one part of labelled traces.

use crate::failure::UserError;
use crate::traces::TraceFiles;
use anyhow::Context;
use dropcast_forest::Forest;
use dropcast_replay::{ForestReplay, LanesSent, VoteChoice, VoteLane};
use dropcast_train::{Fitted, Part, Split, VoteRule, rows_to_replay};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Lanes of one pass at most: each holds the packets of a buffer, or two.
const MOST_LANES: usize = 512;

/// Traces whose arrivals are replayed as a split divides them.
pub(crate) struct Replays<'a> {
    pub(crate) files: &'a TraceFiles,
    pub(crate) split: &'a Split,
    /// The split's.
    pub(crate) seed: u64,
    pub(crate) threads: NonZeroUsize,
}

impl Replays<'_> {
    /// Refuses, before any work, what cannot be replayed.
    pub(crate) fn check(&self) -> Result<(), UserError> {
        let not_replayable = self.files.files.iter().find(|file| !file.is_replayable());
        if let Some(file) = not_replayable {
            return Err(UserError(format!(
                "{}: cannot be replayed: it does not describe its switch, or its rows are not in order of \
                 arrival; label events with `dropcast collect`, or choose another vote rule",
                file.path.display()
            )));
        }
        if self.split.is_random() {
            let problem = "rows that are split at random are not consecutive arrivals, and can't \
                           be replayed; split by time, run or switch, or choose another vote rule";
            return Err(UserError(problem.to_owned()));
        }
        Ok(())
    }

    /// What each lane transmits of the rows of `part`, among all that arrives at their switches.
    pub(crate) fn replay(
        &self,
        part: Part,
        forests: &[&Forest],
        lanes: &[VoteLane],
    ) -> anyhow::Result<LanesSent> {
        let mut all = LanesSent::default();
        for lanes in lanes.chunks(MOST_LANES) {
            // Of the forests, those of these lanes.
            let used: BTreeSet<usize> = lanes.iter().map(|lane| lane.forest).collect();
            let used: Vec<usize> = used.into_iter().collect();
            let place = |forest| used.partition_point(|&of| of < forest);
            let lanes: Vec<VoteLane> =
                lanes.iter().map(|lane| VoteLane { forest: place(lane.forest), ..*lane }).collect();
            let forests: Vec<&Forest> = used.iter().map(|&forest| forests[forest]).collect();
            let LanesSent { lqd, lanes } = self.pass(part, &forests, &lanes)?;
            all.lqd = lqd;
            all.lanes.extend(lanes);
        }
        Ok(all)
    }

    fn pass(
        &self,
        part: Part,
        forests: &[&Forest],
        lanes: &[VoteLane],
    ) -> anyhow::Result<LanesSent> {
        let mut sum = LanesSent::default();
        for file in self.files.clone().one_by_one() {
            let trace = &file.files[0];
            if self.split.part_of_run(trace.origin.run).is_some_and(|of_run| of_run != part) {
                continue;
            }
            let name = || trace.path.display().to_string();
            let columns = file.features().names();
            let mut replay = ForestReplay::new(&trace.meta, &columns, forests, lanes, self.threads)
                .with_context(name)?;
            for rows in rows_to_replay(&file, columns.len(), self.split, self.seed, part)? {
                let (batch, is_of_part) = rows?;
                replay.add(&batch.batch, &is_of_part).with_context(name)?;
            }
            sum.add(&replay.finish());
        }
        Ok(sum)
    }

    /// Gives forests the vote thresholds that `rule` chooses, if it does so by replay.
    pub(crate) fn choose(&self, rule: VoteRule, fitted: &mut [Fitted]) -> anyhow::Result<()> {
        let Some(first) = fitted.first() else { return Ok(()) };
        let ports = first.model.switch.ports;
        let scores: Vec<_> = fitted.iter().map(Fitted::vote_scores).collect();
        let Some(choice) = VoteChoice::new(rule, &scores, ports) else { return Ok(()) };
        let validates = first.validation_scores.totals() != (0, 0);
        let part = if validates { Part::Validation } else { Part::Train };
        let forests: Vec<&Forest> = fitted.iter().map(|fitted| &fitted.model.forest).collect();
        let sent = self.replay(part, &forests, choice.lanes())?;
        for (fitted, decision) in fitted.iter_mut().zip(choice.choose(&sent.lanes)) {
            if let Some(decision) = decision {
                fitted.set_vote(rule, decision.threshold);
            }
        }
        Ok(())
    }
}
