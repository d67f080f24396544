//! The module of early drops in a simulator.

use crate::policy_code::in_verilog::{ICARUS, is_a_module, simulated};
use crate::policy_code::{Change, unseen_in};
use dropcast_export::{EmittedFile, PolicyPackets};
use dropcast_verify::Tool;

pub(crate) use crate::policy_code::in_verilog::VERILATOR;

const MODULE: &str = "dropcast_spare_tails";

/// Clocks of a call at most, and of one that ends a burst.
const CLOCKS: [usize; 2] = [10, 43];

/// The verdicts of the module; `None` without the simulator.
pub(crate) fn decide(
    files: &[EmittedFile],
    packets: &PolicyPackets,
    simulator: Tool,
) -> Option<Vec<u8>> {
    let (verdicts, printed) = simulated(MODULE, files, packets, simulator, (&[], &[]))?;
    let words = printed.split_whitespace();
    let numbers: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
    let [calls, most, ends, most_of_ends] = numbers[..] else { panic!("{printed}") };
    assert_eq!(calls, packets.events.len());
    assert!(ends > 0 && most <= CLOCKS[0] && most_of_ends <= CLOCKS[1], "{printed}");
    Some(verdicts)
}

/// The file as it stands, with the fewest of what it takes, and with others.
#[test]
fn the_module_is_logic_and_memories_without_a_warning() {
    let fewest = [("FLOWS", 1), ("BURST_FLOWS", 1), ("PORTS", 1), ("LEAST_HELD_BYTES", 0)];
    let others = [("FLOWS", 64), ("BURST_FLOWS", 8), ("PORTS", 40), ("RESERVED_BYTES", 3_000)];
    is_a_module("spare_tails", MODULE, &[&[], &fewest, &others]);
}

/// Those of `changes` that no packet tells from the right one.
pub(crate) fn unseen<'a>(
    files: &[EmittedFile],
    packets: &PolicyPackets,
    changes: &[Change<'a>],
) -> Vec<Change<'a>> {
    unseen_in(&format!("{MODULE}.v"), files, packets, changes, &|files| {
        Some(simulated(MODULE, files, packets, ICARUS, (&[], &["+until_wrong"]))?.0)
    })
}

/// A part of the module, and one that is wrong in its place.
pub(crate) const CHANGES: [Change<'_>; 16] = [
    ("size > room ? over[SIZE_BITS-1:0]", "size > room ? own_size"),
    ("reads >> 32", "reads >> 64"),
    ("{29'd0, WINDOW_NS, 3'd0}", "{32'd0, WINDOW_NS}"),
    ("gaps > {flow_age, 3'd0}", "gaps > {1'b0, flow_age, 2'd0}"),
    ("flow_packets != 16'd0 && flow_tag == own_hash[63:T]", "flow_packets != 16'd0"),
    ("gap <= {32'd0, SILENCE_NS}", "gap <= {31'd0, SILENCE_NS, 1'b0}"),
    ("(!is_burst || lasts_long)", "lasts_long"),
    ("counted == 2'd0 && packets != 16'd0 ? 2'd3", "counted == 2'd0 && packets != 16'd0 ? 2'd2"),
    ("walk <= packets[4:0];", "walk <= 5'd0;"),
    ("is_ending ? kept", "is_ending ? read"),
    ("may_give <= given;", "may_give <= safe;"),
    ("below[own_class]", "below[0]"),
    ("is_below && fits", "is_below"),
    ("is_beside || (is_below", "(is_below"),
    ("{29'd0, WINDOW_NS, 3'd0}", "{28'd0, WINDOW_NS, 4'd0}"),
    ("is_far ? 5'd31 : packets[4:0]", "packets[4:0]"),
];
