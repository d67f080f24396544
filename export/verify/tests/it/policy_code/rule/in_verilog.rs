//! The rule's module in a simulator.

use crate::policy_code::in_verilog::{is_a_module, simulated};
use dropcast_export::{EmittedFile, PolicyPackets};
use dropcast_verify::Tool;

pub(crate) use crate::policy_code::in_verilog::{ICARUS, VERILATOR};

/// A call takes this many clocks beside the steps of its scan.
const BESIDE_STEPS: usize = 4;

/// The verdicts of the module with so many steps; `None` without the simulator.
pub(crate) fn decide(
    files: &[EmittedFile],
    packets: &PolicyPackets,
    simulator: Tool,
    steps: usize,
) -> Option<Vec<u8>> {
    let steps_of = [("STEPS", steps)];
    let (verdicts, printed) =
        simulated("dropcast_rule", files, packets, simulator, (&steps_of, &[]))?;
    let calls = packets.events.len();
    let clocks = steps + BESIDE_STEPS;
    let expected = format!("{calls} calls, {} clocks, at most {clocks} for a call", calls * clocks);
    assert!(printed.contains(&expected), "{printed}");
    Some(verdicts)
}

/// The file as it stands, whatever its steps, and as a switch's.
#[test]
fn the_module_is_logic_and_memories_without_a_warning() {
    let steps = [2, 6, 11, 32].map(|steps| [("STEPS", steps)]);
    is_a_module("rule", "dropcast_rule", &steps.each_ref().map(|steps| &steps[..]));
}
