// example_level.v
//
// Written by dropcast 0.1.0 from model "example",
// SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
// 1 tree of depth 2 on 6 features.
// Time constant of moving averages, the base RTT: 8000 ns.
//
// dropcast_level.v with the model's time constant: see there. Needs dropcast_average.v, too.

`default_nettype none

module example_level #(
    // Time constant of the moving average, ns.
    parameter [31:0] TAU_NS = 32'd8000
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
