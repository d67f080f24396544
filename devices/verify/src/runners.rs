//! Every runner.

use crate::{Runner, c, cpp, dct, dpdk, ebpf, json, onnx, verilog};
use dropcast_export::Target;

/// Every runner; a new one is a file with a `RUNNER` and a line here.
const RUNNERS: &[&dyn Runner] = &[
    &c::RUNNER,
    &cpp::RUNNER,
    &dct::RUNNER,
    &dpdk::RUNNER,
    &ebpf::RUNNER,
    &json::RUNNER,
    &onnx::RUNNER,
    &verilog::RUNNER,
];

/// The runner of a target, if there is one.
pub fn runner_of(target: Target) -> Option<&'static dyn Runner> {
    RUNNERS.iter().copied().find(|runner| runner.target() == target.name())
}
