//! Replays many forests and vote thresholds in one pass over the arrivals, to get `eta` or
//! Credence's result with each.

use crate::arrival::{Arrival, ReplayError, is_counted};
use crate::replay::ReplayOptions;
use dropcast_data::{
    ArrivalColumns, LabelledBatch, Pause, PauseSchedule, RowOrder, SwitchSpec, SwitchSpecs,
    TraceMeta,
};
use dropcast_forest::{Forest, ForestScorer};
use dropcast_switch::LineRate;
use dropcast_train::{Sent, Threads, VoteLane};
use lanes_sent::{BaselinesSent, LanesSent};
use pending::{Arrived, PendingRows, ReadyRows};
use relevance::{Met, Relevance};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use switch_lanes::SwitchLanes;

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

/// Replays of one trace. Memory: the packets in the lanes' buffers, the forests' scores of one batch, and
/// up to a million rows of which it is not known yet whether they matter.
pub struct ForestReplay {
    forests: Vec<ScoredForest>,
    specs: SwitchSpecs,
    options: ReplayOptions,
    pauses: Vec<Pause>,
    threads: Threads,
    /// The lowest threshold of the lanes of each forest.
    lowest: Vec<u32>,
    rows: u64,
    relevance: BTreeMap<u16, Relevance>,
    pending: PendingRows,
    /// What was transmitted of the counted rows that were not replayed.
    unreplayed: Sent,
    /// Packets so far and the time of the last one, by switch.
    arrived: BTreeMap<u16, (u64, u64)>,
    /// Lane `i` is in group `i` modulo their number.
    groups: Vec<LaneGroup>,
}

/// Lanes that one thread replays.
struct LaneGroup {
    lanes: Vec<VoteLane>,
    has_baselines: bool,
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
            has_baselines: false,
            switches: BTreeMap::new(),
        });
        let lowest = |forest: usize| {
            let lanes = lanes.iter().filter(|lane| lane.forest == forest);
            lanes.map(|lane| lane.threshold).min().unwrap_or(u32::MAX)
        };
        Ok(ForestReplay {
            lowest: (0..forests.len()).map(lowest).collect(),
            pending: PendingRows::new(forests.len()),
            relevance: BTreeMap::new(),
            unreplayed: Sent::default(),
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

    /// Also replays policies without predictions.
    #[must_use]
    pub fn with_baselines(mut self) -> Self {
        self.groups[0].has_baselines = true;
        self
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
        let first = self.rows;
        self.rows += batch.len() as u64;
        let asks = counted.contains(&true) || self.relevance.values().any(Relevance::holds_counted);
        let scores = if asks {
            self.threads.map(self.forests.iter().collect(), |forest| forest.scores(batch))
        } else {
            // No prediction matters.
            vec![vec![0; batch.len()]; self.forests.len()]
        };
        let replayed = self.find_relevant(&packets, &scores, first);
        self.pending.add(packets, scores);
        for (switch_id, first, last) in replayed {
            self.pending.replay(switch_id, first, last);
        }
        let now_ns = columns.time_ns.last().copied().unwrap_or(0);
        let open = self.relevance.values().filter_map(|of| of.open_row(now_ns)).min();
        let mut end = open.unwrap_or(self.rows);
        if (self.rows - end) as usize > MOST_PENDING {
            let switches: Vec<u16> = self.relevance.keys().copied().collect();
            for switch_id in switches {
                self.pending.replay(switch_id, end, self.rows - 1);
            }
            self.relevance.values_mut().for_each(|of| of.settle(self.rows));
            end = self.rows;
        }
        self.replay_before(end);
        Ok(())
    }

    /// The rows that must be replayed: switch, first and last row.
    fn find_relevant(
        &mut self,
        packets: &[Arrived],
        scores: &[Vec<u32>],
        first: u64,
    ) -> Vec<(u16, u64, u64)> {
        let ForestReplay { specs, relevance, pauses, lowest, .. } = self;
        let mut found: Vec<(u16, u64, u64)> = Vec::new();
        for (at, &Arrived { packet, switch_id, time_ns }) in packets.iter().enumerate() {
            let Some(spec) = specs.get(switch_id) else { continue };
            let of = relevance
                .entry(switch_id)
                .or_insert_with(|| Relevance::new(spec, !pauses.is_empty()));
            let port = packet.queue / usize::from(spec.queues_per_port);
            let mut scores = scores.iter().zip(&*lowest);
            let met = Met {
                row: first + at as u64,
                time_ns,
                port,
                size_bytes: packet.size_bytes,
                is_counted: is_counted(packet.id),
                is_predicted: scores.any(|(scores, lowest)| scores[at] > *lowest),
            };
            let from = of.see(&met);
            found.extend(from.map(|from| (switch_id, from, met.row)));
        }
        found
    }

    /// Replays what is to be replayed of the rows before `end`.
    fn replay_before(&mut self, end: u64) {
        let (ready, sent) = self.pending.take(end);
        self.unreplayed.add(sent);
        let new_switch = |switch_id: u16, spec: &SwitchSpec, lanes: &[VoteLane], has_baselines| {
            let schedule = PauseSchedule::new(&self.pauses, switch_id, spec);
            let drain = LineRate::new(spec).pausing(schedule);
            let policies = lanes.iter().map(|lane| lane.policy);
            SwitchLanes::new(spec, &self.options, &drain, policies, has_baselines)
        };
        let (specs, lowest) = (&self.specs, &self.lowest);
        self.threads.map(self.groups.iter_mut().collect(), |group: &mut LaneGroup| {
            group.arrive(&ready, lowest, specs, new_switch);
        });
    }

    /// Drains every buffer.
    pub fn finish(mut self) -> LanesSent {
        self.replay_before(self.rows);
        let groups = self.threads.map(self.groups, LaneGroup::finish);
        let lanes: usize = groups.iter().map(|group| group.lanes.len()).sum();
        let of_lane = |lane: usize| groups[lane % groups.len()].lanes[lane / groups.len()];
        let lanes = (0..lanes).map(of_lane).collect();
        let mut sent = LanesSent { lanes, ..groups[0].clone() };
        sent.add_to_all(self.unreplayed);
        sent
    }

    /// Checks every row; returns the packets without predictions.
    fn check(
        &mut self,
        batch: &LabelledBatch,
        columns: &ArrivalColumns,
        counted: &[bool],
    ) -> Result<Vec<Arrived>, ForestReplayError> {
        let mut packets = Vec::with_capacity(batch.len());
        // Most rows are of the same switch as the one before.
        let mut of: Option<(u16, (u64, u64))> = None;
        for (row, &counted) in counted.iter().enumerate() {
            let arrival = Arrival { counted, ..Arrival::of(columns, row, batch.drop[row]) };
            let Arrival { switch_id, time_ns, .. } = arrival;
            let (number, last_ns) = match of {
                Some((same, known)) if same == switch_id => known,
                before => {
                    self.arrived.extend(before);
                    self.arrived.get(&switch_id).copied().unwrap_or_default()
                }
            };
            let spec = self.specs.get(switch_id).ok_or(ReplayError::UnknownSwitch(switch_id));
            let spec = spec.and_then(|spec| arrival.check(spec, last_ns).map(|()| spec));
            let spec = spec
                .map_err(|source| ForestReplayError::Row { row: self.rows + row as u64, source })?;
            let packet = arrival.packet(spec, number);
            packets.push(Arrived { packet, switch_id, time_ns });
            of = Some((switch_id, (number + 1, time_ns)));
        }
        self.arrived.extend(of);
        Ok(packets)
    }
}

impl LaneGroup {
    fn arrive(
        &mut self,
        rows: &ReadyRows,
        lowest: &[u32],
        specs: &SwitchSpecs,
        new_switch: impl Fn(u16, &SwitchSpec, &[VoteLane], bool) -> SwitchLanes,
    ) {
        let LaneGroup { lanes, has_baselines, switches } = self;
        let ReadyRows { packets, scores } = rows;
        for (row, Arrived { packet, switch_id, time_ns }) in packets.iter().enumerate() {
            let Some(spec) = specs.get(*switch_id) else { continue };
            let switch = switches
                .entry(*switch_id)
                .or_insert_with(|| new_switch(*switch_id, spec, lanes, *has_baselines));
            let is_predicted =
                scores.iter().zip(lowest).any(|(scores, lowest)| scores[row] > *lowest);
            switch.arrive(packet, *time_ns, is_predicted, |lane| {
                let VoteLane { forest, threshold, .. } = lanes[lane];
                scores[forest][row] > threshold
            });
        }
    }

    fn finish(self) -> LanesSent {
        let mut sum = LanesSent {
            lqd: Sent::default(),
            baselines: self.has_baselines.then(BaselinesSent::default),
            lanes: vec![Sent::default(); self.lanes.len()],
        };
        for switch in self.switches.into_values() {
            sum.add(&switch.finish());
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

/// Rows are replayed, whether they matter or not, if so many wait.
const MOST_PENDING: usize = 1 << 20;

pub(crate) mod lanes_sent;
mod pending;
mod relevance;
mod switch_lanes;
#[cfg(test)]
mod tests;
