//! `dropcast simulate`.

use super::export::read_text;
use crate::args::{SimulateArgs, Topology};
use crate::output;
use crate::output_file;
use crate::progress::Stage;
use anyhow::Context;
use dropcast_data::{EventBatch, EventWriter, SwitchSpecs};
use dropcast_simulate::{FabricWorkload, LeafWorkload};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &SimulateArgs) -> anyhow::Result<()> {
    output_file::check(&args.output, &args.workload)?;
    let workload = args.workload.as_deref();
    let duration_ns = args.duration_ms.map(|ms| ms.saturating_mul(1_000_000));
    let simulated = match args.topology {
        Topology::Leaf => {
            let mut workload: LeafWorkload = settings(workload)?;
            workload.seed = args.seed.unwrap_or(workload.seed);
            workload.load = args.load.unwrap_or(workload.load);
            workload.incast_burst = args.burst.unwrap_or(workload.incast_burst);
            workload.duration_ns = duration_ns.unwrap_or(workload.duration_ns);
            simulate(&workload, &args.output)?
        }
        Topology::LeafSpine => {
            let mut workload: FabricWorkload = settings(workload)?;
            workload.seed = args.seed.unwrap_or(workload.seed);
            workload.load = args.load.unwrap_or(workload.load);
            workload.incast_burst = args.burst.unwrap_or(workload.incast_burst);
            workload.duration_ns = duration_ns.unwrap_or(workload.duration_ns);
            write(&workload.switch_specs()?, workload.arrivals()?, &args.output)?
        }
    };
    output::print(args.format, &simulated, |simulated| {
        format!("{}: {} arrivals\n", simulated.events.display(), simulated.rows)
    })
}

/// The settings in a file; all defaults without one.
fn settings<T: Default + DeserializeOwned>(path: Option<&Path>) -> anyhow::Result<T> {
    let Some(path) = path else { return Ok(T::default()) };
    toml::from_str(&read_text(path)?).with_context(|| path.display().to_string())
}

/// What was generated.
#[derive(Debug, Serialize)]
pub(crate) struct Simulated {
    events: PathBuf,
    rows: u64,
}

/// Generates a leaf's arrivals into an event file at `path`.
pub(crate) fn simulate(workload: &LeafWorkload, path: &Path) -> anyhow::Result<Simulated> {
    write(&SwitchSpecs::Same(workload.switch_spec()?), workload.arrivals()?, path)
}

fn write(
    specs: &SwitchSpecs,
    arrivals: impl Iterator<Item = EventBatch>,
    path: &Path,
) -> anyhow::Result<Simulated> {
    let stage = Stage::begin("simulate");
    let mut writer = EventWriter::create(path, specs)?;
    let mut rows = 0;
    for batch in arrivals {
        stage.advance(batch.events.len());
        rows += batch.events.len() as u64;
        writer.write(&batch)?;
    }
    writer.finish()?;
    stage.end(&format!("{rows} arrivals"));
    Ok(Simulated { events: path.to_owned(), rows })
}
