//! Flow-aware buffer sharing as code (`docs/policies.md`, `fab`).

use crate::policy_code::{
    FRAME, PolicyCodeError, alphas_in_128ths, c_array, c_constants, in_128ths, reserved_bytes,
    sources,
};
use crate::target::EmittedFile;
use dropcast_data::SwitchSpec;
use dropcast_switch::policies::fab::{Fab, FabParameters};

/// What is the same for every switch.
const SOURCES: [(&str, &str); 3] = [
    ("dropcast_fab.h", include_str!("fab/dropcast_fab.h")),
    ("dropcast_fab.bpf.c", include_str!("fab/dropcast_fab.bpf.c")),
    FRAME,
];

/// The code and the switch's constants.
///
/// # Errors
/// If a parameter is not what the code can do.
pub(crate) fn files(
    parameters: &FabParameters,
    spec: &SwitchSpec,
) -> Result<Vec<EmittedFile>, PolicyCodeError> {
    let alpha_128 = alphas_in_128ths(spec, |queue| parameters.alpha.at(queue))?;
    let by_queue = |of: &[u32]| c_array((0..spec.queues()).map(|queue| of[queue % of.len()]));
    let defined = [
        ("FLOWS", parameters.flows.to_string()),
        ("QUEUES", spec.queues().to_string()),
        ("QUEUES_PER_PORT", spec.queues_per_port.to_string()),
        ("BUFFER_BYTES", format!("{}u", spec.buffer_bytes)),
        ("WINDOW_NS", format!("{}ull", parameters.window_ns)),
        ("FIRST_BYTES", format!("{}ull", parameters.first_bytes)),
        ("FIRST_ALPHA_128", format!("{}u", in_128ths(parameters.first_alpha)?)),
        ("RESERVED_BYTES", by_queue(&reserved_bytes(spec))),
        ("ALPHA_128", by_queue(&alpha_128)),
    ];
    let config = c_constants("DROPCAST_FAB", "dropcast_fab.h", &defined);
    Ok([sources(&SOURCES), sources(&[("dropcast_fab_config.h", &config)])].concat())
}

/// The policy of the fabric and the replays.
///
/// # Errors
/// If a parameter is out of range.
pub(crate) fn policy(parameters: &FabParameters) -> Result<Fab, PolicyCodeError> {
    parameters.policy().map_err(|error| PolicyCodeError::Policy(error.to_string()))
}
