//! What virtual LQD says of the packets of a run, in memory.

use super::{NamedPolicy, Prepared};
use crate::PipelineError;
use crate::traces::{LabelledTrace, TraceBatches, TraceRows, run_of};
use dropcast_collect::{CollectError, Tracer};
use dropcast_data::{
    CollectSettings, DataError, Departures, EventBatch, InputProvenance, LabelledBatch, TraceMeta,
    sha256,
};
use dropcast_features::FeatureSet;
use dropcast_simulate::PacketEvents;
use dropcast_train::DataOrigin;
use std::sync::Arc;

impl Prepared {
    /// Runs a policy with the seeds of run `run`, with virtual LQD at line rate beside every switch:
    /// the labelled trace of all arrivals, with these features. All of it is held in memory.
    ///
    /// # Errors
    /// If a flow does not fit the fabric.
    pub fn labelled(
        &self,
        policy: &NamedPolicy,
        run: u32,
        features: &FeatureSet,
    ) -> Result<LabelledTrace, PipelineError> {
        let specs = self.fabric(run)?.switch_specs();
        let departures = Departures::LineRate;
        let settings = CollectSettings { departures, ..CollectSettings::default() };
        let mut labelling = Labelling {
            tracer: Tracer::new(specs.clone(), settings, features.clone()),
            batches: Vec::new(),
            failed: None,
        };
        let mut events = PacketEvents::new(|batch| labelling.take(&batch));
        self.run(policy, run, &mut events)?;
        let _ = events.finish();
        let batches = labelling.finish()?;
        let tool = concat!("dropcast ", env!("CARGO_PKG_VERSION"));
        let mut meta = TraceMeta::new(tool, specs, features.names());
        meta.collect = Some(settings);
        let name = format!("run {run} of {}", policy.label);
        let sha256 = hash(&batches);
        let trace = MemoryTrace {
            name: name.clone(),
            sha256: sha256.clone(),
            features: features.names(),
            batches,
        };
        let origin = DataOrigin { name: name.clone(), run: run_of(&sha256), sha256 };
        Ok(LabelledTrace::new(name, origin, meta, Arc::new(trace)))
    }
}

/// Labels packet events as they come.
struct Labelling {
    tracer: Tracer,
    batches: Vec<LabelledBatch>,
    failed: Option<CollectError>,
}

impl Labelling {
    fn take(&mut self, events: &EventBatch) {
        if self.failed.is_some() {
            return;
        }
        match self.tracer.push(events) {
            Ok(rows) => self.keep(rows),
            Err(error) => self.failed = Some(error),
        }
    }

    fn keep(&mut self, rows: LabelledBatch) {
        if !rows.is_empty() {
            self.batches.push(rows);
        }
    }

    fn finish(mut self) -> Result<Vec<LabelledBatch>, CollectError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let rows = self.tracer.finish();
        if !rows.is_empty() {
            self.batches.push(rows);
        }
        Ok(self.batches)
    }
}

/// A labelled trace in memory.
#[derive(Debug)]
struct MemoryTrace {
    name: String,
    sha256: String,
    /// Of the batches' columns.
    features: Vec<String>,
    batches: Vec<LabelledBatch>,
}

/// The hash of the hashes of batches.
fn hash(batches: &[LabelledBatch]) -> String {
    let of_batch = |batch: &LabelledBatch| {
        let mut bytes: Vec<u8> = batch.drop.iter().map(|&drop| drop.into()).collect();
        for column in &batch.features {
            bytes.extend(column.iter().flat_map(|value| value.to_le_bytes()));
        }
        sha256(&bytes)
    };
    let all: String = batches.iter().map(of_batch).collect();
    sha256(all.as_bytes())
}

impl TraceRows for MemoryTrace {
    fn read(&self, features: &[String]) -> Result<Box<dyn TraceBatches + '_>, DataError> {
        let place = |name: &String| {
            self.features.iter().position(|own| own == name).ok_or_else(|| DataError::File {
                file: self.name.clone(),
                problem: format!("has no feature {name}"),
                hint: "label the run with it".to_owned(),
            })
        };
        let columns = features.iter().map(place).collect::<Result<_, _>>()?;
        Ok(Box::new(MemoryBatches { trace: self, columns, next: 0 }))
    }
}

/// One pass over a [`MemoryTrace`].
struct MemoryBatches<'a> {
    trace: &'a MemoryTrace,
    /// Which features, by place.
    columns: Vec<usize>,
    next: usize,
}

impl Iterator for MemoryBatches<'_> {
    type Item = Result<LabelledBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let LabelledBatch { arrivals, features, drop, outcome } =
            self.trace.batches.get(self.next)?;
        self.next += 1;
        Some(Ok(LabelledBatch {
            arrivals: arrivals.clone(),
            features: self.columns.iter().map(|&column| features[column].clone()).collect(),
            drop: drop.clone(),
            outcome: outcome.clone(),
        }))
    }
}

impl TraceBatches for MemoryBatches<'_> {
    fn provenance(&self) -> InputProvenance {
        let events = self.trace.batches.iter().map(|batch| batch.len() as u64).sum();
        InputProvenance {
            name: self.trace.name.clone(),
            sha256: self.trace.sha256.clone(),
            events,
            skipped: Default::default(),
            notes: Default::default(),
        }
    }
}
