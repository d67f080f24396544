//! The modules of policies in a simulator.

use crate::decision::in_verilog::{built, is_logic_and_memories, read, succeed};
use crate::replay::found;
use dropcast_export::{EmittedFile, PolicyPackets};
use dropcast_verify::Tool;
use std::fs;
use std::path::Path;

pub(crate) use crate::decision::in_verilog::{ICARUS, VERILATOR};

/// The verdicts of a module with these parameters, and what its testbench says, which is given these arguments, too; `None`
/// without the simulator.
pub(crate) fn simulated(
    module: &str,
    files: &[EmittedFile],
    packets: &PolicyPackets,
    simulator: Tool,
    (parameters, arguments): (&[(&str, usize)], &[&str]),
) -> Option<(Vec<u8>, String)> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    for file in files {
        fs::write(path.join(&file.name), &file.bytes).expect("written");
    }
    fs::write(path.join("packets.csv"), packets.to_csv()).expect("written");
    let (source, bench) = (format!("{module}.v"), format!("{module}_tb"));
    let sources = [&*source, &format!("{bench}.v")];
    let mut run = built(simulator, path, &bench, parameters, sources)?;
    run.args(["+packets=packets.csv", "+verdicts=verdicts"]);
    let printed = succeed(run.args(arguments));
    assert!(!printed.contains("ERROR"), "{printed}");
    Some((read(&path.join("verdicts")), printed))
}

/// Checks that a file of `export/` as it stands is logic and memories, without a warning, with each of these sets of parameters.
pub(crate) fn is_a_module(folder: &str, module: &str, parameters: &[&[(&str, usize)]]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../export/src").join(folder);
    let source = format!("{module}.v");
    for set in parameters {
        let Some(verilator) = found(VERILATOR) else { break };
        let mut lint = verilator.in_folder(&folder);
        lint.args(["--lint-only", "-Wall", &source]);
        succeed(lint.args(set.iter().map(|(name, value)| format!("-G{name}={value}"))));
    }
    is_logic_and_memories(&folder, &[&source], module);
}
