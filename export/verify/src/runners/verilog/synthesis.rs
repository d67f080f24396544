//! The module's FPGA resources, counted by Yosys.

use crate::error::io_error;
use crate::tool::run;
use crate::{Tool, VerifyError};
use dropcast_export::EmittedFile;
use serde::Serialize;
use std::fs;

/// Cells of a synthesised module, for a generic FPGA without carry chains or dedicated
/// multiplexers: a vendor-neutral estimate before placement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogicCells {
    /// Lookup tables of up to 6 inputs.
    pub luts: u64,
    /// Flip-flops.
    pub flip_flops: u64,
    /// The tool that counted them.
    pub tool: String,
}

const YOSYS: Tool = Tool { command: "yosys", version_arguments: &["-V"], package: "yosys" };

/// Synthesises the files of the target `verilog` and counts. Takes seconds for 4 trees of depth 4,
/// minutes for 8 of depth 8.
///
/// # Errors
/// If Yosys is not installed or refuses it.
pub fn synthesise(files: &[EmittedFile]) -> Result<LogicCells, VerifyError> {
    let yosys = YOSYS.find()?;
    let folder = tempfile::Builder::new()
        .prefix("dropcast-")
        .tempdir()
        .map_err(io_error(&std::env::temp_dir(), "take a temporary folder"))?;
    let module =
        files.iter().find_map(|file| Some((file.name.strip_suffix("_predictor.v")?, file)));
    let (prefix, file) = module.ok_or_else(|| VerifyError::BadFile {
        file: "*_predictor.v".to_owned(),
        problem: "was not emitted".to_owned(),
    })?;
    let path = folder.path().join(&file.name);
    fs::write(&path, &file.bytes).map_err(io_error(&path, "be written"))?;
    let script = format!(
        "read_verilog {}; synth -flatten -lut 6 -top {prefix}_predictor; tee -q -o cells stat",
        file.name
    );
    run(yosys.in_folder(folder.path()).args(["-q", "-p", &script]), "synthesising the Verilog")?;
    let path = folder.path().join("cells");
    let text = fs::read_to_string(&path).map_err(io_error(&path, "be read"))?;
    Ok(LogicCells {
        luts: cells(&text, |kind| kind == "$lut"),
        flip_flops: cells(&text, |kind| kind.contains("DFF")),
        tool: yosys.version().to_owned(),
    })
}

/// Yosys's count of cells of some kinds: each line has a kind and a number.
fn cells(text: &str, of: impl Fn(&str) -> bool) -> u64 {
    let count = |line: &str| {
        let (kind, number) = line.trim().split_once(' ')?;
        number.trim().parse::<u64>().ok().filter(|_| of(kind))
    };
    text.lines().filter_map(count).sum()
}
