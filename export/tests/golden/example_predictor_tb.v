// example_predictor_tb.v
//
// Written by dropcast 0.1.0 from model "example",
// SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
// 2 trees of depth 2 on 2 features.
//
// Testbench: feeds rows to the predictor, with pauses in between, and writes its predictions.
//
// +rows=FILE         one row per line: the features' values in hexadecimal, separated by spaces
// +predictions=FILE  output: for each row "SCORE DROP" in decimal, DROP is 0 or 1
//
// Stops with an error if rows that a reset should have cleared are answered, or if an answer is
// early, late or unknown.

`default_nettype none

module example_predictor_tb;

    localparam LATENCY = 6;

    reg clk = 1'b0;
    reg rst = 1'b1;
    reg valid_in = 1'b0;
    reg [31:0] in_queue_length;
    reg [31:0] in_occupancy;
    wire valid_out, drop;
    wire [8:0] score;

    example_predictor predictor (
        .clk(clk),
        .rst(rst),
        .valid_in(valid_in),
        .in_queue_length(in_queue_length),
        .in_occupancy(in_occupancy),
        .valid_out(valid_out),
        .score(score),
        .drop(drop)
    );

    initial forever #5 clk = ~clk;

    // The expected valid_out.
    reg [LATENCY-1:0] expected = {LATENCY{1'b0}};

    always @(posedge clk)
        expected <= rst ? {LATENCY{1'b0}} : {expected[LATENCY-2:0], valid_in};

    reg [8*4096-1:0] name;
    integer rows, predictions, read, pause;

    // Inputs change and outputs are checked on falling edges.
    initial begin
        if (!$value$plusargs("rows=%s", name)) begin
            $display("ERROR: no +rows=FILE");
            $finish;
        end
        rows = $fopen(name, "r");
        if (!$value$plusargs("predictions=%s", name)) begin
            $display("ERROR: no +predictions=FILE");
            $finish;
        end
        predictions = $fopen(name, "w");
        if (rows == 0 || predictions == 0) begin
            $display("ERROR: cannot open a file");
            $finish;
        end

        // Rows cleared by the reset.
        repeat (LATENCY + 2) @(negedge clk);
        rst = 1'b0;
        valid_in = 1'b1;
        in_queue_length = 32'd0;
        in_occupancy = 32'd0;
        repeat (LATENCY - 1) @(negedge clk);
        rst = 1'b1;
        @(negedge clk);
        rst = 1'b0;
        valid_in = 1'b0;
        @(negedge clk);

        pause = 0;
        read = $fscanf(rows, "%h %h", in_queue_length, in_occupancy);
        while (read == 2) begin
            valid_in = 1'b1;
            @(negedge clk);
            pause = pause + 1;
            if (pause % 5 == 0) begin
                valid_in = 1'b0;
                repeat (pause % 3) @(negedge clk);
            end
            read = $fscanf(rows, "%h %h", in_queue_length, in_occupancy);
        end
        valid_in = 1'b0;
        repeat (LATENCY + 1) @(negedge clk);
        $fclose(predictions);
        $finish;
    end

    always @(negedge clk) begin
        if (!rst && valid_out !== expected[LATENCY-1])
            $display("ERROR: valid_out is %b, should be %b", valid_out, expected[LATENCY-1]);
        if (valid_out && ^{score, drop} === 1'bx)
            $display("ERROR: the prediction is %b %b", score, drop);
        if (valid_out)
            $fdisplay(predictions, "%0d %0d", score, drop);
    end

endmodule

`default_nettype wire
