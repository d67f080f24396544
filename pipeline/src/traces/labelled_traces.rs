//! Labelled traces that are open: what training, sweeps and reports read.

use super::kept_rows::keep_rows;
use super::labelled_trace::{LabelledTrace, TraceBatches};
use super::names::names_of;
use crate::PipelineError;
use crate::progress::Progress;
use dropcast_data::{AVERAGE_NS3_TRUNC, DataError, RowOrder, SwitchSpec};
use dropcast_features::FeatureSet;
use dropcast_forest::{SwitchContext, scale_to_buffer};
use dropcast_train::{
    BatchSource, Batches, DataOrigin, RunBatch, RunRows, TrainError, TrainedModel,
};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

/// Labelled traces whose batches have the columns of `features`, in that order. Features in bytes
/// are scaled to one buffer (docs/features.md).
#[derive(Clone, Debug)]
pub struct LabelledTraces {
    traces: Vec<LabelledTrace>,
    features: FeatureSet,
    /// That buffer; none where rows stay as they are.
    buffer_bytes: Option<u32>,
    /// The rows of each trace, as batches are; empty if they are not [kept](LabelledTraces::keep).
    kept: Vec<Arc<Vec<RunBatch>>>,
}

impl LabelledTraces {
    /// Opens trace files; a folder stands for all traces in it.
    ///
    /// # Errors
    /// If one cannot be read, and those of [`LabelledTraces::new`].
    pub fn open(paths: &[PathBuf], features: &FeatureSet) -> Result<Self, PipelineError> {
        LabelledTraces::new(LabelledTrace::open_all(paths, &features.names())?, features)
    }

    /// Traces for the features of a model, scaled to its buffer.
    ///
    /// # Errors
    /// Those of [`LabelledTraces::new`].
    pub fn for_model(
        traces: Vec<LabelledTrace>,
        model: &TrainedModel,
    ) -> Result<Self, PipelineError> {
        Ok(LabelledTraces::new(traces, &model.features)?.scaled_to(model.switch.buffer_bytes))
    }

    /// Trace files for the features of a model, scaled to its buffer.
    ///
    /// # Errors
    /// Those of [`LabelledTraces::open`].
    pub fn open_for(paths: &[PathBuf], model: &TrainedModel) -> Result<Self, PipelineError> {
        LabelledTraces::for_model(LabelledTrace::open_all(paths, &model.features.names())?, model)
    }

    /// Traces with these features, scaled to the largest of their buffers.
    ///
    /// # Errors
    /// If a trace is given twice, the time constants of features differ, or labels and features are not both of flows.
    pub fn new(traces: Vec<LabelledTrace>, features: &FeatureSet) -> Result<Self, PipelineError> {
        let buffers = traces.iter().flat_map(LabelledTrace::specs).map(|spec| spec.buffer_bytes);
        let buffer_bytes = buffers.max();
        let (features, kept) = (features.clone(), Vec::new());
        let traces = LabelledTraces { traces, features, buffer_bytes, kept };
        traces.time_constant_ns()?;
        refuse_repeats(&traces.traces)?;
        traces.traces.iter().try_for_each(|trace| trace.check_flows(&traces.features))?;
        Ok(traces)
    }

    /// The traces.
    pub fn traces(&self) -> &[LabelledTrace] {
        &self.traces
    }

    /// The features, in the order of the columns of batches.
    pub fn features(&self) -> &FeatureSet {
        &self.features
    }

    /// The time constant of the averages and projections among the features; none where there are
    /// none of these, or no trace has it.
    ///
    /// # Errors
    /// If traces differ in it, or in the definition of averages: those are other features
    /// (docs/features.md).
    pub fn time_constant_ns(&self) -> Result<Option<u64>, PipelineError> {
        let features = self.features.features();
        if !features.iter().any(|feature| feature.has_time_constant()) {
            return Ok(None);
        }
        let mut found: Option<(u64, &LabelledTrace)> = None;
        for trace in &self.traces {
            let average = trace.meta.average.as_deref();
            if let Some(average) = average.filter(|&average| average != AVERAGE_NS3_TRUNC) {
                let problem =
                    format!("its moving averages are {average:?}, known is {AVERAGE_NS3_TRUNC:?}");
                return Err(PipelineError::unfit(&trace.name, problem));
            }
            for rtt_ns in trace.specs().map(|spec| spec.base_rtt_ns) {
                match found {
                    Some((other_ns, other)) if other_ns != rtt_ns => {
                        let problem = format!(
                            "its averages and projections have a time constant of {rtt_ns} ns (the \
                             base RTT), those of {} {other_ns} ns; use traces with one base RTT, or \
                             features without a time constant",
                            other.name
                        );
                        return Err(PipelineError::unfit(&trace.name, problem));
                    }
                    _ => found = Some((rtt_ns, trace)),
                }
            }
        }
        Ok(found.map(|(rtt_ns, _)| rtt_ns))
    }

    /// Names the trace in an error that knows only the number of its run.
    pub(crate) fn explain(&self, error: TrainError) -> PipelineError {
        let trace = match &error {
            TrainError::NoTimes { run, .. } | TrainError::NoSwitches { run } => {
                self.traces.iter().find(|trace| trace.origin.run == *run)
            }
            _ => None,
        };
        match trace {
            None => error.into(),
            Some(trace) => DataError::NotInArrivalOrder { file: trace.name.clone() }.into(),
        }
    }

    /// The description of a switch of a run.
    pub fn spec(&self, run: u64, switch: u16) -> Option<&SwitchSpec> {
        let trace = self.traces.iter().find(|trace| trace.origin.run == run)?;
        trace.meta.switches.as_ref()?.get(switch)
    }

    /// The same traces with the columns of other features.
    pub fn with_features(&self, features: FeatureSet) -> Self {
        LabelledTraces { features, kept: Vec::new(), ..self.clone() }
    }

    /// The same traces, scaled to a buffer of this size.
    pub fn scaled_to(self, buffer_bytes: Option<u32>) -> Self {
        LabelledTraces { buffer_bytes, kept: Vec::new(), ..self }
    }

    /// Reads the rows, and keeps them in memory for all later passes, if they take no more than
    /// `most_bytes`.
    ///
    /// # Errors
    /// If they cannot be read, or the work is cancelled.
    pub(crate) fn keep(
        &mut self,
        most_bytes: usize,
        progress: &dyn Progress,
    ) -> Result<(), PipelineError> {
        let rows = self.traces.iter().map(|trace| trace.row_count).sum();
        let kept = keep_rows(self.one_by_one(), rows, most_bytes, progress)?;
        self.kept = kept.unwrap_or_default();
        Ok(())
    }

    /// Each trace alone, on the scale of all.
    pub fn one_by_one(&self) -> impl Iterator<Item = LabelledTraces> {
        self.traces.iter().enumerate().map(|(place, trace)| LabelledTraces {
            traces: vec![trace.clone()],
            features: self.features.clone(),
            buffer_bytes: self.buffer_bytes,
            kept: self.kept.get(place).cloned().into_iter().collect(),
        })
    }

    /// What reports call the traces: what distinguishes them.
    pub fn names(&self) -> Vec<String> {
        let places = self.traces.iter().map(|trace| (Path::new(&trace.name), &*trace.origin.name));
        names_of(&places.collect::<Vec<_>>())
    }

    /// What models record of the traces, in the order of their runs: a model does not depend on the
    /// order in which they are given.
    pub fn origins(&self) -> Vec<DataOrigin> {
        let mut origins: Vec<_> = self.traces.iter().map(|trace| trace.origin.clone()).collect();
        origins.sort_by_key(|origin| origin.run);
        origins
    }

    /// What all switches of all traces have in common, and the buffer that rows are scaled to.
    pub fn switch_context(&self) -> SwitchContext {
        let in_common = in_common(self.traces.iter().flat_map(LabelledTrace::specs));
        SwitchContext { buffer_bytes: self.buffer_bytes, ..in_common }
    }
}

/// What switches have in common.
pub fn in_common<'a>(specs: impl IntoIterator<Item = &'a SwitchSpec>) -> SwitchContext {
    let mut specs = specs.into_iter();
    let Some(first) = specs.next() else { return SwitchContext::default() };
    let mut context = SwitchContext {
        ports: u16::try_from(first.ports()).ok(),
        buffer_bytes: Some(first.buffer_bytes),
        base_rtt_ns: Some(first.base_rtt_ns),
    };
    for spec in specs {
        context.ports = context.ports.filter(|&ports| usize::from(ports) == spec.ports());
        context.buffer_bytes = context.buffer_bytes.filter(|&b| b == spec.buffer_bytes);
        context.base_rtt_ns = context.base_rtt_ns.filter(|&rtt| rtt == spec.base_rtt_ns);
    }
    context
}

/// Rows that are there twice would be counted twice, and would be trained on and tested on.
fn refuse_repeats(traces: &[LabelledTrace]) -> Result<(), PipelineError> {
    for (place, trace) in traces.iter().enumerate() {
        let is_same = |same: &&LabelledTrace| same.origin.run == trace.origin.run;
        if let Some(same) = traces[..place].iter().find(is_same)
            && trace.row_count != Some(0)
        {
            return Err(repeated(&trace.name, trace.meta.order, &same.name));
        }
    }
    Ok(())
}

/// The trace `name` has the rows of another.
pub(crate) fn repeated(
    name: impl fmt::Display,
    order: RowOrder,
    other: impl fmt::Display,
) -> PipelineError {
    let problem = match order {
        RowOrder::Arrival => format!("has the same rows as {other}; give them once"),
        RowOrder::Departure => format!(
            "has as many rows as {other}, with the same labels, and no arrivals to distinguish them; \
             give them once, or all rows in one file"
        ),
    };
    PipelineError::unfit(name, problem)
}

impl BatchSource for LabelledTraces {
    type Error = DataError;

    fn batches(&self) -> Result<Batches<'_, DataError>, DataError> {
        if let Some(kept) = self.kept() {
            return Ok(Box::new(kept.into_iter().cloned().map(Ok)));
        }
        let names = self.features.names();
        Ok(Box::new(self.traces.iter().flat_map(move |trace| -> Batches<'_, DataError> {
            match trace.read(&names) {
                Ok(batches) => Box::new(ScaledBatches { all: self, trace, batches }),
                Err(error) => Box::new(std::iter::once(Err(error))),
            }
        })))
    }

    fn lent(&self) -> Option<Vec<RunRows<'_>>> {
        self.kept().map(|kept| kept.into_iter().map(RunRows::from).collect())
    }

    fn kept(&self) -> Option<Vec<&RunBatch>> {
        let kept = self.kept.iter().flat_map(|batches| batches.iter());
        (!self.kept.is_empty()).then(|| kept.collect())
    }
}

/// The batches of one trace; leaves behind what was read.
struct ScaledBatches<'a> {
    all: &'a LabelledTraces,
    trace: &'a LabelledTrace,
    batches: Box<dyn TraceBatches + 'a>,
}

impl Iterator for ScaledBatches<'_> {
    type Item = Result<RunBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(batch) = self.batches.next() else {
            let mut read = self.trace.read.lock().unwrap_or_else(PoisonError::into_inner);
            *read = self.batches.provenance();
            return None;
        };
        Some(batch.map(|mut batch| {
            let LabelledTraces { features, buffer_bytes, .. } = self.all;
            if let (Some(switches), Some(bytes)) = (&self.trace.meta.switches, *buffer_bytes) {
                scale_to_buffer(&mut batch, features.features(), switches, bytes);
            }
            RunBatch { run: self.trace.origin.run, batch }
        }))
    }
}
