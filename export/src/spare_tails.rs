//! Early drops in bursts over Dynamic Thresholds as code (`lab/notes/spare-tails.md`).

mod packets;

pub(crate) use packets::golden;

use crate::policy_code::{
    FRAME, PolicyCodeError, alphas_in_128ths, c_array, c_constants, reserved_bytes, sources,
    verilog_words,
};
use crate::target::EmittedFile;
use dropcast_data::{SwitchSpec, Victim};
use dropcast_runtime::spare_tails::SpareTailsConstants;
use dropcast_switch::policies::spare_tails::{AnySpareTails, SpareTailsParameters};
use dropcast_switch::{Fit, LineRate, PolicySite, PolicySpec};

/// What is the same for every switch.
const SOURCES: [(&str, &str); 5] = [
    ("dropcast_spare_tails.h", include_str!("spare_tails/dropcast_spare_tails.h")),
    ("dropcast_spare_tails.bpf.c", include_str!("spare_tails/dropcast_spare_tails.bpf.c")),
    FRAME,
    ("dropcast_spare_tails.v", include_str!("spare_tails/dropcast_spare_tails.v")),
    ("dropcast_spare_tails_tb.v", include_str!("spare_tails/dropcast_spare_tails_tb.v")),
];

/// The code and the switch's constants.
///
/// # Errors
/// If the switch or a parameter is not what the code can do.
pub(crate) fn files(
    parameters: &SpareTailsParameters,
    spec: &SwitchSpec,
) -> Result<Vec<EmittedFile>, PolicyCodeError> {
    let constants = parameters.constants(spec).map_err(unfit)?;
    let alpha_128 = alphas(parameters, spec)?;
    let of_the_switch = [
        ("dropcast_spare_tails_config.h", &*c_config(parameters, spec, &constants, &alpha_128)),
        ("dropcast_spare_tails_config.rs", &rust_config(parameters, spec, &constants)),
        (
            "dropcast_spare_tails_config.vh",
            &verilog_config(parameters, spec, &constants, &alpha_128),
        ),
    ];
    Ok([sources(&SOURCES), sources(&of_the_switch)].concat())
}

/// The policy of the fabric and the replays.
///
/// # Errors
/// If the switch or a parameter is not what the code can do.
pub(crate) fn policy(
    parameters: &SpareTailsParameters,
    spec: &SwitchSpec,
) -> Result<AnySpareTails, PolicyCodeError> {
    alphas(parameters, spec)?;
    let (fit, service, victim) = (Fit::Exact, LineRate::new(spec), Victim::default());
    let site = PolicySite { spec, fit, service, victim, seed: 1, model: None };
    parameters.policy(site).map_err(unfit)
}

/// By queue within a port, in 128ths.
fn alphas(
    parameters: &SpareTailsParameters,
    spec: &SwitchSpec,
) -> Result<Vec<u32>, PolicyCodeError> {
    let PolicySpec::DynamicThresholds(base) = &*parameters.base else {
        return Err(PolicyCodeError::Base(parameters.base.name()));
    };
    alphas_in_128ths(spec, |queue| base.alpha.at(queue))
}

fn c_config(
    parameters: &SpareTailsParameters,
    spec: &SwitchSpec,
    constants: &SpareTailsConstants,
    alpha_128: &[u32],
) -> String {
    let by_queue = |of: &[u32]| c_array((0..spec.queues()).map(|queue| of[queue % of.len()]));
    let defined = [
        ("FLOWS", parameters.flows.to_string()),
        ("QUEUES", spec.queues().to_string()),
        ("PORTS", constants.ports.to_string()),
        ("QUEUES_PER_PORT", spec.queues_per_port.to_string()),
        ("BUFFER_BYTES", format!("{}u", constants.buffer_bytes)),
        ("WINDOW_NS", format!("{}u", constants.window_ns)),
        ("BURST_FLOWS", constants.burst_flows.to_string()),
        ("SILENCE_NS", format!("{}u", constants.silence_ns)),
        ("LEAST_HELD_BYTES", format!("{}u", constants.least_held_bytes)),
        ("RESERVED_BYTES", by_queue(&reserved_bytes(spec))),
        ("ALPHA_128", by_queue(alpha_128)),
    ];
    c_constants("DROPCAST_SPARE_TAILS", "dropcast_spare_tails.h", &defined)
}

fn rust_config(
    parameters: &SpareTailsParameters,
    spec: &SwitchSpec,
    constants: &SpareTailsConstants,
) -> String {
    let SpareTailsConstants {
        buffer_bytes,
        ports,
        window_ns,
        burst_flows,
        silence_ns,
        least_held_bytes,
    } = constants;
    let (queues, flows) = (spec.queues(), parameters.flows);
    format!(
        "\
//! Early drops in bursts for a switch, in Rust without std: what a base accepts goes through `accepts`.

use dropcast_runtime::NotReady;
use dropcast_runtime::spare_tails::{{FlowState, QueueBursts, SpareTails, SpareTailsConstants}};

/// The switch, and the decision's parameters.
pub const CONSTANTS: SpareTailsConstants = SpareTailsConstants {{
    buffer_bytes: {buffer_bytes},
    ports: {ports},
    window_ns: {window_ns},
    burst_flows: {burst_flows},
    silence_ns: {silence_ns},
    least_held_bytes: {least_held_bytes},
}};

/// Queues of the switch.
pub const QUEUES: usize = {queues};

/// Slots for flows.
pub const FLOWS: usize = {flows};

/// A switch that has seen no packets.
pub fn init<'a>(
    queues: &'a mut [QueueBursts; QUEUES],
    flows: &'a mut [FlowState; FLOWS],
) -> Result<SpareTails<&'a mut [QueueBursts], &'a mut [FlowState]>, NotReady> {{
    SpareTails::new(CONSTANTS, queues, flows)
}}
"
    )
}

fn verilog_config(
    parameters: &SpareTailsParameters,
    spec: &SwitchSpec,
    constants: &SpareTailsConstants,
    alpha_128: &[u32],
) -> String {
    format!(
        "\
// Parameters of dropcast_spare_tails for a switch.
`define DROPCAST_SPARE_TAILS_PARAMETERS .PORTS({}), .QUEUES_PER_PORT({}), .BUFFER_BYTES(32'd{}), \\
    .FLOWS({}), .BURST_FLOWS({}), .WINDOW_NS(32'd{}), .SILENCE_NS(32'd{}), .LEAST_HELD_BYTES(32'd{}), \\
    .ALPHA_128({}), \\
    .RESERVED_BYTES({})
",
        constants.ports,
        spec.queues_per_port,
        constants.buffer_bytes,
        parameters.flows,
        constants.burst_flows,
        constants.window_ns,
        constants.silence_ns,
        constants.least_held_bytes,
        verilog_words(alpha_128),
        verilog_words(&reserved_bytes(spec)),
    )
}

fn unfit(error: impl ToString) -> PolicyCodeError {
    PolicyCodeError::Policy(error.to_string())
}
