//! Replays many forests and vote thresholds in one pass over the arrivals, to get `eta` or
//! Credence's result with each.

use crate::replay::{
    Arrival, Lane, PredictedLane, ReplayError, ReplayOptions, ReplayPolicy, Tally, predicted_drop,
};
use dropcast_data::{ArrivalColumns, LabelledBatch, RowOrder, SwitchSpecs, TraceMeta};
use dropcast_forest::{Forest, ForestScorer};
use dropcast_switch::Packet;
use dropcast_train::{Sent, Threads, VoteLane, VotePolicy};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// Transmitted packets and bytes, over all switches.
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
    /// The rows are not in order of arrival.
    #[error("its rows are not known to be in order of arrival, so they cannot be replayed")]
    Order,
    /// No switch to replay at.
    #[error("it does not describe its switch, so it cannot be replayed")]
    NoSwitch,
    /// Rows without arrivals.
    #[error("it does not say when and where its packets arrived, so it cannot be replayed")]
    NoArrivals,
    /// A forest needs a feature without a column.
    #[error("it has no feature {0}, which a forest needs")]
    MissingFeature(String),
    /// An impossible row.
    #[error("row {row}: {source}")]
    Row {
        /// The row's number in the batch, from 0.
        row: u64,
        /// What is wrong.
        source: ReplayError,
    },
}

/// Replays of one trace. Memory: the packets in the lanes' buffers, and the forests' scores of one
/// batch.
pub struct ForestReplay {
    forests: Vec<ScoredForest>,
    specs: SwitchSpecs,
    options: ReplayOptions,
    threads: Threads,
    rows: u64,
    /// By switch.
    arrived: BTreeMap<u16, Known>,
    /// Policies without predictions: LQD, and the starting states of lanes.
    plain: Vec<PlainLanes>,
    lanes: Vec<(VoteLane, BTreeMap<u16, PredictedLane>)>,
}

/// One policy without predictions at every switch.
struct PlainLanes {
    policy: ReplayPolicy,
    switches: BTreeMap<u16, Lane>,
    /// The state of the row's switch before each row of the batch at which lanes may start.
    before: BTreeMap<usize, Lane>,
}

/// A forest with the column of each of its features.
struct ScoredForest {
    scorer: ForestScorer,
    columns: Vec<usize>,
}

impl ForestReplay {
    /// Replays of a trace with this `meta` and these feature `columns`: LQD, and `lanes`, on up to
    /// `threads` threads.
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
        let mut plain = vec![ReplayPolicy::Lqd];
        for policy in [VotePolicy::Followed, VotePolicy::Credence] {
            if lanes.iter().any(|lane| lane.policy == policy) {
                plain.push(without_predictions(policy));
            }
        }
        Ok(ForestReplay {
            forests: forests.collect::<Result<_, _>>()?,
            specs,
            options: ReplayOptions::of(meta),
            threads: Threads::new(threads),
            rows: 0,
            arrived: BTreeMap::new(),
            plain: plain.into_iter().map(PlainLanes::new).collect(),
            lanes: lanes.iter().map(|lane| (*lane, BTreeMap::new())).collect(),
        })
    }

    /// The next rows, in order of arrival, and whether each counts: the others only occupy the
    /// buffer.
    ///
    /// # Errors
    /// If they have no arrivals, or one does not fit its switch or is out of order.
    pub fn add(
        &mut self,
        batch: &LabelledBatch,
        counted: &[bool],
    ) -> Result<(), ForestReplayError> {
        if batch.is_empty() {
            return Ok(());
        }
        let columns = batch.arrivals.as_ref().ok_or(ForestReplayError::NoArrivals)?;
        let packets = self.check(batch, columns, counted)?;
        let scores = self.threads.map(self.forests.iter().collect(), |forest| forest.scores(batch));
        let (specs, options) = (&self.specs, &self.options);
        self.threads.map(self.plain.iter_mut().collect(), |plain| {
            plain.arrive(&packets, specs, options);
        });
        let plain = &self.plain;
        self.threads.map(self.lanes.iter_mut().collect(), |(lane, switches)| {
            let policy = without_predictions(lane.policy);
            let before = plain.iter().find(|plain| plain.policy == policy).map(|of| &of.before);
            let Some(before) = before else { return };
            replay(&packets, *lane, &scores[lane.forest], switches, before);
        });
        self.rows += batch.len() as u64;
        Ok(())
    }

    /// Drains every buffer.
    pub fn finish(self) -> LanesSent {
        let sum = |tallies: &mut dyn Iterator<Item = Tally>| {
            let mut sum = Sent::default();
            tallies.for_each(|tally| sum.add(tally.sent));
            sum
        };
        let lanes = self.lanes.into_iter();
        let lanes = lanes.map(|(_, of)| sum(&mut of.into_values().map(PredictedLane::finish)));
        let lanes = lanes.collect();
        let lqd = self.plain.into_iter().find(|plain| plain.policy == ReplayPolicy::Lqd);
        let lqd = lqd.into_iter().flat_map(|plain| plain.switches.into_values());
        LanesSent { lqd: sum(&mut lqd.map(Lane::finish)), lanes }
    }

    /// Checks every row; returns the packets without predictions.
    fn check(
        &mut self,
        batch: &LabelledBatch,
        columns: &ArrivalColumns,
        counted: &[bool],
    ) -> Result<Vec<Arrived>, ForestReplayError> {
        let mut packets = Vec::with_capacity(batch.len());
        for (row, &counted) in counted.iter().enumerate() {
            let arrival = Arrival { counted, ..arrival(batch, columns, row) };
            let Arrival { switch_id, time_ns, .. } = arrival;
            let known = self.arrived.entry(switch_id).or_default();
            let spec = self.specs.get(switch_id).ok_or(ReplayError::UnknownSwitch(switch_id));
            let spec = spec.and_then(|spec| arrival.check(spec, known.last_ns).map(|()| spec));
            let spec = spec
                .map_err(|source| ForestReplayError::Row { row: self.rows + row as u64, source })?;
            let packet = arrival.packet(spec, known.packets);
            packets.push(Arrived { packet, switch_id, time_ns, begins: counted && !known.counted });
            *known = Known { packets: known.packets + 1, last_ns: time_ns, counted };
        }
        Ok(packets)
    }
}

/// A switch's arrivals so far.
#[derive(Default)]
struct Known {
    packets: u64,
    /// Time of the last arrival.
    last_ns: u64,
    /// Whether the last arrival counted.
    counted: bool,
}

/// An arrived packet.
struct Arrived {
    packet: Packet,
    switch_id: u16,
    time_ns: u64,
    /// Whether it starts a stretch of packets that count.
    begins: bool,
}

impl PlainLanes {
    fn new(policy: ReplayPolicy) -> Self {
        PlainLanes { policy, switches: BTreeMap::new(), before: BTreeMap::new() }
    }

    fn arrive(&mut self, packets: &[Arrived], specs: &SwitchSpecs, options: &ReplayOptions) {
        self.before.clear();
        for (row, arrived) in packets.iter().enumerate() {
            let Some(spec) = specs.get(arrived.switch_id) else { continue };
            let lane = self.switches.entry(arrived.switch_id);
            let lane = lane.or_insert_with(|| Lane::new(spec, options, self.policy));
            if arrived.begins && self.policy != ReplayPolicy::Lqd {
                self.before.insert(row, lane.clone());
            }
            lane.arrive(&arrived.packet, arrived.time_ns);
        }
    }
}

/// Replays packets in one lane, with predictions from these scores.
fn replay(
    packets: &[Arrived],
    lane: VoteLane,
    scores: &[u32],
    switches: &mut BTreeMap<u16, PredictedLane>,
    before: &BTreeMap<usize, Lane>,
) {
    for (row, (arrived, &score)) in packets.iter().zip(scores).enumerate() {
        let predicted = score > lane.threshold;
        let packet = if predicted { predicted_drop(&arrived.packet) } else { arrived.packet };
        let removed = predicted && lane.policy == VotePolicy::Followed;
        let switch = switches.entry(arrived.switch_id).or_default();
        switch.arrive(&packet, arrived.time_ns, removed, || before.get(&row).cloned());
    }
}

fn arrival(batch: &LabelledBatch, columns: &ArrivalColumns, row: usize) -> Arrival {
    Arrival {
        time_ns: columns.time_ns[row],
        switch_id: columns.switch_id[row],
        port: columns.port[row],
        queue: columns.queue[row],
        size_bytes: columns.size_bytes[row],
        dropped: batch.drop[row],
        predicted: false,
        counted: false,
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

/// The policy equal to `policy` while no drop is predicted.
fn without_predictions(policy: VotePolicy) -> ReplayPolicy {
    match policy {
        VotePolicy::Followed => ReplayPolicy::FollowLqd,
        VotePolicy::Credence => ReplayPolicy::Credence,
    }
}

impl LanesSent {
    /// Adds the totals of the same lanes elsewhere.
    pub fn add(&mut self, more: &LanesSent) {
        self.lqd.add(more.lqd);
        self.lanes.resize(self.lanes.len().max(more.lanes.len()), Sent::default());
        self.lanes.iter_mut().zip(&more.lanes).for_each(|(sum, sent)| sum.add(*sent));
    }

    /// LQD's packets over those of a lane: `eta` if it [follows](VotePolicy::Followed). `None` if
    /// it transmitted nothing or does not exist.
    pub fn lqd_to_lane(&self, lane: usize) -> Option<f64> {
        let sent = self.lanes.get(lane)?.packets;
        (sent > 0).then(|| self.lqd.packets as f64 / sent as f64)
    }
}

#[cfg(test)]
mod tests;
