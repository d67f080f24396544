//! A testbench of the decision: packets from a file, verdicts to a file.

use super::decision::PINS;
use super::{about, decision};
use crate::checked::Checked;
use dropcast_data::SwitchSpec;

/// What makes the calls, the same for every model.
pub(super) const CALLS: (&str, &str) =
    ("dropcast_decision_tb.v", include_str!("dropcast_decision_tb.v"));

const WHAT: &str = "\
Testbench: passes arrivals and departures to the decision, and writes its verdicts. dropcast_decision_tb.v
says from which file, and to which.
";

/// The file that joins it with the decision.
pub(super) fn module(model: &Checked<'_>, switch: &SwitchSpec) -> String {
    let decision = decision::name(model);
    let name = format!("{decision}_tb");
    format!(
        "\
{about}
`default_nettype none

module {name} #(
    // Packets that virtual LQD can hold.
    parameter [31:0] PACKETS = 32'd{packets}
);

    wire        clk, rst, refused, ready, arrival, departure, fall_back, decided;
    wire [15:0] port;
    wire [7:0]  queue;
    wire [31:0] size_bytes, unheld;
    wire [63:0] now_ns;
    wire [2:0]  verdict;
    wire [24:0] precision;

    {decision} #(.PACKETS(PACKETS)) decision (
        .clk(clk),
        .rst(rst),
        .refused(refused),
        .ready(ready),
{PINS}
    );

    dropcast_decision_tb calls (
        .clk(clk),
        .rst(rst),
        .refused(refused),
        .ready(ready),
{PINS}
    );

endmodule

`default_nettype wire
",
        about = about::about(model, &name, WHAT),
        packets = decision::packets(switch),
    )
}
