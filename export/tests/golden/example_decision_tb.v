// example_decision_tb.v
//
// Written by dropcast 0.1.0 from model "example",
// SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
// 2 trees of depth 2 on 2 features.
//
// Testbench: passes arrivals and departures to the decision, and writes its verdicts. dropcast_decision_tb.v
// says from which file, and to which.

`default_nettype none

module example_decision_tb #(
    // Packets that virtual LQD can hold.
    parameter [31:0] PACKETS = 32'd15625
);

    wire        clk, rst, refused, ready, arrival, departure, fall_back, decided;
    wire [15:0] port;
    wire [7:0]  queue;
    wire [31:0] size_bytes, unheld;
    wire [63:0] now_ns;
    wire [2:0]  verdict;
    wire [24:0] precision;

    example_decision #(.PACKETS(PACKETS)) decision (
        .clk(clk),
        .rst(rst),
        .refused(refused),
        .ready(ready),
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
        .unheld(unheld)
    );

    dropcast_decision_tb calls (
        .clk(clk),
        .rst(rst),
        .refused(refused),
        .ready(ready),
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
        .unheld(unheld)
    );

endmodule

`default_nettype wire
