//! A model's predictions replayed: the arrivals of labelled traces through every policy.

use super::replay_section::{common_dt_alpha, common_slack_bytes, totals};
use super::source::TraceSource;
use super::value::{ReplaySection, SwitchSection};
use super::verdict::{ModelRows, ReplayedSwitches};
use dropcast_data::LabelledBatch;
use dropcast_forest::ForestScorer;
use dropcast_pipeline::ReportError;
use dropcast_replay::{Arrival, Replay, ReplayOptions, Replayed};
use dropcast_train::TrainedModel;

/// Replays a model's predictions in one pass over traces. As much memory as the buffers hold
/// packets.
pub(super) struct ModelReplay<'m> {
    model: &'m TrainedModel,
    scorer: ForestScorer,
    /// Traces begun.
    traces: usize,
    trace: Option<OpenTrace>,
    omitted: Option<String>,
    replayed: Vec<(SwitchSection, Replayed)>,
}

/// The trace that rows are read from.
struct OpenTrace {
    source: TraceSource,
    /// By feature of the model: its column in the batches.
    columns: Vec<usize>,
    /// None once it is known that nothing is replayed.
    replay: Option<Replay>,
    rows: u64,
}

impl<'m> ModelReplay<'m> {
    /// A replay of `model`'s predictions at its own vote threshold.
    pub(super) fn new(model: &'m TrainedModel) -> Self {
        ModelReplay {
            model,
            scorer: ForestScorer::new(&model.forest),
            traces: 0,
            trace: None,
            omitted: None,
            replayed: Vec::new(),
        }
    }

    /// The batches that follow belong to this trace. Its switches begin with empty buffers.
    ///
    /// # Errors
    /// If the trace lacks a feature of the model.
    pub(super) fn begin_trace(&mut self, source: TraceSource) -> Result<(), ReportError> {
        self.end_trace();
        let columns = source.places_of(&self.model.features.names())?;
        self.omitted = self.omitted.take().or_else(|| source.why_not_replayed());
        let specs = source.meta.switches.clone().filter(|_| self.omitted.is_none());
        let options = ReplayOptions::for_trace(&source.meta);
        let replay = specs.map(|specs| Replay::new(specs, options).pausing(&source.meta.pauses));
        self.traces += 1;
        self.trace = Some(OpenTrace { source, columns, replay, rows: 0 });
        Ok(())
    }

    /// Replays nothing, for this reason (for example, the rows are a sample).
    pub(super) fn omit(&mut self, reason: impl Into<String>) {
        self.omitted = self.omitted.take().or(Some(reason.into()));
        if let Some(trace) = &mut self.trace {
            trace.replay = None;
        }
    }

    /// The next rows, in order of arrival, and whether each is counted; the others only take room
    /// in the buffers. Returns what it predicts and drops of them, nothing if nothing is replayed.
    ///
    /// # Errors
    /// If no trace was begun, the batch's columns do not fit together, or a row cannot be
    /// replayed.
    pub(super) fn add(
        &mut self,
        batch: &LabelledBatch,
        counted: &[bool],
    ) -> Result<ModelRows, ReportError> {
        let trace = self.trace.as_mut().ok_or(ReportError::NoTrace)?;
        trace.source.check(batch)?;
        let (Some(replay), Some(arrivals)) = (&mut trace.replay, &batch.arrivals) else {
            if trace.replay.is_some() {
                let name = &trace.source.name;
                let reason =
                    format!("trace {name} does not say when and where its packets arrived");
                self.omit(reason);
            }
            return Ok(ModelRows::default());
        };
        let columns: Vec<&[u32]> =
            trace.columns.iter().map(|&column| batch.features[column].as_slice()).collect();
        let scores = self.scorer.score_columns(&columns);
        let above = |&score: &u32| score > self.model.forest.vote_threshold;
        let predicted: Vec<bool> = scores.iter().map(above).collect();
        let mut dropped = [(); 3].map(|()| Vec::with_capacity(predicted.len()));
        for (row, &predicted) in predicted.iter().enumerate() {
            let known = Arrival::of(arrivals, row, batch.drop[row]);
            let arrival = Arrival { predicted, counted: counted[row], ..known };
            let by = replay.arrive(&arrival).map_err(|source| {
                let row = trace.rows + row as u64;
                ReportError::Replay { trace: trace.source.name.clone(), row, source }
            })?;
            dropped[0].push(by.by_own);
            dropped[1].push(by.by_credence);
            dropped[2].push(by.by_followed);
        }
        trace.rows += batch.len() as u64;
        let [by_own, by_credence, by_followed] = dropped;
        Ok(ModelRows { predicted, by_own, by_credence, by_followed })
    }

    /// The trace has no more rows: drains its buffers.
    pub(super) fn end_trace(&mut self) {
        let Some(OpenTrace { source, replay: Some(replay), .. }) = self.trace.take() else {
            return;
        };
        let collect = source.meta.collect.unwrap_or_default();
        for (switch_id, replayed) in replay.finish() {
            let section = SwitchSection {
                trace: self.traces - 1,
                switch_id,
                ports: replayed.ports,
                dynamic_thresholds_alpha: replayed.dt_alpha.clone(),
                slack_bytes: replayed.slack_bytes,
                victim: collect.victim,
                strict_fit: collect.strict_fit,
                results: totals([&replayed].into_iter()),
            };
            self.replayed.push((section, replayed));
        }
    }

    /// The results, and those by trace and switch.
    ///
    /// # Errors
    /// Why nothing was replayed.
    pub(super) fn finish(mut self) -> Result<(ReplaySection, ReplayedSwitches), String> {
        self.end_trace();
        if let Some(reason) = self.omitted {
            return Err(reason);
        }
        if self.replayed.is_empty() {
            return Err("there are no arrivals".to_owned());
        }
        let section = ReplaySection {
            time_model: "continuous".to_owned(),
            dynamic_thresholds_alpha: common_dt_alpha(
                self.replayed.iter().map(|(_, replayed)| replayed),
            ),
            slack_bytes: common_slack_bytes(self.replayed.iter().map(|(_, replayed)| replayed)),
            total: totals(self.replayed.iter().map(|(_, replayed)| replayed)),
            switches: self.replayed.iter().map(|(section, _)| section.clone()).collect(),
        };
        let by_switch = self.replayed.into_iter();
        let by_switch = by_switch
            .map(|(section, replayed)| ((section.trace, section.switch_id), replayed))
            .collect();
        Ok((section, by_switch))
    }
}
