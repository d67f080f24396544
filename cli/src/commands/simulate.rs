//! `dropcast simulate`.

use crate::args::{SimulateArgs, Topology};
use crate::failure::Failure;
use crate::output;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::{check_output, read_settings};
use dropcast_pipeline::generate::{generate_fabric, generate_leaf};
use dropcast_pipeline::progress::Progress;
use dropcast_simulate::{FabricWorkload, LeafWorkload};
use serde::de::DeserializeOwned;
use std::path::Path;

pub(crate) fn run(args: &SimulateArgs, progress: &dyn Progress) -> Result<(), Failure> {
    check_output(&args.output, &args.workload)?;
    let workload = args.workload.as_deref();
    let duration_ns = args.duration_ms.map(|ms| ms.saturating_mul(1_000_000));
    let generated = match args.topology {
        Topology::Leaf => {
            let mut workload: LeafWorkload = settings(workload)?;
            workload.seed = args.seed.unwrap_or(workload.seed);
            workload.load = args.load.unwrap_or(workload.load);
            workload.incast_burst = args.burst.unwrap_or(workload.incast_burst);
            workload.duration_ns = duration_ns.unwrap_or(workload.duration_ns);
            generate_leaf(&workload, &args.output, progress)?
        }
        Topology::LeafSpine => {
            let mut workload: FabricWorkload = settings(workload)?;
            workload.seed = args.seed.unwrap_or(workload.seed);
            workload.load = args.load.unwrap_or(workload.load);
            workload.incast_burst = args.burst.unwrap_or(workload.incast_burst);
            workload.duration_ns = duration_ns.unwrap_or(workload.duration_ns);
            generate_fabric(&workload, &args.output, progress)?
        }
    };
    output::print(args.format, &generated, |generated| {
        format!("{}: {} arrivals\n", generated.events.display(), generated.rows)
    })
}

/// The settings in a file; all defaults without one.
fn settings<T: Default + DeserializeOwned>(path: Option<&Path>) -> Result<T, PipelineError> {
    path.map_or_else(|| Ok(T::default()), read_settings)
}
