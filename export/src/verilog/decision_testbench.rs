//! A testbench of the decision: packets from a file, verdicts to a file.

use super::{about, decision};
use crate::checked::Checked;
use dropcast_data::SwitchSpec;

const WHAT: &str = "\
Testbench: tells the decision of arrivals and departures, and writes its verdicts.

+packets=FILE   a packet on each line, hexadecimal: 0 if it arrives or 1 if it leaves, port, queue,
                bytes, time in ns
+verdicts=FILE  output: a line for each arrival, 0 to 4
+fall_back      ignore predictions while their precision is too low

Prints clocks: of all packets, and of the one that took most.
";

/// The whole file.
pub(super) fn module(model: &Checked<'_>, switch: &SwitchSpec) -> String {
    let name = format!("{}_tb", decision::name(model));
    include_str!("decision_tb.v")
        .replace("@ABOUT\n", &about::about(model, &name, WHAT))
        .replace("@PACKETS", &decision::packets(switch).to_string())
        .replace("@MODULE", &decision::name(model))
}
