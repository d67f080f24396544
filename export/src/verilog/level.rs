//! The modules that keep the bytes of a queue or the buffer with their moving average, and its arithmetic.

use super::about;
use crate::checked::Checked;
use crate::origin::Column;
use dropcast_features::{Feature, FeatureMemory};

/// The arithmetic, the same for every model.
pub(super) const AVERAGE: (&str, &str) = ("dropcast_average.v", include_str!("dropcast_average.v"));

/// The state machine, the same for every model.
pub(super) const LEVEL: (&str, &str) = ("dropcast_level.v", include_str!("dropcast_level.v"));

const WHAT: &str = "\
dropcast_level.v with the model's time constant: see there. Needs dropcast_average.v, too.
";

/// Whether the model has moving averages and states their time constant.
pub(super) fn is_needed(model: &Checked<'_>) -> bool {
    let is_average = |column: &Column| {
        column
            .name
            .parse()
            .is_ok_and(|feature: Feature| feature.memory() == FeatureMemory::MovingAverages)
    };
    model.average_ns > 0 && model.origin.columns.iter().any(is_average)
}

/// The file that sets the time constant.
pub(super) fn module(model: &Checked<'_>) -> String {
    let name = format!("{}_level", model.prefix);
    format!(
        "\
{about}
`default_nettype none

module {name} #(
    // Time constant of the moving average, ns.
    parameter [31:0] TAU_NS = 32'd{tau_ns}
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        add,
    input  wire        remove,
    input  wire [31:0] size_bytes,
    input  wire [63:0] now_ns,
    output wire        ready,
    output wire [31:0] bytes,
    output wire [31:0] average
);

    dropcast_level #(.TAU_NS(TAU_NS)) level (
        .clk(clk),
        .rst(rst),
        .add(add),
        .remove(remove),
        .size_bytes(size_bytes),
        .now_ns(now_ns),
        .ready(ready),
        .bytes(bytes),
        .average(average)
    );

endmodule

`default_nettype wire
",
        about = about::about(model, &name, WHAT),
        tau_ns = model.average_ns,
    )
}
