//! The labelled trace of a run, in memory: virtual LQD beside the policy that runs.

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
    /// Runs a policy and labels what its switches meet. Virtual LQD is served at line rate, as in
    /// Credence, so the rows hold the features that Credence asks its oracle with. They stay in
    /// memory: 18 bytes per arrival at a switch, and 4 for each feature. `name` is what errors and
    /// models call the trace.
    ///
    /// # Errors
    /// If a flow does not fit the fabric, or too many rows wait for their label.
    pub fn label(
        &self,
        policy: &NamedPolicy,
        run: u32,
        features: &FeatureSet,
        name: &str,
    ) -> Result<LabelledTrace, PipelineError> {
        let specs = self.fabric(run)?.switch_specs();
        let collect =
            CollectSettings { departures: Departures::LineRate, ..CollectSettings::default() };
        let mut tracer = Tracer::new(specs.clone(), collect, features.clone());
        let mut batches = Vec::new();
        let mut failed: Option<CollectError> = None;
        let mut events = PacketEvents::new(|batch: EventBatch| {
            if failed.is_none() {
                match tracer.push(&batch) {
                    Ok(rows) => batches.push(rows),
                    Err(error) => failed = Some(error),
                }
            }
        });
        self.run(policy, run, &mut events)?;
        let _ = events.finish();
        failed.map_or(Ok(()), Err)?;
        batches.push(tracer.finish());
        let rows = LabelledRows {
            features: features.names(),
            provenance: provenance(name, &batches),
            batches,
        };
        let InputProvenance { name, sha256, .. } = rows.provenance.clone();
        let origin = DataOrigin { name: name.clone(), run: run_of(&sha256), sha256 };
        let tool = concat!("dropcast ", env!("CARGO_PKG_VERSION"));
        let mut meta = TraceMeta::new(tool, specs, features.names());
        meta.collect = Some(collect);
        Ok(LabelledTrace::new(name, origin, meta, Arc::new(rows)))
    }
}

/// What stands for the file that there is none of.
fn provenance(name: &str, batches: &[LabelledBatch]) -> InputProvenance {
    let mut hashes = String::new();
    for LabelledBatch { features, drop, .. } in batches {
        let values = features.iter().flatten().flat_map(|value| value.to_le_bytes());
        let labels = drop.iter().map(|&drop| u8::from(drop));
        hashes.push_str(&sha256(&values.chain(labels).collect::<Vec<u8>>()));
    }
    InputProvenance {
        name: name.to_owned(),
        sha256: sha256(hashes.as_bytes()),
        events: batches.iter().map(|batch| batch.len() as u64).sum(),
        ..InputProvenance::default()
    }
}

/// The rows of a run.
#[derive(Debug)]
struct LabelledRows {
    features: Vec<String>,
    batches: Vec<LabelledBatch>,
    provenance: InputProvenance,
}

impl TraceRows for LabelledRows {
    fn read(&self, features: &[String]) -> Result<Box<dyn TraceBatches + '_>, DataError> {
        let column = |name: &String| {
            let place = self.features.iter().position(|own| own == name);
            place.ok_or_else(|| DataError::File {
                file: self.provenance.name.clone(),
                problem: format!("there is no column {name:?}"),
                hint: "label the run with this feature".to_owned(),
            })
        };
        let columns = features.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        Ok(Box::new(Pass { rows: self, columns, next: 0 }))
    }
}

/// One pass over the rows.
struct Pass<'a> {
    rows: &'a LabelledRows,
    columns: Vec<usize>,
    next: usize,
}

impl Iterator for Pass<'_> {
    type Item = Result<LabelledBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let LabelledBatch { arrivals, features, drop, outcome } =
            self.rows.batches.get(self.next)?;
        self.next += 1;
        Some(Ok(LabelledBatch {
            arrivals: arrivals.clone(),
            features: self.columns.iter().map(|&column| features[column].clone()).collect(),
            drop: drop.clone(),
            outcome: outcome.clone(),
        }))
    }
}

impl TraceBatches for Pass<'_> {
    fn provenance(&self) -> InputProvenance {
        self.rows.provenance.clone()
    }
}
