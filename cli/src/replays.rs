//! Forests replayed on the rows of one part of labelled traces.

use crate::failure::UserError;
use crate::traces::TraceFiles;
use anyhow::Context;
use dropcast_reports::{ForestReplay, LanesSent, VoteChoice, VoteLane};
use dropcast_train::{Fitted, Forest, Part, Split, VoteRule, rows_of_part};
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
        if self.split.is_random() {
            let problem = "rows that are split at random are not consecutive arrivals, and can't \
                           be replayed; split by time, run or switch, or choose another vote rule";
            return Err(UserError(problem.to_owned()));
        }
        Ok(())
    }

    /// What each lane transmits of the rows of `part`, each trace beginning with empty buffers.
    pub(crate) fn replay(
        &self,
        part: Part,
        forests: &[&Forest],
        lanes: &[VoteLane],
    ) -> anyhow::Result<LanesSent> {
        let mut all = LanesSent::default();
        for lanes in lanes.chunks(MOST_LANES) {
            let LanesSent { lqd, lanes } = self.pass(part, forests, lanes)?;
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
            for batch in rows_of_part(&file, columns.len(), self.split, self.seed, part)? {
                replay.add(&batch?.batch).with_context(name)?;
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
