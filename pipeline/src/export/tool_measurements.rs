//! What tools of this machine measure of an exported forest.

use super::models::ModelFile;
use crate::PipelineError;
use crate::progress::{Progress, check};
use dropcast_export::{Measured, Origin, TableResources, Target, Vectors, export};
use dropcast_forest::Forest;
use dropcast_verify::{Built, LogicCells, synthesise};

/// Random rows that are timed besides the vectors.
const RANDOM_ROWS: usize = 10_000;

/// Seed of these rows.
const SEED: u64 = 1;

/// What a model takes as tables; with `measure` also what the tools of this machine measure.
///
/// # Errors
/// If the forest cannot be exported.
pub fn resources_of(
    file: &ModelFile,
    measure: bool,
    progress: &dyn Progress,
) -> Result<TableResources, PipelineError> {
    let ModelFile { model, sha256, .. } = file;
    let origin = Origin::of_model(model, "model", sha256);
    let mut resources = TableResources::new(&model.forest, &origin)?;
    if measure {
        resources.measured = measure_with_tools(&model.forest, &origin, progress)?;
    }
    Ok(resources)
}

/// Measures what the tools of this machine can; notes what they cannot.
///
/// # Errors
/// If the forest cannot be exported.
fn measure_with_tools(
    forest: &Forest,
    origin: &Origin,
    progress: &dyn Progress,
) -> Result<Measured, PipelineError> {
    let vectors = Vectors::new(forest, SEED, RANDOM_ROWS)?;
    let cells = known(progress, "luts and flip_flops", logic_cells(forest, origin));
    check(progress)?;
    let ebpf_instructions = known(progress, "ebpf_instructions", instructions(forest, origin));
    check(progress)?;
    let time_ns = known(progress, "ns_per_prediction", time_ns(forest, origin, &vectors));
    Ok(Measured {
        luts: cells.as_ref().map(|cells| cells.luts),
        flip_flops: cells.as_ref().map(|cells| cells.flip_flops),
        ebpf_instructions,
        ns_per_prediction: time_ns,
    })
}

fn logic_cells(forest: &Forest, origin: &Origin) -> Result<LogicCells, PipelineError> {
    Ok(synthesise(&export(forest, origin, target("verilog")?)?)?)
}

fn instructions(forest: &Forest, origin: &Origin) -> Result<u64, PipelineError> {
    let mut built = Built::new(forest, origin, target("ebpf")?)?;
    let mut counts = built.programs().iter().filter_map(|program| program.instructions());
    counts.next().ok_or_else(|| PipelineError::unfit("ebpf", "no program counts its instructions"))
}

/// Of the first form of the header: the one that its users get unless they ask for the other.
fn time_ns(forest: &Forest, origin: &Origin, vectors: &Vectors) -> Result<f64, PipelineError> {
    let mut built = Built::new(forest, origin, target("c")?)?;
    let program = built.programs().first_mut();
    let time_ns = program.map(|program| program.time_ns(vectors.rows())).transpose()?;
    time_ns.flatten().ok_or_else(|| PipelineError::unfit("c", "no program gives a time"))
}

fn target(name: &str) -> Result<Target, PipelineError> {
    name.parse().map_err(|error| PipelineError::setting("target", format!("{error}")))
}

/// What was measured, or none after saying why.
fn known<T>(progress: &dyn Progress, what: &str, measured: Result<T, PipelineError>) -> Option<T> {
    measured.inspect_err(|error| progress.note(&format!("not measured: {what}: {error}"))).ok()
}
