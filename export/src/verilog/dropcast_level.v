// The bytes in a queue, or in the whole shared buffer, with their moving average: one module per queue and one for the buffer. These are
// the queues of push-out Longest Queue Drop, run virtually beside the switch. When a packet is accepted, add its bytes to its queue and to
// the buffer; when it departs or is pushed out, remove them from both. Clocks in which ready is low ignore both; add and remove do not come
// together. A packet's features are bytes and average before it is added, with ready. A removal takes up to 120 clocks. Verilog-2001.
//
// Needs dropcast_average.v.
`default_nettype none

module dropcast_level #(
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
    output reg  [31:0] bytes,
    output reg  [31:0] average
);

    reg [63:0] updated_ns;
    reg [63:0] elapsed_ns;
    // The average is out of date; it is being updated.
    reg        changed, waits;

    wire        averaged;
    wire [31:0] updated;
    wire [31:0] bytes_left = size_bytes < bytes ? bytes - size_bytes : 32'd0;

    assign ready = !changed && !waits;

    always @(posedge clk) begin
        changed <= 1'b0;
        if (ready && add)
            bytes <= bytes + size_bytes;
        else if (ready && remove) begin
            bytes <= bytes_left;
            elapsed_ns <= now_ns > updated_ns ? now_ns - updated_ns : 64'd0;
            updated_ns <= now_ns;
            changed <= 1'b1;
        end
        if (changed)
            waits <= 1'b1;
        if (waits && averaged) begin
            average <= updated;
            waits <= 1'b0;
        end
        if (rst) begin
            changed <= 1'b0;
            waits <= 1'b0;
            bytes <= 32'd0;
            average <= 32'd0;
            updated_ns <= 64'd0;
        end
    end

    dropcast_average #(.TAU_NS(TAU_NS)) arithmetic (
        .clk(clk),
        .rst(rst),
        .start(changed),
        .bytes(bytes),
        .average(average),
        .elapsed_ns(elapsed_ns),
        .ready(averaged),
        .updated(updated)
    );
endmodule

`default_nettype wire
