//! The tracer: many switches, one stream of rows.

use crate::error::CollectError;
use crate::switch_tracer::{Findings, SwitchTracer};
use crate::waiting::Waiting;
use dropcast_data::{CollectSettings, EventBatch, LabelledBatch, Pause, SwitchSpec, SwitchSpecs};
use dropcast_features::FeatureSet;

/// Virtual LQD at every switch of an input.
///
/// Switches are independent of each other; their rows come out in order of arrival. A row waits
/// until its label and the labels of all rows before it are known. So memory is bounded by the
/// number of packets that arrive while one packet is held, and by
/// [`Tracer::with_max_waiting_rows`].
#[derive(Debug)]
pub struct Tracer {
    specs: SwitchSpecs,
    settings: CollectSettings,
    features: FeatureSet,
    /// In order of their numbers.
    switches: Vec<(u16, SwitchTracer)>,
    waiting: Waiting,
    /// How many columns of the user's own there are.
    own_columns: usize,
    max_waiting_rows: usize,
    /// How long rows are held after their arrival because their packet may still be pushed out.
    hold_ns: Option<u64>,
    findings: Findings,
}

impl Tracer {
    /// Default limit on waiting rows. A row takes 18 bytes, 4 for each feature and 9 for its flow if that is kept, twice that while the columns
    /// grow or are given out, and its packet 16 in the virtual buffer: 0.7 GB with four features.
    pub const DEFAULT_MAX_WAITING_ROWS: usize = 1 << 23;

    /// A tracer for these switches that records these features.
    pub fn new(specs: SwitchSpecs, settings: CollectSettings, features: FeatureSet) -> Self {
        Tracer {
            specs,
            settings,
            waiting: Waiting::new(features.len()),
            own_columns: 0,
            features,
            switches: Vec::new(),
            max_waiting_rows: Self::DEFAULT_MAX_WAITING_ROWS,
            hold_ns: None,
            findings: Findings::default(),
        }
    }

    /// Expects so many columns of the user's own in each batch, and passes them on after the features.
    pub fn with_own(mut self, columns: usize) -> Self {
        self.waiting.add_features(columns);
        self.own_columns = columns;
        self
    }

    /// Expects events that record push-outs at the real switch. Rows are then held for as long as
    /// a full buffer takes to drain through all queues of the slowest port, the last 2^20 of them at
    /// most, because their packets may still be pushed out.
    pub fn with_push_outs(mut self) -> Self {
        let hold_ns =
            |spec: &SwitchSpec| spec.drain_ns().saturating_mul(spec.queues_per_port.into());
        self.hold_ns = self.specs.all().map(hold_ns).max();
        self.waiting.keep_flow_halves();
        self
    }

    /// Expects events that record which packets the real switch dropped: rows record it, too, also while it has
    /// dropped none.
    pub fn with_real_drops(mut self) -> Self {
        self.waiting.keep_drops();
        self
    }

    /// Expects events that record which packets the real switch marked (ECN): rows record it, too.
    pub fn with_ecn_marks(mut self) -> Self {
        self.waiting.keep_marks();
        self
    }

    /// Rows keep of which flows their packets are, for policies that look at flows.
    pub fn with_flows(mut self) -> Self {
        self.waiting.keep_flows();
        self
    }

    /// The pauses of queues so far, in order of their beginning. One that has not ended ends right after
    /// the last event of its switch. At line rate, virtual LQD respects them; observed departures did already.
    pub fn pauses(&self) -> Vec<Pause> {
        let switches = self.switches.iter();
        let open = switches.flat_map(|(id, switch)| switch.open_pauses(*id));
        let mut pauses: Vec<Pause> = self.findings.pauses.iter().copied().chain(open).collect();
        pauses.sort_unstable();
        pauses
    }

    /// Push-outs at the real switch whose packet was not found: no packet of that size and flow
    /// arrived at the queue while rows were held.
    pub fn unmatched_push_outs(&self) -> u64 {
        self.findings.unmatched_push_outs
    }

    /// The first switch with arrivals and no departures, where observed departures drain the queues.
    pub fn undrained(&self) -> Option<u16> {
        let undrained = self.switches.iter().find(|(_, switch)| switch.is_undrained());
        undrained.map(|(id, _)| *id)
    }

    /// Stops with an error when more than `rows` rows wait.
    pub fn with_max_waiting_rows(mut self, rows: usize) -> Self {
        self.max_waiting_rows = rows;
        self
    }

    /// Takes events in time order, one or many, and returns the rows whose labels are now known.
    ///
    /// # Errors
    /// If an event is for an unknown switch or queue, columns of the user's own are missing, or too many
    /// rows wait or queues are paused too often.
    pub fn push(&mut self, batch: &EventBatch) -> Result<LabelledBatch, CollectError> {
        let columns = self.own_columns;
        if batch.own.len() != batch.events.len() * columns {
            return Err(CollectError::OwnColumns { expected: columns });
        }
        self.waiting.make_place(batch.events.len());
        let mut own = batch.own.as_slice();
        for run in batch.events.chunk_by(|a, b| a.switch_id == b.switch_id) {
            let (values, others) = own.split_at(run.len() * columns);
            own = others;
            let switch = self.switch(run[0].switch_id, run[0].time_ns)?;
            self.switches[switch].1.trace(run, values, &mut self.waiting, &mut self.findings)?;
        }
        if let Some(last) = batch.events.last() {
            // A silent switch must not hold up the others' rows.
            for (_, switch) in &mut self.switches {
                switch.advance(last.time_ns, &mut self.waiting);
            }
        }
        let (held_since_ns, most_held) = match self.hold_ns {
            None => (u64::MAX, 0),
            Some(hold_ns) => {
                let now_ns = batch.events.last().map_or(0, |last| last.time_ns);
                (now_ns.saturating_sub(hold_ns), MOST_HELD_ROWS.min(self.max_waiting_rows))
            }
        };
        let rows = self.waiting.take_known(held_since_ns, most_held);
        self.check_waiting()?;
        Ok(rows)
    }

    /// Ends the input: packets still held are transmitted, and the last rows are returned.
    pub fn finish(mut self) -> LabelledBatch {
        for (_, switch) in &self.switches {
            switch.drain(&mut self.waiting);
        }
        self.waiting.take_known(u64::MAX, 0)
    }

    /// The place of a switch in `switches`. It is new if an event at `time_ns` is its first.
    fn switch(&mut self, switch_id: u16, time_ns: u64) -> Result<usize, CollectError> {
        let known = self.switches.binary_search_by_key(&switch_id, |(id, _)| *id);
        if let Err(at) = known {
            let spec = self.specs.get(switch_id).cloned();
            let spec = spec.ok_or(CollectError::UnknownSwitch { time_ns, switch_id })?;
            let tracer = SwitchTracer::new(spec, self.settings, self.features.clone());
            self.switches.insert(at, (switch_id, tracer));
        }
        Ok(known.unwrap_or_else(|at| at))
    }

    /// Rows that wait for their label.
    pub fn waiting_rows(&self) -> usize {
        self.waiting.len()
    }

    fn check_waiting(&self) -> Result<(), CollectError> {
        let rows = self.waiting.len();
        match self.waiting.first() {
            Some((row, first)) if rows > self.max_waiting_rows => {
                Err(CollectError::TooManyWaiting {
                    limit: self.max_waiting_rows,
                    row,
                    switch_id: first.switch_id,
                    port: first.port,
                    queue: first.queue,
                    time_ns: first.time_ns,
                    departures: self.settings.departures,
                })
            }
            _ => Ok(()),
        }
    }
}

/// Rows that are held for push-outs, at most: less than 100 MB.
const MOST_HELD_ROWS: usize = 1 << 20;

/// Traces a whole input: batches of events in, batches of rows out.
///
/// Ends after the first error.
pub fn trace<E: From<CollectError>>(
    tracer: Tracer,
    events: impl IntoIterator<Item = Result<EventBatch, E>>,
) -> impl Iterator<Item = Result<LabelledBatch, E>> {
    let mut tracer = Some(tracer);
    let mut events = events.into_iter();
    std::iter::from_fn(move || {
        let mut running = tracer.take()?;
        match events.next() {
            None => Some(Ok(running.finish())),
            Some(batch) => {
                let rows = batch.and_then(|batch| Ok(running.push(&batch)?));
                if rows.is_ok() {
                    tracer = Some(running);
                }
                Some(rows)
            }
        }
    })
}
