//! Who builds the files of which target.

pub(crate) mod c;
pub(crate) mod cpp;
mod dct;
mod ebpf;
mod json;
mod onnx;
mod verilog;

pub use verilog::{LogicCells, synthesise};

use crate::emitted::Emitted;
use crate::{Program, VerifyError};
use dropcast_export::{Target, TargetKind};

/// Builds emitted files into programs, one per variant of the code and installed tool. It writes only into the files'
/// folder. An error if a required tool is not installed, or refuses the files.
type Build = fn(&Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError>;

/// What builds the files of a target; why nothing does, if so.
pub(crate) fn build_of(target: Target) -> Result<Build, &'static str> {
    match target.kind() {
        TargetKind::C => Ok(c::build),
        TargetKind::Cpp => Ok(cpp::build),
        TargetKind::Dct => Ok(dct::build),
        TargetKind::Ebpf => Ok(ebpf::build),
        TargetKind::Json => Ok(json::build),
        TargetKind::Onnx => Ok(onnx::build),
        TargetKind::P4 => {
            Err("no installable tool runs p4 exports: p4c and BMv2 are in no package \
                               registry; docs/p4.md says what was compiled")
        }
        TargetKind::Vectors => {
            Err("vectors are what your own code is checked with, see docs/verify.md")
        }
        TargetKind::Verilog => Ok(verilog::build),
    }
}
