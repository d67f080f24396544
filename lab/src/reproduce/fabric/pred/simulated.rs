//! A run of a fabric whose buffers are so large that nothing is dropped.

use dropcast_fabric::{Fabric, FabricObserver, Simulation, SimulationOutcome, Workload};
use dropcast_pipeline::PipelineError;
use dropcast_switch::PolicySpec;

/// Of links, bits per second, and what a link of a round trip within a leaf adds to the 80 us of the paper's simulations
/// (section 6.3.1), nanoseconds.
pub(super) const RATE_BPS: u64 = 10_000_000_000;
pub(super) const LINK_DELAY_NS: u64 = 20_000;
/// Time between samples of queues (section 6.3.2).
pub(super) const SAMPLE_NS: u64 = 10_000;

/// Simulates flows; `sink` gets what happens to them.
///
/// # Errors
/// If a scheme does not fit the fabric's switches, or a flow the fabric.
pub(super) fn simulate(
    fabric: &Fabric,
    flows: impl Workload,
    sink: &mut impl FabricObserver,
) -> Result<SimulationOutcome, PipelineError> {
    let sharing = PolicySpec::CompleteSharing(Default::default());
    let simulation = Simulation::new(fabric, |_, site| sharing.build(site), flows)
        .map_err(|error| PipelineError::setting("aqm", error.to_string()))?;
    simulation.run(sink).map_err(PipelineError::stated)
}
