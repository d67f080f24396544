//! `dropcast simulate`.

use super::export::read_text;
use crate::args::SimulateArgs;
use crate::output;
use crate::output_file;
use crate::progress::Stage;
use anyhow::Context;
use dropcast_data::{EventWriter, SwitchSpecs};
use dropcast_simulate::LeafWorkload;
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &SimulateArgs) -> anyhow::Result<()> {
    output_file::check(&args.output, &args.workload)?;
    let mut workload = match &args.workload {
        None => LeafWorkload::default(),
        Some(path) => {
            toml::from_str(&read_text(path)?).with_context(|| path.display().to_string())?
        }
    };
    workload.seed = args.seed.unwrap_or(workload.seed);
    workload.load = args.load.unwrap_or(workload.load);
    workload.incast_burst = args.burst.unwrap_or(workload.incast_burst);
    if let Some(duration_ms) = args.duration_ms {
        workload.duration_ns = duration_ms.saturating_mul(1_000_000);
    }
    let simulated = simulate(&workload, &args.output)?;
    output::print(args.format, &simulated, |simulated| {
        format!("{}: {} arrivals\n", simulated.events.display(), simulated.rows)
    })
}

/// What was generated.
#[derive(Debug, Serialize)]
pub(crate) struct Simulated {
    events: PathBuf,
    rows: u64,
}

/// Generates the workload's arrivals into an event file at `path`.
pub(crate) fn simulate(workload: &LeafWorkload, path: &Path) -> anyhow::Result<Simulated> {
    let stage = Stage::begin("simulate");
    let specs = SwitchSpecs::Same(workload.switch_spec()?);
    let arrivals = workload.arrivals()?;
    let mut writer = EventWriter::create(path, &specs)?;
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
