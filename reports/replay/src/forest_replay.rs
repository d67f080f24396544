//! Replays many forests and vote thresholds in one pass over the arrivals, to get `eta` or
//! Credence's result with each.

use crate::arrival::{Arrival, ReplayError};
use crate::lane::ReplayOptions;
use crate::rival_switch::Site;
use batch_scores::{BatchScores, KnownScores, ScoredForest};
use counted_alphas::CountedAlphas;
use dropcast_data::{
    ArrivalColumns, LabelledBatch, Pause, RowOrder, SwitchSpec, SwitchSpecs, Threads, TraceMeta,
};
use dropcast_forest::{Forest, Sent, VoteLane, VotePolicy};
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
    /// Whether a lane follows predictions without Algorithm 1.
    follows: bool,
    rows: u64,
    seen: BTreeMap<u16, SeenSwitch>,
    pending: PendingRows,
    /// What was transmitted of the counted rows that were not replayed.
    unreplayed: Sent,
    groups: Vec<LaneGroup>,
    alphas: Option<CountedAlphas>,
    /// Memory for what is found out about a batch.
    marks: Vec<bool>,
    scores: KnownScores,
}

/// A switch, before the lanes.
struct SeenSwitch {
    relevance: Relevance,
    /// The time of the last arrival.
    last_ns: u64,
}

/// Lanes that one thread replays: all lanes of some forests, which are often alike.
struct LaneGroup {
    lanes: Vec<VoteLane>,
    /// Their places among all lanes.
    places: Vec<usize>,
    has_baselines: bool,
    switches: BTreeMap<u16, SwitchLanes>,
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
        let forests: Vec<ScoredForest> =
            forests.collect::<Result<_, _>>().map_err(ForestReplayError::MissingFeature)?;
        let groups = threads.get().min(forests.len()).max(1);
        let groups = (0..groups).map(|group| {
            let of_group = |(_, lane): &(usize, &VoteLane)| lane.forest % groups == group;
            let lanes = lanes.iter().enumerate().filter(of_group);
            let (places, lanes) = lanes.map(|(place, lane)| (place, *lane)).unzip();
            LaneGroup { lanes, places, has_baselines: false, switches: BTreeMap::new() }
        });
        let lowest = |forest: usize| {
            let lanes = lanes.iter().filter(|lane| lane.forest == forest);
            lanes.map(|lane| lane.threshold).min().unwrap_or(u32::MAX)
        };
        Ok(ForestReplay {
            lowest: (0..forests.len()).map(lowest).collect(),
            pending: PendingRows::new(forests.len()),
            forests,
            follows: lanes.iter().any(|lane| lane.policy == VotePolicy::Followed),
            seen: BTreeMap::new(),
            unreplayed: Sent::default(),
            specs,
            options: ReplayOptions::for_trace(meta),
            pauses: meta.pauses.clone(),
            threads: Threads::new(threads),
            rows: 0,
            groups: groups.collect(),
            alphas: None,
            marks: Vec::new(),
            scores: KnownScores::default(),
        })
    }

    /// Also replays policies without predictions.
    #[must_use]
    pub fn with_baselines(mut self) -> Self {
        self.groups[0].has_baselines = true;
        self
    }

    /// Also replays Dynamic Thresholds with these alphas, and with an infinite one. The smaller the least, the more arrivals
    /// have to be replayed.
    ///
    /// # Panics
    /// If one is not a positive number.
    #[must_use]
    pub fn with_alphas(mut self, alphas: &[f64]) -> Self {
        self.alphas = Some(CountedAlphas::new(alphas));
        self
    }

    /// The same; without LQD if there are no lanes of forests.
    #[must_use]
    pub fn with_alphas_alone(mut self, alphas: &[f64]) -> Self {
        self.groups.retain(|group| !group.lanes.is_empty());
        self.with_alphas(alphas)
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
        let first = self.rows;
        self.rows += batch.len() as u64;
        let rows = BatchRows { columns, counted, drop: &batch.drop, first };
        let mut marks = std::mem::take(&mut self.marks);
        marks.clear();
        marks.resize(batch.len(), false);
        let (forests, lowest, known) = (&self.forests, &self.lowest, &mut self.scores);
        let mut scores = BatchScores::new(forests, lowest, &self.threads, batch, known);
        let mut lanes = OpenRows {
            specs: &self.specs,
            has_pauses: !self.pauses.is_empty(),
            follows: self.follows,
            least_alpha: self.alphas.as_ref().and_then(CountedAlphas::least),
            seen: &mut self.seen,
            pending: &mut self.pending,
        };
        lanes.mark(&rows, &mut marks, &mut scores)?;
        let end = lanes.settle(&rows, &mut marks);
        let (mut ready, sent) = self.pending.take(end);
        self.unreplayed.add(sent);
        let before_end = (end.saturating_sub(first) as usize).min(marks.len());
        let of_counted = counted.iter().zip(&columns.size_bytes).zip(&marks[..before_end]);
        for ((&is_counted, &size_bytes), &is_replayed) in of_counted {
            let packets = u64::from(is_counted & !is_replayed);
            self.unreplayed.add(Sent { packets, bytes: packets * u64::from(size_bytes) });
        }
        let replayed = marks[..before_end].iter().enumerate().filter(|(_, mark)| **mark);
        for (row, _) in replayed {
            ready.push(rows.arrived(row, &self.specs), scores.of_row(row));
        }
        for (row, &is_replayed) in marks.iter().enumerate().skip(before_end) {
            let (number, arrived) = (rows.number(row), rows.arrived(row, &self.specs));
            self.pending.add(number, arrived, scores.of_row(row), is_replayed);
        }
        self.marks = marks;
        self.replay(&ready);
        Ok(())
    }

    /// Whether packets that count may still be in the buffers, so that later ones matter.
    pub fn holds_counted(&self) -> bool {
        self.seen.values().any(|site| site.relevance.holds_counted())
    }

    fn replay(&mut self, ready: &ReadyRows) {
        let new_switch = |switch_id: u16, spec: &SwitchSpec, lanes: &[VoteLane], has_baselines| {
            let site = Site { specs: &self.specs, options: &self.options, pauses: &self.pauses };
            let drain = site.drain(switch_id, spec);
            let policies = lanes.iter().map(|lane| lane.policy);
            SwitchLanes::new((switch_id, spec), &self.options, &drain, policies, has_baselines)
        };
        let (specs, lowest) = (&self.specs, &self.lowest);
        let site = Site { specs, options: &self.options, pauses: &self.pauses };
        let alphas = self.alphas.iter_mut().map(Lanes::OfAlphas);
        let lanes = self.groups.iter_mut().map(Lanes::OfForests).chain(alphas).collect();
        self.threads.map(lanes, |lanes| match lanes {
            Lanes::OfForests(group) => group.arrive(ready, lowest, specs, new_switch),
            Lanes::OfAlphas(alphas) => alphas.arrive(ready, &site),
        });
    }

    /// Drains every buffer.
    pub fn finish(mut self) -> LanesSent {
        let (ready, sent) = self.pending.take(self.rows);
        self.unreplayed.add(sent);
        self.replay(&ready);
        let lanes = self.groups.iter().map(|group| group.lanes.len()).sum();
        let places: Vec<Vec<usize>> =
            self.groups.iter().map(|group| group.places.clone()).collect();
        let groups = self.threads.map(self.groups, LaneGroup::finish);
        let first = groups.first().cloned().unwrap_or_default();
        let (all, gains) = (vec![Sent::default(); lanes], vec![Vec::new(); lanes]);
        let mut sent = LanesSent { lanes: all, gains, ..first };
        for (places, group) in places.iter().zip(groups) {
            for (&place, (lane, gains)) in places.iter().zip(group.lanes.iter().zip(group.gains)) {
                (sent.lanes[place], sent.gains[place]) = (*lane, gains);
            }
        }
        sent.alphas = self.alphas.map(CountedAlphas::finish);
        sent.add_to_all(self.unreplayed);
        sent
    }
}

/// What one thread replays.
enum Lanes<'a> {
    OfForests(&'a mut LaneGroup),
    OfAlphas(&'a mut CountedAlphas),
}

/// The rows of a batch, before any is replayed.
struct BatchRows<'a> {
    columns: &'a ArrivalColumns,
    counted: &'a [bool],
    drop: &'a [bool],
    /// The number of the first among all rows.
    first: u64,
}

impl BatchRows<'_> {
    fn number(&self, row: usize) -> u64 {
        self.first + row as u64
    }

    #[inline(always)]
    fn arrival(&self, row: usize) -> Arrival {
        Arrival { counted: self.counted[row], ..Arrival::of(self.columns, row, self.drop[row]) }
    }

    /// A row that has been checked. Packets are numbered over all switches.
    fn arrived(&self, row: usize, specs: &SwitchSpecs) -> Arrived {
        let arrival = self.arrival(row);
        let Arrival { switch_id, time_ns, .. } = arrival;
        let spec = specs.get(switch_id).expect("the row is checked");
        Arrived { packet: arrival.packet(spec, self.number(row)), switch_id, time_ns }
    }
}

/// Where it is found out which rows are replayed.
struct OpenRows<'a> {
    specs: &'a SwitchSpecs,
    has_pauses: bool,
    follows: bool,
    least_alpha: Option<f64>,
    seen: &'a mut BTreeMap<u16, SeenSwitch>,
    pending: &'a mut PendingRows,
}

impl OpenRows<'_> {
    /// Checks every row, and marks those of the batch and the pending ones that are replayed.
    fn mark(
        &mut self,
        rows: &BatchRows<'_>,
        marks: &mut [bool],
        scores: &mut BatchScores<'_>,
    ) -> Result<(), ForestReplayError> {
        let switches = &rows.columns.switch_id;
        let mut row = 0;
        for same in switches.chunk_by(|a, b| a == b) {
            let switch_id = same[0];
            let failed = |row| move |source| ForestReplayError::Row { row, source };
            let spec = self.specs.get(switch_id).ok_or(ReplayError::UnknownSwitch(switch_id));
            let spec = spec.map_err(failed(rows.number(row)))?;
            let site = self.seen.entry(switch_id).or_insert_with(|| SeenSwitch {
                relevance: Relevance::new(spec, self.has_pauses, self.follows, self.least_alpha),
                last_ns: 0,
            });
            for row in row..row + same.len() {
                let arrival = rows.arrival(row);
                arrival.check(spec, site.last_ns).map_err(failed(rows.number(row)))?;
                site.last_ns = arrival.time_ns;
                let met = Met {
                    row: rows.number(row),
                    time_ns: arrival.time_ns,
                    port: arrival.port.into(),
                    size_bytes: arrival.size_bytes,
                    is_counted: arrival.counted,
                };
                let from = site.relevance.see(spec, &met, || scores.is_predicted(row));
                if let Some(from) = from {
                    mark_from(switch_id, from, self.pending, rows, &mut marks[..=row]);
                }
            }
            row += same.len();
        }
        Ok(())
    }

    /// The first row that may have to be replayed after all. Of those before, all that are replayed are marked.
    fn settle(&mut self, rows: &BatchRows<'_>, marks: &mut [bool]) -> u64 {
        let now_ns = rows.columns.time_ns.last().copied().unwrap_or(0);
        let after = rows.number(marks.len());
        let open = self.seen.values().filter_map(|site| site.relevance.open_row(now_ns)).min();
        let end = open.unwrap_or(after);
        if after - end <= MOST_PENDING {
            return end;
        }
        for (&switch_id, site) in &mut *self.seen {
            mark_from(switch_id, end, self.pending, rows, marks);
            site.relevance.settle(after);
        }
        after
    }
}

/// Marks the rows of a switch from row number `from` on: pending ones, and of a batch those that have `marks`.
fn mark_from(
    switch_id: u16,
    from: u64,
    pending: &mut PendingRows,
    rows: &BatchRows<'_>,
    marks: &mut [bool],
) {
    if from < rows.first {
        pending.replay(switch_id, from);
    }
    let begin = from.saturating_sub(rows.first) as usize;
    let switches = rows.columns.switch_id.iter().skip(begin);
    marks.iter_mut().skip(begin).zip(switches).for_each(|(mark, of)| *mark |= *of == switch_id);
}

impl LaneGroup {
    fn arrive(
        &mut self,
        rows: &ReadyRows,
        lowest: &[u32],
        specs: &SwitchSpecs,
        new_switch: impl Fn(u16, &SwitchSpec, &[VoteLane], bool) -> SwitchLanes,
    ) {
        let LaneGroup { lanes, has_baselines, switches, .. } = self;
        let ReadyRows { packets, scores } = rows;
        let mut row = 0;
        for same in packets.chunk_by(|a, b| a.switch_id == b.switch_id) {
            let switch_id = same[0].switch_id;
            let first = row;
            row += same.len();
            let Some(spec) = specs.get(switch_id) else { continue };
            let switch = switches
                .entry(switch_id)
                .or_insert_with(|| new_switch(switch_id, spec, lanes, *has_baselines));
            for (row, Arrived { packet, time_ns, .. }) in (first..).zip(same) {
                let is_predicted =
                    scores.iter().zip(lowest).any(|(scores, lowest)| scores[row] > *lowest);
                switch.arrive(packet, *time_ns, is_predicted, |lane| {
                    let VoteLane { forest, threshold, .. } = lanes[lane];
                    scores[forest][row] > threshold
                });
            }
        }
    }

    fn finish(self) -> LanesSent {
        let mut sum = LanesSent {
            lqd: Sent::default(),
            baselines: self.has_baselines.then(BaselinesSent::default),
            alphas: None,
            lanes: vec![Sent::default(); self.lanes.len()],
            gains: vec![Vec::new(); self.lanes.len()],
        };
        for switch in self.switches.into_values() {
            sum.add(&switch.finish());
        }
        sum
    }
}

/// Rows are replayed, whether they matter or not, if so many wait.
const MOST_PENDING: u64 = 1 << 20;

mod batch_scores;
mod counted_alphas;
mod credence_lanes;
mod lane_state;
pub(crate) mod lanes_sent;
mod pending;
mod relevance;
mod switch_lanes;
#[cfg(test)]
mod tests;
