// example_decision.v
//
// Written by dropcast 0.1.0 from model "example",
// SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
// 2 trees of depth 2 on 2 features.
//
// Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1) with this model, in one
// switch: dropcast_decision.v, which says what it does, and the forest. Needs that file, the forest's, and
// dropcast_average.v if there are moving averages.
//
// A queue may exceed its threshold by 0 bytes, as reports replay it: slack_bytes of the switch's description.

`default_nettype none

module example_decision #(
    // The constants of the switch that this module is in: refused is 1 if it was made for another one.
    parameter [31:0] SWITCH_PORTS = 32'd4,
    parameter [31:0] QUEUES_PER_PORT = 32'd1,
    parameter [31:0] SWITCH_BUFFER_BYTES = 32'd1000000,
    parameter [63:0] SWITCH_BASE_RTT_NS = 64'd8000,
    // Port 0 in the lowest 64 bits.
    parameter [64*4-1:0] LINE_RATE_BPS = {4{64'd10000000000}},
    // Packets that virtual LQD can hold at once; unheld counts those that found no place. The default is
    // enough for packets of 64 bytes and more.
    parameter [31:0] PACKETS = 32'd15625,
    // How much longer than its threshold a queue may become: slack_bytes of the switch's description, which
    // reports replay.
    parameter [31:0] SLACK_BYTES = 32'd0
) (
    input  wire        clk,
    input  wire        rst,
    output wire        refused,
    output wire        ready,
    // With ready: a packet arrives, or one that was accepted leaves its queue. Not both.
    input  wire        arrival,
    input  wire        departure,
    input  wire [15:0] port,
    /* verilator lint_off SYMRSVDWORD */
    input  wire [7:0]  queue,
    /* verilator lint_on SYMRSVDWORD */
    input  wire [31:0] size_bytes,
    input  wire [63:0] now_ns,
    // Ignore predictions while their precision is too low.
    input  wire        fall_back,
    // For one clock: the verdict about the last arrival is there; it stays until the next.
    output wire        decided,
    output wire [2:0]  verdict,
    // The share of the last predicted drops that virtual LQD confirmed, in units of 2^-24.
    output wire [24:0] precision,
    output wire [31:0] unheld
);

    assign refused = SWITCH_PORTS != 32'd4 || QUEUES_PER_PORT != 32'd1
        || SWITCH_BUFFER_BYTES != 32'd1000000 || SWITCH_BASE_RTT_NS != 64'd8000
        || LINE_RATE_BPS != {4{64'd10000000000}};

    wire idle, asks, answers, predicts;
    assign ready = idle && !refused;
    wire [31:0] row_queue_length;
    wire [31:0] row_occupancy;

    // Rows of features that the model does not use are left open.
    /* verilator lint_off PINMISSING */
    dropcast_decision #(
        .PORTS(4),
        .QUEUES_PER_PORT(1),
        .BUFFER_BYTES(32'd1000000),
        .NS_NUMERATOR({4{64'd4}}),
        .NS_DENOMINATOR({4{64'd5}}),
        .DRAIN_BYTES({4{64'd20000}}),
        .OVERHEAD_BYTES(32'd0),
        .SCHEDULER(0),
        .PUSHABLE(1'b1),
        .RING_PACKETS(32'd0),
        .PACKETS(PACKETS),
        .SLACK_BYTES(SLACK_BYTES),
        .WINDOW_NS(64'd1000),
        .TAU_NS(32'd8000),
        .DIVIDE_BITS(22),
        .PRECISION_WINDOW_BITS(6),
        .FALL_BELOW(25'd13421772),
        .RECOVER_AT(25'd14680064)
    ) decision (
        .clk(clk),
        .rst(rst || refused),
        .ready(idle),
        .arrival(arrival),
        .departure(departure),
        .port(port),
        .queue(queue),
        .size_bytes(size_bytes),
        .now_ns(now_ns),
        .fall_back(fall_back),
        .decided(decided),
        .verdict(verdict),
        .precision(precision),
        .unheld(unheld),
        .row_queue_length(row_queue_length),
        .row_occupancy(row_occupancy),
        .asks(asks),
        .answers(answers),
        .predicts(predicts)
    );

    example_predictor forest (
        .clk(clk),
        .rst(rst),
        .valid_in(asks),
        .in_queue_length(row_queue_length),
        .in_occupancy(row_occupancy),
        .valid_out(answers),
        .drop(predicts)
    );
    /* verilator lint_on PINMISSING */

endmodule

`default_nettype wire
