//! The labelled trace of a run, in memory: virtual LQD beside the policy that runs.

use super::{NamedPolicy, Prepared};
use dropcast_collect::{CollectError, Tracer};
use dropcast_data::{CollectSettings, Departures, EventBatch, TraceMeta};
use dropcast_fabric::PacketEvents;
use dropcast_features::FeatureSet;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::oracle_file::refuse_own;
use dropcast_pipeline::traces::LabelledTrace;

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
        refuse_own(features).map_err(|why| PipelineError::unfit(name, why))?;
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
        let tool = concat!("dropcast ", env!("CARGO_PKG_VERSION"));
        let mut meta = TraceMeta::new(tool, specs, features.names());
        meta.collect = Some(collect);
        LabelledTrace::in_memory(name, meta, batches)
    }
}
