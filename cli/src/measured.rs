//! What tools of this machine measure of an exported forest.

use dropcast_export::{Measured, Origin, Target, Vectors, export};
use dropcast_forest::Forest;
use dropcast_verify::{Built, LogicCells, synthesise};
use std::io::Write;

/// Random rows that are timed besides the vectors.
const RANDOM_ROWS: usize = 10_000;

/// Seed of these rows.
const SEED: u64 = 1;

/// Measures; what cannot be measured here is told on stderr.
///
/// # Errors
/// If the forest cannot be exported.
pub(crate) fn measured(forest: &Forest, origin: &Origin) -> anyhow::Result<Measured> {
    let vectors = Vectors::new(forest, SEED, RANDOM_ROWS)?;
    let cells = known("luts and flip_flops", logic_cells(forest, origin));
    Ok(Measured {
        luts: cells.as_ref().map(|cells| cells.luts),
        flip_flops: cells.as_ref().map(|cells| cells.flip_flops),
        ebpf_instructions: known("ebpf_instructions", instructions(forest, origin)),
        ns_per_prediction: known("ns_per_prediction", time_ns(forest, origin, &vectors)),
    })
}

fn logic_cells(forest: &Forest, origin: &Origin) -> anyhow::Result<LogicCells> {
    Ok(synthesise(&export(forest, origin, target("verilog")?)?)?)
}

fn instructions(forest: &Forest, origin: &Origin) -> anyhow::Result<u64> {
    let mut built = Built::new(forest, origin, target("ebpf")?)?;
    let mut counts = built.programs().iter().filter_map(|program| program.instructions());
    counts.next().ok_or_else(|| anyhow::anyhow!("no program counts them"))
}

/// Of the first form of the header: the one that its users get unless they ask for the other.
fn time_ns(forest: &Forest, origin: &Origin, vectors: &Vectors) -> anyhow::Result<f64> {
    let mut built = Built::new(forest, origin, target("c")?)?;
    let program = built.programs().first_mut();
    let time_ns = program.map(|program| program.time_ns(vectors.rows())).transpose()?;
    time_ns.flatten().ok_or_else(|| anyhow::anyhow!("no program tells it"))
}

fn target(name: &str) -> anyhow::Result<Target> {
    Ok(name.parse()?)
}

/// What was measured, or none after saying why.
fn known<T>(what: &str, measured: anyhow::Result<T>) -> Option<T> {
    // Nobody is left to be told if stderr is gone.
    measured
        .inspect_err(|error| {
            let _ = writeln!(std::io::stderr(), "not measured: {what}: {error:#}");
        })
        .ok()
}
