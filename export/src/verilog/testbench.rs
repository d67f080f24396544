//! A testbench: rows from a file, predictions to a file.

use super::pipeline::Pipeline;
use super::{about, features, predictor};
use crate::checked::Checked;

const WHAT: &str = "\
Testbench: feeds rows to the predictor, with pauses in between, and writes its predictions.

+rows=FILE         one row per line: the features' values in hexadecimal, separated by spaces
+predictions=FILE  output: for each row \"SCORE DROP\" in decimal, DROP is 0 or 1

Stops with an error if rows that a reset should have cleared are answered, or if an answer is
early, late or unknown.
";

/// How answers are checked and written.
const CHECKS: &str = "    always @(negedge clk) begin
        if (!rst && valid_out !== expected[LATENCY-1])
            $display(\"ERROR: valid_out is %b, should be %b\", valid_out, expected[LATENCY-1]);
        if (valid_out && ^{score, drop} === 1'bx)
            $display(\"ERROR: the prediction is %b %b\", score, drop);
        if (valid_out)
            $fdisplay(predictions, \"%0d %0d\", score, drop);
    end
";

/// The whole file.
pub(super) fn module(model: &Checked<'_>, pipeline: &Pipeline) -> String {
    let name = format!("{}_tb", predictor::name(model));
    let ports: Vec<String> = pipeline.features.iter().map(features::port).collect();
    let each = |text: &dyn Fn(&String) -> String| ports.iter().map(text).collect::<String>();
    format!(
        "\
{about}
`default_nettype none

module {name};

    localparam LATENCY = {latency};

    reg clk = 1'b0;
    reg rst = 1'b1;
    reg valid_in = 1'b0;
{registers}    wire valid_out, drop;
    wire [{score_top}:0] score;

    {predictor} predictor (
        .clk(clk),
        .rst(rst),
        .valid_in(valid_in),
{connections}        .valid_out(valid_out),
        .score(score),
        .drop(drop)
    );

    initial forever #5 clk = ~clk;

    // The expected valid_out.
    reg [LATENCY-1:0] expected = {{LATENCY{{1'b0}}}};

    always @(posedge clk)
        expected <= rst ? {{LATENCY{{1'b0}}}} : {{expected[LATENCY-2:0], valid_in}};

    reg [8*4096-1:0] name;
    integer rows, predictions, read, pause;

{stimulus}
{CHECKS}
endmodule

`default_nettype wire
",
        about = about::about(model, &name, WHAT),
        latency = pipeline.latency(),
        registers = each(&|port| format!("    reg [31:0] {port};\n")),
        score_top = pipeline.score_bits() - 1,
        predictor = predictor::name(model),
        connections = each(&|port| format!("        .{port}({port}),\n")),
        stimulus = stimulus(&ports),
    )
}

/// Feeds rows after a reset that clears some, and ends.
fn stimulus(ports: &[String]) -> String {
    let each = |text: &dyn Fn(&String) -> String| ports.iter().map(text).collect::<String>();
    format!(
        "    // Inputs change and outputs are checked on falling edges.
    initial begin
        if (!$value$plusargs(\"rows=%s\", name)) begin
            $display(\"ERROR: no +rows=FILE\");
            $finish;
        end
        rows = $fopen(name, \"r\");
        if (!$value$plusargs(\"predictions=%s\", name)) begin
            $display(\"ERROR: no +predictions=FILE\");
            $finish;
        end
        predictions = $fopen(name, \"w\");
        if (rows == 0 || predictions == 0) begin
            $display(\"ERROR: cannot open a file\");
            $finish;
        end

        // Rows cleared by the reset.
        repeat (LATENCY + 2) @(negedge clk);
        rst = 1'b0;
        valid_in = 1'b1;
{zeros}        repeat (LATENCY - 1) @(negedge clk);
        rst = 1'b1;
        @(negedge clk);
        rst = 1'b0;
        valid_in = 1'b0;
        @(negedge clk);

        pause = 0;
        read = $fscanf(rows, \"{formats}\"{arguments});
        while (read == {count}) begin
            valid_in = 1'b1;
            @(negedge clk);
            pause = pause + 1;
            if (pause % 5 == 0) begin
                valid_in = 1'b0;
                repeat (pause % 3) @(negedge clk);
            end
            read = $fscanf(rows, \"{formats}\"{arguments});
        end
        valid_in = 1'b0;
        repeat (LATENCY + 1) @(negedge clk);
        $fclose(predictions);
        $finish;
    end
",
        zeros = each(&|port| format!("        {port} = 32'd0;\n")),
        formats = vec!["%h"; ports.len()].join(" "),
        arguments = each(&|port| format!(", {port}")),
        count = ports.len(),
    )
}
