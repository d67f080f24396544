// example_predictor.v
//
// Written by dropcast 0.1.0 from model "example",
// SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
// 2 trees of depth 2 on 2 features.
//
// Would push-out Longest Queue Drop drop this packet? One prediction per clock: a row that is at the
// inputs at a rising edge with valid_in is answered 6 edges later (LATENCY), in order. There is
// no back-pressure. rst is synchronous and clears the rows in flight; data registers need
// and have no reset.
//
// The inputs are a packet's features, recorded before the packet is added to the buffer. All numbers
// are unsigned.

`default_nettype none

module example_predictor #(
    // A drop is predicted if and only if the score is larger.
    parameter [8:0] VOTE_THRESHOLD = 9'd160
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        valid_in,
    // bytes in the packet's queue before it is added; unit: bytes
    input  wire [31:0] in_queue_length,
    // bytes in the shared buffer before the packet is added; unit: bytes
    input  wire [31:0] in_occupancy,
    output wire        valid_out,
    output reg  [8:0]  score,
    output reg         drop
);

    localparam LATENCY = 6;

    reg [LATENCY-1:0] valid;

    always @(posedge clk) begin
        if (rst)
            valid <= {LATENCY{1'b0}};
        else
            valid <= {valid[LATENCY-2:0], valid_in};
    end

    assign valid_out = valid[LATENCY-1];

    // queue_length, saturated at 32767: larger values are above every threshold too.
    reg [14:0] s0_queue_length;

    always @(posedge clk) begin
        s0_queue_length <= in_queue_length[31:15] != 0 ? {15{1'b1}} : in_queue_length[14:0];
    end

    // occupancy, saturated at 1048575: larger values are above every threshold too.
    reg [19:0] s0_occupancy, s1_occupancy;

    always @(posedge clk) begin
        s0_occupancy <= in_occupancy[31:20] != 0 ? {20{1'b1}} : in_occupancy[19:0];
        s1_occupancy <= s0_occupancy;
    end

    // Tree 0. tree0_sN: the path of the row in stage N, 1 for right.
    reg [0:0] tree0_s1;
    reg [1:0] tree0_s2;
    reg [7:0] tree0_weight;

    always @(posedge clk) tree0_s1 <= s0_queue_length > 15'd30000;

    reg [19:0] tree0_x1, tree0_t1;

    always @* begin
        case (tree0_s1)
            1'd0: begin tree0_x1 = 20'd0; tree0_t1 = {20{1'b1}}; end
            default: begin tree0_x1 = s1_occupancy; tree0_t1 = 20'd900000; end
        endcase
    end

    always @(posedge clk) tree0_s2 <= {tree0_s1, tree0_x1 > tree0_t1};

    always @(posedge clk) begin
        case (tree0_s2)
            2'd0: tree0_weight <= 8'd2;
            2'd1: tree0_weight <= 8'd2;
            2'd2: tree0_weight <= 8'd40;
            default: tree0_weight <= 8'd230;
        endcase
    end

    // Tree 1. tree1_sN: the path of the row in stage N, 1 for right.
    reg [0:0] tree1_s1;
    reg [1:0] tree1_s2;
    reg [7:0] tree1_weight;

    always @(posedge clk) tree1_s1 <= s0_occupancy > 20'd700000;

    always @(posedge clk) tree1_s2 <= {tree1_s1, 1'b0};

    always @(posedge clk) begin
        case (tree1_s2)
            2'd0: tree1_weight <= 8'd5;
            2'd1: tree1_weight <= 8'd5;
            2'd2: tree1_weight <= 8'd120;
            default: tree1_weight <= 8'd120;
        endcase
    end

    // The sum of the weights.
    reg [8:0] sum1_0;

    always @(posedge clk) begin
        sum1_0 <= {1'b0, tree0_weight} + {1'b0, tree1_weight};
    end

    // A tie accepts.
    always @(posedge clk) begin
        score <= sum1_0;
        drop  <= sum1_0 > VOTE_THRESHOLD;
    end

endmodule

`default_nettype wire
