//! Who builds the files of which target.

mod c;
mod cpp;
mod dct;
mod dpdk;
mod ebpf;
mod json;
mod onnx;
mod verilog;

pub use verilog::{LogicCells, synthesise};

use crate::Runner;
use dropcast_export::Target;

/// Every runner.
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
