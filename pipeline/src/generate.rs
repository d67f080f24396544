//! Events of a workload, written to a file.

use crate::PipelineError;
use crate::progress::Progress;
use dropcast_data::{EventBatch, EventWriter, SwitchSpecs};
use dropcast_simulate::{FabricWorkload, LeafWorkload};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What was generated.
#[derive(Debug, Serialize)]
pub struct Generated {
    /// The event file.
    pub events: PathBuf,
    /// Its arrivals.
    pub rows: u64,
}

/// Writes the arrivals of a leaf switch to an event file.
///
/// # Errors
/// If a setting of the workload is wrong, or the file cannot be written.
pub fn generate_leaf(
    workload: &LeafWorkload,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Generated, PipelineError> {
    let specs = SwitchSpecs::Same(workload.switch_spec()?);
    write(&specs, workload.arrivals()?, path, progress)
}

/// Writes the arrivals of all switches of a fabric to an event file.
///
/// # Errors
/// If a setting of the workload is wrong, or the file cannot be written.
pub fn generate_fabric(
    workload: &FabricWorkload,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Generated, PipelineError> {
    write(&workload.switch_specs()?, workload.arrivals()?, path, progress)
}

fn write(
    specs: &SwitchSpecs,
    arrivals: impl Iterator<Item = EventBatch>,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Generated, PipelineError> {
    progress.begin("simulate");
    let mut writer = EventWriter::create(path, specs)?;
    let mut rows = 0;
    for batch in arrivals {
        progress.advance(batch.events.len());
        rows += batch.events.len() as u64;
        writer.write(&batch)?;
    }
    writer.finish()?;
    progress.end(&format!("{rows} arrivals"));
    Ok(Generated { events: path.to_owned(), rows })
}
