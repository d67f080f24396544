//! The arithmetic of moving averages, and the steps of the decision that keep them.

use super::about;
use crate::checked::Checked;
use crate::origin::Column;
use dropcast_features::{Feature, Memory};

/// The module; placeholders begin with `@`.
const AVERAGE: &str = include_str!("average.v");

const WHAT: &str = "\
A moving average is updated. It is ns3-trunc, trunc(g * bytes + (1 - g) * average) with
g = min(elapsed, TAU_NS) / TAU_NS, bit for bit as double precision computes it: in integers, with
every step rounded as a double is. It takes up to 118 clocks. Simpler averages are faster, but differ.
";

/// Whether the model has moving averages and states their time constant.
pub(super) fn is_needed(model: &Checked<'_>) -> bool {
    let is_average = |column: &Column| {
        column.name.parse().is_ok_and(|feature: Feature| feature.memory() == Memory::MovingAverages)
    };
    model.average_ns > 0 && model.origin.columns.iter().any(is_average)
}

/// The module's name.
pub(super) fn name(model: &Checked<'_>) -> String {
    format!("{}_average", model.prefix)
}

/// The file, if it is needed.
pub(super) fn module(model: &Checked<'_>) -> Option<String> {
    is_needed(model).then(|| {
        AVERAGE
            .replace("@ABOUT\n", &about::about(model, &name(model), WHAT))
            .replace("@MODULE", &name(model))
            .replace("@TAU", &model.average_ns.to_string())
    })
}

/// States of the decision.
pub(super) const STATES: &str = "    localparam [5:0] AVERAGE  = 6'd22;
    localparam [5:0] AVERAGED = 6'd23;
";

/// What the decision remembers.
pub(super) const MEMORY: &str =
    "    // Moving averages of each queue and of the buffer, and their last updates.
    reg [31:0]         average [0:@LAST_QUEUE];
    reg [63:0]         updated_ns [0:@LAST_QUEUE];
    reg [31:0]         buffer_average;
    reg [63:0]         buffer_updated_ns;
    reg                of_buffer;
    wire [31:0]        averaged_bytes = of_buffer ? buffer_bytes : bytes[changed];
    wire [31:0]        old_average = of_buffer ? buffer_average : average[changed];
    wire [63:0]        old_ns = of_buffer ? buffer_updated_ns : updated_ns[changed];
    wire [31:0]        new_average;
    wire               is_averaged;
";

/// Lines of `CLEAR`.
pub(super) const CLEAR: &str =
    "                average[at] <= 32'd0;\n                updated_ns[at] <= 64'd0;\n";

/// Lines of the reset.
pub(super) const RESET: &str = "            buffer_average <= 32'd0;
            buffer_updated_ns <= 64'd0;
            of_buffer <= 1'b0;
";

/// The states; `then` is the next one.
pub(super) fn steps(then: &str) -> String {
    format!(
        "            // The averages of the queue that a packet left, then of the buffer.
            AVERAGE: state <= AVERAGED;
            AVERAGED: begin
                if (is_averaged) begin
                    of_buffer <= !of_buffer;
                    if (of_buffer) begin
                        buffer_average <= new_average;
                        buffer_updated_ns <= time_ns;
                        state <= {then};
                    end else begin
                        average[changed] <= new_average;
                        updated_ns[changed] <= time_ns;
                        state <= AVERAGE;
                    end
                end
            end
"
    )
}

/// The module in the decision.
pub(super) fn instance(model: &Checked<'_>) -> String {
    format!(
        "
    {} arithmetic (
        .clk(clk),
        .rst(rst),
        .start(state == AVERAGE),
        .bytes(averaged_bytes),
        .average(old_average),
        .elapsed_ns(time_ns > old_ns ? time_ns - old_ns : 64'd0),
        .ready(is_averaged),
        .updated(new_average)
    );
",
        name(model)
    )
}
