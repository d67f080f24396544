//! Events in, a labelled trace out.

use crate::PipelineError;
use crate::progress::Progress;
use crate::settings::TracerSettings;
use crate::traces::LabelledTrace;
use dropcast_collect::Tracer;
use dropcast_data::{
    DataError, Departures, EventBatch, EventKind, EventReader, InputProvenance, LabelledBatch,
    Outcome, SwitchSpecs, TraceMeta, TraceWriter,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where events come from.
pub trait Events: Iterator<Item = Result<EventBatch, DataError>> {
    /// What was read, once the iterator has ended.
    fn provenance(&self) -> InputProvenance;
}

impl Events for EventReader {
    fn provenance(&self) -> InputProvenance {
        EventReader::provenance(self)
    }
}

/// What was labelled.
#[derive(Debug, Default, Serialize)]
pub struct Collected {
    /// The trace.
    pub trace: PathBuf,
    /// Arrivals.
    pub rows: u64,
    /// Of which LQD dropped.
    pub drops: u64,
    /// By pushing them out.
    pub pushed_out: u64,
    /// By not accepting them.
    pub rejected: u64,
    /// Rows of the input that were left out, by reason.
    pub skipped: BTreeMap<String, u64>,
}

/// Labels events of switches described by `specs`, and writes the trace to `path`.
///
/// Up to `max_waiting_rows` rows wait for their label.
///
/// # Errors
/// If an event is wrong, there is nothing to label, or the trace cannot be written.
pub fn collect(
    mut events: impl Events,
    specs: SwitchSpecs,
    settings: &TracerSettings,
    max_waiting_rows: usize,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Collected, PipelineError> {
    progress.begin("collect");
    let tool = concat!("dropcast ", env!("CARGO_PKG_VERSION"));
    let mut meta = TraceMeta::new(tool, specs.clone(), settings.features.names());
    meta.collect = Some(settings.collect());
    let mut writer = TraceWriter::create(path, &meta)?;
    let tracer = Tracer::new(specs, settings.collect(), settings.features.clone())
        .with_max_waiting_rows(max_waiting_rows);
    let mut collected = Collected { trace: path.to_owned(), ..Collected::default() };
    let mut departures = 0;
    let batches = events.by_ref().map(|batch| {
        let batch = batch?;
        departures += count_departures(&batch);
        Ok::<_, PipelineError>(batch)
    });
    for rows in dropcast_collect::trace(tracer, batches) {
        let rows = rows?;
        collected.add(&rows);
        progress.advance(rows.len());
        writer.write(&rows)?;
    }
    let provenance = events.provenance();
    if collected.rows == 0 {
        let problem = "has no arrivals that can be used, so there is nothing to label";
        return Err(PipelineError::unfit(provenance.name, problem));
    }
    if settings.departures == Departures::Observed && departures == 0 {
        let problem = "has no departures, so nothing would drain the queues; set departures to \
                       line-rate";
        return Err(PipelineError::unfit(provenance.name, problem));
    }
    collected.skipped = provenance.skipped.clone();
    writer.set_inputs(vec![provenance]);
    writer.finish()?;
    progress.end(&format!("{} rows, {} drops", collected.rows, collected.drops));
    Ok(collected)
}

/// Labels events of switches described by `specs`. All rows stay in memory; `name` is what errors
/// call the trace.
///
/// # Errors
/// If an event is wrong, or there is nothing to label.
pub fn collect_in_memory(
    name: &str,
    events: impl IntoIterator<Item = EventBatch>,
    specs: SwitchSpecs,
    settings: &TracerSettings,
) -> Result<LabelledTrace, PipelineError> {
    let tool = concat!("dropcast ", env!("CARGO_PKG_VERSION"));
    let mut meta = TraceMeta::new(tool, specs.clone(), settings.features.names());
    meta.collect = Some(settings.collect());
    let tracer = Tracer::new(specs, settings.collect(), settings.features.clone());
    let events = events.into_iter().map(Ok::<_, PipelineError>);
    let mut batches = Vec::new();
    for rows in dropcast_collect::trace(tracer, events) {
        batches.push(rows?);
    }
    if batches.iter().all(LabelledBatch::is_empty) {
        return Err(PipelineError::unfit(name, "has no arrivals, so there is nothing to label"));
    }
    LabelledTrace::in_memory(name, meta, batches)
}

fn count_departures(batch: &EventBatch) -> usize {
    batch.events.iter().filter(|event| event.kind == EventKind::Departure).count()
}

impl Collected {
    fn add(&mut self, rows: &LabelledBatch) {
        self.rows += rows.len() as u64;
        for outcome in rows.outcome.iter().flatten() {
            match outcome {
                Outcome::Departed => {}
                Outcome::PushedOut => self.pushed_out += 1,
                Outcome::Rejected => self.rejected += 1,
            }
        }
        self.drops = self.pushed_out + self.rejected;
    }
}
