//! Events of a workload, in a file or in memory.

use crate::PipelineError;
use crate::files::read_settings;
use crate::progress::{Progress, check};
use dropcast_arrivals::{FabricWorkload, LeafWorkload};
use dropcast_data::{EventBatch, EventWriter, Frame, SwitchSpecs, event_frame};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// What was generated.
#[derive(Debug, Serialize)]
pub struct Generated {
    /// The event file.
    pub events: PathBuf,
    /// Its arrivals.
    pub rows: u64,
}

/// The simulated switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Topology {
    /// One leaf.
    #[default]
    Leaf,
    /// Leaves and spines, with the same flows.
    LeafSpine,
}

/// Settings of a workload that are often varied; those of its file where they are not given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct WorkloadChanges {
    /// Seed of all randomness.
    #[cfg_attr(feature = "clap", arg(long))]
    pub seed: Option<u64>,
    /// Length of the trace, milliseconds.
    #[cfg_attr(feature = "clap", arg(long, value_name = "MS"))]
    pub duration_ms: Option<u64>,
    /// Load of the flows, as a share of the rate of the links between leaves and spines; for a
    /// single leaf, of the flows towards the servers.
    #[cfg_attr(feature = "clap", arg(long, allow_negative_numbers = true))]
    pub load: Option<f64>,
    /// Payload of an incast, as a share of the buffer.
    #[cfg_attr(feature = "clap", arg(long, allow_negative_numbers = true))]
    pub burst: Option<f64>,
}

/// A workload of one of the topologies.
#[derive(Clone, Debug)]
pub enum WorkloadSettings {
    /// Of one leaf.
    Leaf(LeafWorkload),
    /// Of leaves and spines.
    LeafSpine(FabricWorkload),
}

impl WorkloadSettings {
    /// The workload that a file describes; all defaults without one.
    ///
    /// # Errors
    /// If the file cannot be read or says something else.
    pub fn read(topology: Topology, file: Option<&Path>) -> Result<Self, PipelineError> {
        fn settings<T: Default + DeserializeOwned>(
            file: Option<&Path>,
        ) -> Result<T, PipelineError> {
            file.map_or_else(|| Ok(T::default()), read_settings)
        }
        Ok(match topology {
            Topology::Leaf => WorkloadSettings::Leaf(settings(file)?),
            Topology::LeafSpine => WorkloadSettings::LeafSpine(settings(file)?),
        })
    }

    /// The workload with some settings changed.
    pub fn with(mut self, changes: &WorkloadChanges) -> Self {
        let (seed, load, burst, duration_ns) = match &mut self {
            WorkloadSettings::Leaf(of) => {
                (&mut of.seed, &mut of.load, &mut of.incast_burst, &mut of.duration_ns)
            }
            WorkloadSettings::LeafSpine(of) => {
                (&mut of.seed, &mut of.load, &mut of.incast_burst, &mut of.duration_ns)
            }
        };
        *seed = changes.seed.unwrap_or(*seed);
        *load = changes.load.unwrap_or(*load);
        *burst = changes.burst.unwrap_or(*burst);
        if let Some(ms) = changes.duration_ms {
            *duration_ns = ms.saturating_mul(1_000_000);
        }
        self
    }

    fn switches(&self) -> Result<SwitchSpecs, PipelineError> {
        Ok(match self {
            WorkloadSettings::Leaf(of) => SwitchSpecs::Same(of.switch_spec()?),
            WorkloadSettings::LeafSpine(of) => of.switch_specs()?,
        })
    }

    fn arrivals(&self) -> Result<Box<dyn Iterator<Item = EventBatch>>, PipelineError> {
        Ok(match self {
            WorkloadSettings::Leaf(of) => Box::new(of.arrivals()?),
            WorkloadSettings::LeafSpine(of) => Box::new(of.arrivals()?),
        })
    }
}

/// Writes the arrivals of a workload to an event file.
///
/// # Errors
/// If a setting of the workload is wrong, or the file cannot be written.
pub fn generate(
    workload: &WorkloadSettings,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Generated, PipelineError> {
    let mut writer = EventWriter::create(path, &workload.switches()?)?;
    let rows = each_batch(workload, progress, |batch| Ok(writer.write(&batch)?))?;
    writer.finish()?;
    Ok(Generated { events: path.to_owned(), rows })
}

/// The arrivals of a workload, in memory.
///
/// # Errors
/// If a setting of the workload is wrong.
pub fn generate_frame(
    workload: &WorkloadSettings,
    progress: &dyn Progress,
) -> Result<Frame, PipelineError> {
    let mut batches = Vec::new();
    each_batch(workload, progress, |batch| {
        batches.push(batch);
        Ok(())
    })?;
    Ok(event_frame("events", &workload.switches()?, batches)?)
}

/// Gives the arrivals to `keep`, and counts them.
fn each_batch(
    workload: &WorkloadSettings,
    progress: &dyn Progress,
    mut keep: impl FnMut(EventBatch) -> Result<(), PipelineError>,
) -> Result<u64, PipelineError> {
    progress.begin("simulate");
    let mut rows = 0;
    for batch in workload.arrivals()? {
        check(progress)?;
        progress.advance(batch.events.len());
        rows += batch.events.len() as u64;
        keep(batch)?;
    }
    progress.end(&format!("{rows} arrivals"));
    Ok(rows)
}
