//! Forests replayed on the rows of one part of labelled traces.

use crate::PipelineError;
use crate::traces::{LabelledTrace, LabelledTraces};
use dropcast_data::LabelledBatch;
use dropcast_forest::Forest;
use dropcast_replay::{ForestReplay, LanesSent};
use dropcast_train::{Part, ReplayRows, Sent, Split, VoteLane, VoteReplay, rows_to_replay};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Lanes of one pass at most: each holds the packets of a buffer, or two.
const MOST_LANES: usize = 512;

/// Traces whose arrivals are replayed as a split divides them.
pub(crate) struct Replays<'a> {
    pub(crate) traces: &'a LabelledTraces,
    pub(crate) split: &'a Split,
    /// The split's.
    pub(crate) seed: u64,
    pub(crate) threads: NonZeroUsize,
}

impl Replays<'_> {
    /// Whether the rows can be replayed at all.
    pub(crate) fn are_possible(&self) -> bool {
        self.check().is_ok()
    }

    /// Refuses, before any work, what cannot be replayed.
    pub(crate) fn check(&self) -> Result<(), PipelineError> {
        let not_replayable = self.traces.traces().iter().find(|trace| !trace.is_replayable());
        if let Some(LabelledTrace { name, .. }) = not_replayable {
            let problem = "cannot be replayed: it does not describe its switch, or its rows are \
                           not in order of arrival; label events with `dropcast collect`, or \
                           choose another vote rule";
            return Err(PipelineError::unfit(name, problem));
        }
        if self.split.is_random() {
            let problem = "rows that are split at random are not consecutive arrivals, and can't \
                           be replayed; split by time, run or switch, or choose another vote rule";
            return Err(PipelineError::setting("split", problem));
        }
        Ok(())
    }

    /// What each lane transmits of the rows of `part`, among all that arrives at their switches.
    pub(crate) fn replay(
        &self,
        part: Part,
        forests: &[&Forest],
        lanes: &[VoteLane],
    ) -> Result<LanesSent, PipelineError> {
        self.replay_at(part, forests, lanes, None)
    }

    /// The same at some switches.
    pub(crate) fn replay_at(
        &self,
        part: Part,
        forests: &[&Forest],
        lanes: &[VoteLane],
        switches: Option<&BTreeSet<u16>>,
    ) -> Result<LanesSent, PipelineError> {
        let mut all = LanesSent::default();
        for lanes in lanes.chunks(MOST_LANES) {
            // Of the forests, those of these lanes.
            let used: BTreeSet<usize> = lanes.iter().map(|lane| lane.forest).collect();
            let used: Vec<usize> = used.into_iter().collect();
            let place = |forest| used.partition_point(|&of| of < forest);
            let lanes: Vec<VoteLane> =
                lanes.iter().map(|lane| VoteLane { forest: place(lane.forest), ..*lane }).collect();
            let forests: Vec<&Forest> = used.iter().map(|&forest| forests[forest]).collect();
            let LanesSent { lqd, lanes, .. } = self.pass(part, &forests, &lanes, switches)?;
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
        switches: Option<&BTreeSet<u16>>,
    ) -> Result<LanesSent, PipelineError> {
        let mut sum = LanesSent::default();
        for one in self.traces.one_by_one() {
            let trace = &one.traces()[0];
            if self.split.part_of_run(trace.origin.run).is_some_and(|of_run| of_run != part) {
                continue;
            }
            let failed = |source| PipelineError::Replay { trace: trace.name.clone(), source };
            let columns = one.features().names();
            let mut replay = ForestReplay::new(&trace.meta, &columns, forests, lanes, self.threads)
                .map_err(failed)?;
            for rows in rows_to_replay(&one, columns.len(), self.split, self.seed, part)? {
                let ReplayRows { mut rows, mut are_of_part, goes_on } = rows?;
                if let Some(switches) = switches {
                    keep_switches(&mut rows.to_mut().batch, &mut are_of_part, switches);
                }
                replay.add(&rows.batch, &are_of_part).map_err(failed)?;
                if !goes_on && !replay.holds_counted() {
                    break;
                }
            }
            sum.add(&replay.finish());
        }
        Ok(sum)
    }
}

/// Keeps the rows of some switches, and their flags.
fn keep_switches(batch: &mut LabelledBatch, flags: &mut Vec<bool>, switches: &BTreeSet<u16>) {
    let Some(arrivals) = &batch.arrivals else { return };
    let keep: Vec<bool> = arrivals.switch_id.iter().map(|id| switches.contains(id)).collect();
    let mut kept = keep.iter();
    flags.retain(|_| kept.next().copied().unwrap_or(false));
    batch.retain(&keep);
}

/// Forests replayed on the rows that votes are chosen on.
pub(crate) struct ForestsReplay<'a> {
    pub(crate) replays: &'a Replays<'a>,
    pub(crate) forests: Vec<&'a Forest>,
}

impl VoteReplay for ForestsReplay<'_> {
    type Error = PipelineError;

    fn sent(&self, part: Part, lanes: &[VoteLane]) -> Result<Vec<Sent>, PipelineError> {
        Ok(self.replays.replay(part, &self.forests, lanes)?.lanes)
    }
}
