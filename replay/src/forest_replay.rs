//! Replays many forests and vote thresholds in one pass over the arrivals, to get `eta` or
//! Credence's result with each.

use crate::arrival::{Arrival, ReplayError};
use crate::replay::ReplayOptions;
use dropcast_data::{
    ArrivalColumns, LabelledBatch, Pause, PauseSchedule, RowOrder, SwitchSpec, SwitchSpecs,
    TraceMeta,
};
use dropcast_forest::{Forest, ForestScorer};
use dropcast_switch::{LineRate, Packet};
use dropcast_train::{Sent, Threads, VoteLane, VotePolicy};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use switch_lanes::SwitchLanes;

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
    pauses: Vec<Pause>,
    threads: Threads,
    rows: u64,
    /// Packets so far and the time of the last one, by switch.
    arrived: BTreeMap<u16, (u64, u64)>,
    /// Lane `i` is in group `i` modulo their number.
    groups: Vec<LaneGroup>,
}

/// Lanes that one thread replays.
struct LaneGroup {
    lanes: Vec<VoteLane>,
    switches: BTreeMap<u16, SwitchLanes>,
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
        let groups = (0..threads.get().min(lanes.len()).max(1)).map(|group| LaneGroup {
            lanes: lanes.iter().skip(group).step_by(threads.get()).copied().collect(),
            switches: BTreeMap::new(),
        });
        Ok(ForestReplay {
            forests: forests.collect::<Result<_, _>>()?,
            specs,
            options: ReplayOptions::for_trace(meta),
            pauses: meta.pauses.clone(),
            threads: Threads::new(threads),
            rows: 0,
            arrived: BTreeMap::new(),
            groups: groups.collect(),
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
        let new_switch =
            |switch_id: u16, spec: &SwitchSpec, policies: &mut dyn Iterator<Item = _>| {
                let schedule = PauseSchedule::new(&self.pauses, switch_id, spec);
                let drain = LineRate::new(spec).pausing(schedule);
                SwitchLanes::new(spec, &self.options, &drain, policies)
            };
        let specs = &self.specs;
        self.threads.map(self.groups.iter_mut().collect(), |group| {
            group.arrive(&packets, &scores, specs, new_switch);
        });
        self.rows += batch.len() as u64;
        Ok(())
    }

    /// Drains every buffer.
    pub fn finish(self) -> LanesSent {
        let groups = self.threads.map(self.groups, LaneGroup::finish);
        let lqd = groups[0].lqd;
        let lanes: usize = groups.iter().map(|group| group.lanes.len()).sum();
        let of_lane = |lane: usize| groups[lane % groups.len()].lanes[lane / groups.len()];
        LanesSent { lqd, lanes: (0..lanes).map(of_lane).collect() }
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
            let arrival = Arrival { counted, ..Arrival::of(columns, row, batch.drop[row]) };
            let Arrival { switch_id, time_ns, .. } = arrival;
            let (number, last_ns) = self.arrived.get(&switch_id).copied().unwrap_or_default();
            let spec = self.specs.get(switch_id).ok_or(ReplayError::UnknownSwitch(switch_id));
            let spec = spec.and_then(|spec| arrival.check(spec, last_ns).map(|()| spec));
            let spec = spec
                .map_err(|source| ForestReplayError::Row { row: self.rows + row as u64, source })?;
            let packet = arrival.packet(spec, number);
            packets.push(Arrived { packet, switch_id, time_ns });
            self.arrived.insert(switch_id, (number + 1, time_ns));
        }
        Ok(packets)
    }
}

/// An arrived packet.
struct Arrived {
    packet: Packet,
    switch_id: u16,
    time_ns: u64,
}

impl LaneGroup {
    fn arrive(
        &mut self,
        packets: &[Arrived],
        scores: &[Vec<u32>],
        specs: &SwitchSpecs,
        new_switch: impl Fn(u16, &SwitchSpec, &mut dyn Iterator<Item = VotePolicy>) -> SwitchLanes,
    ) {
        let LaneGroup { lanes, switches } = self;
        for (row, Arrived { packet, switch_id, time_ns }) in packets.iter().enumerate() {
            let Some(spec) = specs.get(*switch_id) else { continue };
            let switch = switches.entry(*switch_id).or_insert_with(|| {
                new_switch(*switch_id, spec, &mut lanes.iter().map(|lane| lane.policy))
            });
            switch.arrive(packet, *time_ns, |lane| {
                let VoteLane { forest, threshold, .. } = lanes[lane];
                scores[forest][row] > threshold
            });
        }
    }

    fn finish(self) -> LanesSent {
        let mut sum =
            LanesSent { lqd: Sent::default(), lanes: vec![Sent::default(); self.lanes.len()] };
        for switch in self.switches.into_values() {
            let (lqd, lanes) = switch.finish();
            sum.add(&LanesSent { lqd, lanes });
        }
        sum
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
    /// Adds the totals of the same lanes elsewhere.
    pub fn add(&mut self, more: &LanesSent) {
        self.lqd.add(more.lqd);
        self.lanes.resize(self.lanes.len().max(more.lanes.len()), Sent::default());
        self.lanes.iter_mut().zip(&more.lanes).for_each(|(sum, sent)| sum.add(*sent));
    }

    /// LQD's packets over those of a lane: `eta` if it follows the predictions. `None` if
    /// it transmitted nothing or does not exist.
    pub fn lqd_to_lane(&self, lane: usize) -> Option<f64> {
        let sent = self.lanes.get(lane)?.packets;
        (sent > 0).then(|| self.lqd.packets as f64 / sent as f64)
    }
}

mod switch_lanes;
#[cfg(test)]
mod tests;
