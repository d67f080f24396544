//! Forests replayed on the rows of one part of labelled traces.

use crate::PipelineError;
use crate::traces::{LabelledTrace, LabelledTraces};
use dropcast_data::{Label, LabelledBatch};
use dropcast_forest::{Forest, LaneSent, Sent, VoteLane, VotePolicy};
use dropcast_replay::{AlphasSent, ForestReplay, LanesSent};
use dropcast_train::{Fitted, Part, ReplayRows, Split, VoteReplay, VoteRule, rows_to_replay};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Lanes of one pass at most: each holds the packets of a buffer, or two.
const MOST_LANES: usize = 512;

/// The alphas of Dynamic Thresholds that forests are compared with, beside an infinite one: those of SAI that drop nothing
/// before the buffer is two thirds full. With smaller ones nearly all arrivals would have to be replayed.
const ALPHAS: [f64; 6] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// The alpha with which most is transmitted, `amount` of it, and its place; infinite if none. Of equals the highest: doing
/// nothing if that is as good.
pub fn best_alpha(sent: &AlphasSent, amount: impl Fn(Sent) -> u64) -> Option<usize> {
    let places = (0..sent.by_alpha.len()).map(Some).chain([None]);
    places.max_by_key(|place| amount(sent_with(sent, *place))).flatten()
}

/// The alpha with this place; null if it is infinite.
pub fn alpha(place: Option<usize>) -> Option<f64> {
    place.and_then(|place| ALPHAS.get(place).copied())
}

/// What is transmitted with the alpha with this place.
pub fn sent_with(sent: &AlphasSent, place: Option<usize>) -> Sent {
    place.and_then(|place| sent.by_alpha.get(place).copied()).unwrap_or(sent.complete_sharing)
}

/// Traces whose arrivals are replayed as a split divides them.
pub struct Replays<'a> {
    /// The traces.
    pub traces: &'a LabelledTraces,
    /// How they are divided.
    pub split: &'a Split,
    /// The split's.
    pub seed: u64,
    /// Threads that replay.
    pub threads: NonZeroUsize,
}

impl Replays<'_> {
    /// Whether the rows can be replayed at all.
    pub(crate) fn are_possible(&self) -> bool {
        self.check().is_ok()
    }

    /// Whether labels say which packets are followed.
    pub(crate) fn are_of_flows(&self) -> bool {
        self.traces.traces().iter().any(|trace| trace.label() == Label::Follows)
    }

    /// Refuses, before any work, what cannot be replayed.
    ///
    /// # Errors
    /// If labels are of flows, a trace does not describe its switch or is in order of departure, or the split is random.
    pub fn check(&self) -> Result<(), PipelineError> {
        if self.are_of_flows() {
            let problem = "says which packets are followed: a replay of arrivals, whose senders do not react, does not \
                           tell what that is worth; choose another vote rule";
            let names: Vec<&str> = self.traces.traces().iter().map(|of| of.name.as_str()).collect();
            return Err(PipelineError::unfit(names.join(", "), problem));
        }
        let not_replayable = self.traces.traces().iter().find(|trace| !trace.is_replayable());
        if let Some(LabelledTrace { name, .. }) = not_replayable {
            let problem = "cannot be replayed: it does not describe its switch, or its rows are \
                           not in order of arrival; label events with `dropcast collect`, or \
                           choose another vote rule";
            return Err(PipelineError::unfit(name, problem));
        }
        if self.split.is_random() {
            let problem = "rows split at random are not consecutive arrivals, and can't \
                           be replayed; split by time, run or switch, or choose another vote rule";
            return Err(PipelineError::setting("split", problem));
        }
        Ok(())
    }

    /// What each lane transmits of the rows of `part`, among all that arrives at their switches.
    ///
    /// # Errors
    /// If the rows cannot be read or replayed.
    pub fn replay(
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
            let LanesSent { lqd, lanes, gains, .. } =
                self.pass(&[part], &forests, &lanes, switches, |replay| replay)?;
            all.lqd = lqd;
            all.lanes.extend(lanes);
            all.gains.extend(gains);
        }
        Ok(all)
    }

    /// What Credence transmits with each forest of the rows of `parts`, and its baselines, and Dynamic Thresholds with
    /// alphas of 2 to 64.
    ///
    /// # Errors
    /// If the rows cannot be read or replayed.
    pub fn beside_alphas(
        &self,
        parts: &[Part],
        forests: &[&Forest],
    ) -> Result<LanesSent, PipelineError> {
        let lane = |(forest, of): (usize, &&Forest)| VoteLane {
            forest,
            threshold: of.vote_threshold,
            policy: VotePolicy::Credence,
        };
        let lanes: Vec<VoteLane> = forests.iter().enumerate().map(lane).collect();
        self.pass(parts, forests, &lanes, None, |replay| {
            replay.with_baselines().with_alphas(&ALPHAS)
        })
    }

    /// What Dynamic Thresholds transmit of the rows of `parts` with alphas of 2 to 64.
    ///
    /// # Errors
    /// If the rows cannot be read or replayed.
    pub fn alphas(&self, parts: &[Part]) -> Result<AlphasSent, PipelineError> {
        let alone = |replay: ForestReplay| replay.with_alphas_alone(&ALPHAS);
        Ok(self.pass(parts, &[], &[], None, alone)?.alphas.unwrap_or_default())
    }

    /// The same, and what LQD transmits.
    pub(crate) fn lqd_and_alphas(
        &self,
        parts: &[Part],
    ) -> Result<(Sent, AlphasSent), PipelineError> {
        let sent = self.pass(parts, &[], &[], None, |replay| replay.with_alphas(&ALPHAS))?;
        Ok((sent.lqd, sent.alphas.unwrap_or_default()))
    }

    /// Replays of the rows of `parts`, with more lanes than those of forests.
    fn pass(
        &self,
        parts: &[Part],
        forests: &[&Forest],
        lanes: &[VoteLane],
        switches: Option<&BTreeSet<u16>>,
        with_more: impl Fn(ForestReplay) -> ForestReplay,
    ) -> Result<LanesSent, PipelineError> {
        let mut sum = LanesSent::default();
        for one in self.traces.one_by_one() {
            let trace = &one.traces()[0];
            if self
                .split
                .part_of_run(trace.origin.run)
                .is_some_and(|of_run| !parts.contains(&of_run))
            {
                continue;
            }
            let failed = |source| PipelineError::Replay { trace: trace.name.clone(), source };
            let columns = one.features().names();
            let replay = ForestReplay::new(&trace.meta, &columns, forests, lanes, self.threads);
            let mut replay = with_more(replay.map_err(failed)?);
            let rows = rows_to_replay(&one, columns.len(), self.split, self.seed, parts.to_vec())?;
            for rows in rows {
                let ReplayRows { mut rows, mut are_of_part, goes_on } = rows?;
                if let Some(switches) = switches {
                    keep_switches(&mut rows.to_mut().batch, &mut are_of_part, switches);
                }
                replay.add(&rows.batch, &are_of_part).map_err(failed)?;
                if !goes_on && !replay.holds_counted() {
                    break;
                }
            }
            sum.add(&replay.finish().of_run(trace.origin.run));
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
struct ForestsReplay<'a> {
    replays: &'a Replays<'a>,
    forests: Vec<&'a Forest>,
}

impl VoteReplay for ForestsReplay<'_> {
    type Error = PipelineError;

    fn sent(&self, part: Part, lanes: &[VoteLane]) -> Result<Vec<LaneSent>, PipelineError> {
        Ok(self.replays.replay(part, &self.forests, lanes)?.by_lane())
    }
}

/// Gives forests the vote thresholds that `rule` chooses. If it replays, each pass over a part serves all.
pub(crate) fn choose_votes(
    rule: VoteRule,
    replays: &Replays<'_>,
    fitted: &mut [Fitted],
) -> Result<(), PipelineError> {
    let forests: Vec<Forest> = fitted.iter().map(|fitted| fitted.model.forest.clone()).collect();
    let replay = ForestsReplay { replays, forests: forests.iter().collect() };
    Fitted::choose_votes(fitted, rule, &replay)
}
