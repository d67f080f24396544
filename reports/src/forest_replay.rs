//! Many forests and vote thresholds replayed in one pass over the arrivals: what `eta` or Credence
//! would be with each.

use crate::replay::{Arrival, Lane, ReplayError, ReplayOptions, ReplayPolicy, Sent};
use dropcast_data::{ArrivalColumns, LabelledBatch, RowOrder, SwitchSpecs, TraceMeta};
use dropcast_train::{Forest, ForestScorer};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// What a forest's predictions are replayed through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VotePolicy {
    /// FollowLQD on the arrivals without the predicted drops: the denominator of `eta`
    /// (Credence, Definition 1).
    Followed,
    /// Credence (Algorithm 1) with the predictions.
    Credence,
}

/// One replay: a forest at a vote threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoteLane {
    /// Index of the forest.
    pub forest: usize,
    /// `score > threshold` predicts a drop.
    pub threshold: u32,
    /// What the predictions go through.
    pub policy: VotePolicy,
}

/// What was transmitted, over all switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LanesSent {
    /// By push-out Longest Queue Drop.
    pub lqd: Sent,
    /// In each lane.
    pub lanes: Vec<Sent>,
}

/// Why a trace cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForestReplayError {
    /// The rows are in another order than that of arrival.
    #[error("its rows are not known to be in order of arrival, so they cannot be replayed")]
    Order,
    /// No switch to replay at.
    #[error("it does not describe its switch, so it cannot be replayed")]
    NoSwitch,
    /// Rows without arrivals.
    #[error("it does not say when and where its packets arrived, so it cannot be replayed")]
    NoArrivals,
    /// A forest asks for a feature that there is no column of.
    #[error("it has no feature {0}, which a forest needs")]
    MissingFeature(String),
    /// A row that cannot be.
    #[error("row {row}: {source}")]
    Row {
        /// The row among those replayed, from 0.
        row: u64,
        /// What is wrong.
        source: ReplayError,
    },
}

/// Replays of one trace. As much memory as the lanes' buffers hold packets.
pub struct ForestReplay {
    forests: Vec<ScoredForest>,
    specs: SwitchSpecs,
    options: ReplayOptions,
    threads: usize,
    rows: u64,
    /// By switch, how many packets arrived, and when the last one did.
    arrived: BTreeMap<u16, (u64, u64)>,
    lqd: SwitchLanes,
    lanes: Vec<(VoteLane, SwitchLanes)>,
}

/// A forest with the column of each of its features.
struct ScoredForest {
    scorer: ForestScorer,
    columns: Vec<usize>,
}

/// One policy at every switch.
type SwitchLanes = BTreeMap<u16, Lane>;

impl ForestReplay {
    /// Replays of a trace that says `meta` of itself and whose batches have these feature
    /// `columns`: LQD, and `lanes`, on up to `threads` threads.
    ///
    /// # Errors
    /// If the trace cannot be replayed or lacks a feature.
    pub fn new(
        meta: &TraceMeta,
        columns: &[String],
        forests: &[&Forest],
        lanes: &[VoteLane],
        threads: NonZeroUsize,
    ) -> Result<Self, ForestReplayError> {
        if meta.order == RowOrder::Departure {
            return Err(ForestReplayError::Order);
        }
        let specs = meta.switches.clone().ok_or(ForestReplayError::NoSwitch)?;
        let forests = forests.iter().map(|forest| ScoredForest::new(forest, columns));
        Ok(ForestReplay {
            forests: forests.collect::<Result<_, _>>()?,
            specs,
            options: ReplayOptions::of(meta),
            threads: threads.get(),
            rows: 0,
            arrived: BTreeMap::new(),
            lqd: SwitchLanes::new(),
            lanes: lanes.iter().map(|lane| (*lane, SwitchLanes::new())).collect(),
        })
    }

    /// The next rows, in order of arrival.
    ///
    /// # Errors
    /// If they have no arrivals, or one does not fit its switch or comes before another.
    pub fn add(&mut self, batch: &LabelledBatch) -> Result<(), ForestReplayError> {
        if batch.is_empty() {
            return Ok(());
        }
        let columns = batch.arrivals.as_ref().ok_or(ForestReplayError::NoArrivals)?;
        let numbers = self.check(batch, columns)?;
        let scores = on_threads(&mut self.forests, self.threads, |forest| forest.scores(batch));
        let (specs, options) = (&self.specs, &self.options);
        let mut work: Vec<LaneWork<'_>> = vec![(None, &mut self.lqd)];
        work.extend(self.lanes.iter_mut().map(|(lane, switches)| (Some(*lane), switches)));
        on_threads(&mut work, self.threads, |(lane, switches)| {
            let scores = lane.map(|lane| (lane, scores[lane.forest].as_slice()));
            replay(batch, columns, &numbers, scores, switches, (specs, options));
        });
        self.rows += batch.len() as u64;
        Ok(())
    }

    /// Drains every buffer.
    pub fn finish(self) -> LanesSent {
        let sent = |switches: SwitchLanes| {
            let mut sum = Sent::default();
            switches.into_values().for_each(|lane| sum.add(lane.finish().sent));
            sum
        };
        let lanes = self.lanes.into_iter().map(|(_, switches)| sent(switches)).collect();
        LanesSent { lqd: sent(self.lqd), lanes }
    }

    /// Checks every row; the number of each packet at its switch.
    fn check(
        &mut self,
        batch: &LabelledBatch,
        columns: &ArrivalColumns,
    ) -> Result<Vec<u64>, ForestReplayError> {
        let mut numbers = Vec::with_capacity(batch.len());
        for row in 0..batch.len() {
            let arrival = arrival(batch, columns, row, false);
            let switch_id = arrival.switch_id;
            let (number, before_ns) = self.arrived.entry(switch_id).or_default();
            let spec = self.specs.get(switch_id).ok_or(ReplayError::UnknownSwitch(switch_id));
            spec.and_then(|spec| arrival.check(spec, *before_ns))
                .map_err(|source| ForestReplayError::Row { row: self.rows + row as u64, source })?;
            numbers.push(*number);
            *number += 1;
            *before_ns = arrival.time_ns;
        }
        Ok(numbers)
    }
}

/// A lane, none for LQD, and its switches.
type LaneWork<'a> = (Option<VoteLane>, &'a mut SwitchLanes);

/// Replays checked rows in one lane.
fn replay(
    batch: &LabelledBatch,
    columns: &ArrivalColumns,
    numbers: &[u64],
    scored: Option<(VoteLane, &[u32])>,
    switches: &mut SwitchLanes,
    (specs, options): (&SwitchSpecs, &ReplayOptions),
) {
    let policy = match scored.map(|(lane, _)| lane.policy) {
        None => ReplayPolicy::Lqd,
        Some(VotePolicy::Followed) => ReplayPolicy::FollowLqd,
        Some(VotePolicy::Credence) => ReplayPolicy::Credence,
    };
    for (row, &number) in numbers.iter().enumerate() {
        let predicted = scored.is_some_and(|(lane, scores)| scores[row] > lane.threshold);
        if predicted && policy == ReplayPolicy::FollowLqd {
            continue;
        }
        let arrival = arrival(batch, columns, row, predicted);
        let switch_id = arrival.switch_id;
        let Some(spec) = specs.get(switch_id) else { continue };
        let lane = switches.entry(switch_id);
        let lane = lane.or_insert_with(|| Lane::new(spec, options, policy));
        lane.arrive(&arrival.packet(spec, number), arrival.time_ns);
    }
}

fn arrival(
    batch: &LabelledBatch,
    columns: &ArrivalColumns,
    row: usize,
    predicted: bool,
) -> Arrival {
    Arrival {
        time_ns: columns.time_ns[row],
        switch_id: columns.switch_id[row],
        port: columns.port[row],
        queue: columns.queue[row],
        size_bytes: columns.size_bytes[row],
        dropped: batch.drop[row],
        predicted,
    }
}

impl ScoredForest {
    fn new(forest: &Forest, columns: &[String]) -> Result<Self, ForestReplayError> {
        let column = |feature: &String| {
            let place = columns.iter().position(|column| column == feature);
            place.ok_or_else(|| ForestReplayError::MissingFeature(feature.clone()))
        };
        let columns = forest.features.iter().map(column).collect::<Result<_, _>>()?;
        Ok(ScoredForest { scorer: ForestScorer::new(forest), columns })
    }

    fn scores(&self, batch: &LabelledBatch) -> Vec<u32> {
        let columns: Vec<&[u32]> =
            self.columns.iter().map(|&column| batch.features[column].as_slice()).collect();
        self.scorer.score_columns(&columns)
    }
}

impl LanesSent {
    /// Adds what was transmitted in the same lanes elsewhere.
    pub fn add(&mut self, more: &LanesSent) {
        self.lqd.add(more.lqd);
        self.lanes.resize(self.lanes.len().max(more.lanes.len()), Sent::default());
        self.lanes.iter_mut().zip(&more.lanes).for_each(|(sum, sent)| sum.add(*sent));
    }

    /// LQD's packets over those of a lane: `eta` if it [follows](VotePolicy::Followed). `None`
    /// where it transmitted nothing, or there is no such lane.
    pub fn lqd_to_lane(&self, lane: usize) -> Option<f64> {
        let sent = self.lanes.get(lane)?.packets;
        (sent > 0).then(|| self.lqd.packets as f64 / sent as f64)
    }
}

/// Does `work` on each item, an equal share of them on each of `threads` threads; the results in
/// order.
fn on_threads<T: Send, R: Send>(
    items: &mut [T],
    threads: usize,
    work: impl Fn(&mut T) -> R + Sync,
) -> Vec<R> {
    let share = items.len().div_ceil(threads).max(1);
    if items.len() <= share {
        return items.iter_mut().map(work).collect();
    }
    let work = &work;
    std::thread::scope(|scope| {
        let start = |items: &'_ mut [T]| -> Vec<R> { items.iter_mut().map(work).collect() };
        let started: Vec<_> =
            items.chunks_mut(share).map(|items| scope.spawn(move || start(items))).collect();
        let finish = |thread: std::thread::ScopedJoinHandle<'_, Vec<R>>| match thread.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        started.into_iter().flat_map(finish).collect()
    })
}

#[cfg(test)]
mod tests;
