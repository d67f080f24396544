//! The rule's module in a simulator.

use crate::decision::in_verilog::{built, is_logic_and_memories, read, succeed};
use crate::replay::found;
use dropcast_export::{EmittedFile, PolicyPackets};
use dropcast_verify::Tool;
use std::fs;
use std::path::Path;

pub(crate) use crate::decision::in_verilog::{ICARUS, VERILATOR};

/// A call takes this many clocks beside the steps of its scan.
const BESIDE_STEPS: usize = 4;

/// The verdicts of the module with so many steps; `None` without the simulator.
pub(crate) fn decide(
    files: &[EmittedFile],
    packets: &PolicyPackets,
    simulator: Tool,
    steps: usize,
) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    for file in files {
        fs::write(path.join(&file.name), &file.bytes).expect("written");
    }
    fs::write(path.join("packets.csv"), packets.to_csv()).expect("written");
    let sources = ["dropcast_rule.v", "dropcast_rule_tb.v"];
    let mut run = built(simulator, path, "dropcast_rule_tb", ("STEPS", steps), sources)?;
    let printed = succeed(run.args(["+packets=packets.csv", "+verdicts=verdicts"]));
    let calls = packets.events.len();
    let clocks = steps + BESIDE_STEPS;
    let expected = format!("{calls} calls, {} clocks, at most {clocks} for a call", calls * clocks);
    assert!(printed.contains(&expected) && !printed.contains("ERROR"), "{printed}");
    Some(read(&path.join("verdicts")))
}

/// The file as it stands, whatever its steps, and as a switch's.
#[test]
fn the_module_is_logic_and_memories_without_a_warning() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../export/src/rule");
    for steps in ["2", "6", "11", "32"] {
        let Some(verilator) = found(VERILATOR) else { break };
        let mut lint = verilator.in_folder(&sources);
        lint.args(["--lint-only", "-Wall", &format!("-GSTEPS={steps}"), "dropcast_rule.v"]);
        succeed(&mut lint);
    }
    is_logic_and_memories(&sources, &["dropcast_rule.v"], "dropcast_rule");
}
