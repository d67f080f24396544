//! The module that predicts.

use super::pipeline::Pipeline;
use super::{about, adders, features, tree};
use crate::checked::Checked;
use crate::ident::plain;

/// The whole file.
pub(super) fn module(model: &Checked<'_>, pipeline: &Pipeline) -> String {
    let name = name(model);
    let trees = model.complete.trees.iter().enumerate();
    [
        about::about(model, &name, &about::behaviour(pipeline)),
        header(model, pipeline),
        features::stages(pipeline),
        trees.map(|(at, of)| tree::walk(at, of, pipeline)).collect(),
        sum(pipeline),
        decision(pipeline),
    ]
    .concat()
}

/// The module's name.
pub(super) fn name(model: &Checked<'_>) -> String {
    format!("{}_predictor", model.prefix)
}

fn header(model: &Checked<'_>, pipeline: &Pipeline) -> String {
    let ports: String = model
        .origin
        .columns
        .iter()
        .zip(&pipeline.features)
        .map(|(column, feature)| {
            format!(
                "    // {}; unit: {}\n    input  wire [31:0] {},\n",
                plain(&column.definition),
                plain(&column.unit),
                features::port(feature)
            )
        })
        .collect();
    let bits = pipeline.score_bits();
    let range = format!("[{}:0]", bits - 1);
    format!(
        "
`default_nettype none

module {name} #(
    // A drop is predicted if and only if the score is larger.
    parameter [{top}:0] VOTE_THRESHOLD = {bits}'d{vote}
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        valid_in,
{ports}    output wire        valid_out,
    output reg  {range:6} score,
    output reg         drop
);

    localparam LATENCY = {latency};

    reg [LATENCY-1:0] valid;

    always @(posedge clk) begin
        if (rst)
            valid <= {{LATENCY{{1'b0}}}};
        else
            valid <= {{valid[LATENCY-2:0], valid_in}};
    end

    assign valid_out = valid[LATENCY-1];
",
        name = name(model),
        top = bits - 1,
        vote = model.forest.vote_threshold,
        latency = pipeline.latency(),
    )
}

fn sum(pipeline: &Pipeline) -> String {
    match adders::sum(pipeline) {
        none if none.is_empty() => none,
        stages => format!("\n    // The sum of the weights.\n{}", stages.trim_start_matches('\n')),
    }
}

fn decision(pipeline: &Pipeline) -> String {
    format!(
        "
    // A tie accepts.
    always @(posedge clk) begin
        score <= {score};
        drop  <= {score} > VOTE_THRESHOLD;
    end

endmodule

`default_nettype wire
",
        score = adders::score(pipeline)
    )
}
