// A moving average is updated. It is ns3-trunc of dropcast's docs/features.md, trunc(g * bytes + (1 - g) * average) with
// g = min(elapsed, TAU_NS) / TAU_NS, bit for bit as double precision computes it: in integers, with every step rounded as a double is.
// It takes up to 118 clocks. Simpler averages are faster, but differ. Verilog-2001.
`default_nettype none

module dropcast_average #(
    // Time constant of the moving average, ns.
    parameter [31:0] TAU_NS = 32'd8000
) (
    input  wire        clk,
    input  wire        rst,
    // With ready: elapsed_ns after its last update, an average of bytes is to be updated. The values stay
    // until ready.
    input  wire        start,
    input  wire [31:0] bytes,
    input  wire [31:0] average,
    input  wire [63:0] elapsed_ns,
    output wire        ready,
    // With ready: the average, updated.
    output reg  [31:0] updated
);

    localparam [3:0] IDLE       = 4'd0;
    localparam [3:0] SCALE      = 4'd1;
    localparam [3:0] DIVIDE     = 4'd2;
    localparam [3:0] ROUND_GAIN = 4'd3;
    localparam [3:0] SET_KEEP   = 4'd4;
    localparam [3:0] MULTIPLY   = 4'd5;
    localparam [3:0] TRIM       = 4'd6;
    localparam [3:0] ALIGN      = 4'd7;
    localparam [3:0] FINISH     = 4'd8;

    reg [3:0] state;

    assign ready = state == IDLE;

    // g = gain * 2^-(52 + shift): a long division of elapsed_ns by TAU_NS, one bit per clock.
    reg  [32:0] rest;
    reg  [53:0] gain;
    reg  [5:0]  shift;
    reg  [5:0]  bits_left;
    wire [32:0] tau = {1'b0, TAU_NS};
    wire [32:0] twice_rest = {rest[31:0], 1'b0};
    wire        goes_in = twice_rest >= tau;
    wire        gain_up = twice_rest > tau || (twice_rest == tau && gain[0]);

    // 1 - g = keep * 2^-53.
    reg  [53:0] keep;
    wire [5:0]  cut_bits = shift - 6'd1;
    wire [53:0] one = 54'd1 << cut_bits;
    wire [53:0] cut = gain & (one - 54'd1);
    wire [53:0] uncut = gain >> cut_bits;
    wire [54:0] twice_cut = {cut, 1'b0};
    wire        uncut_up = twice_cut > {1'b0, one} || (twice_cut == {1'b0, one} && uncut[0]);

    // A product, trimmed to the 53 bits of double precision, stands for product * 2^-point. The
    // last bit cut off, and whether one before it was 1, decide the rounding.
    reg  [85:0] product;
    reg  [6:0]  point;
    reg         second, last_cut, other_cut;
    wire [53:0] factor = second ? keep : gain;
    wire [31:0] value = second ? average : bytes;
    wire        product_up = last_cut && (other_cut || product[0]);

    // The sum in units of 2^-54; smaller digits cannot matter.
    wire [6:0]  align_bits = point - 7'd20;
    wire [87:0] aligned = {product[53:0], 34'd0} >> align_bits;
    reg  [87:0] sum;
    wire [33:0] whole = sum[87:54];

    // The sum is rounded too: up to the next integer from half a unit in the last place below it.
    wire [53:0] half = 54'd1 << bits_of(whole);
    wire        carry = sum[53:0] >= ~half + 54'd1;

    // The bit length of a number; 0 for 0.
    function [5:0] bits_of;
        input [33:0] number;
        reg   [5:0]  at;
        begin
            bits_of = 6'd0;
            for (at = 6'd0; at < 6'd34; at = at + 6'd1)
                if (number[at])
                    bits_of = at + 6'd1;
        end
    endfunction

    always @(posedge clk) begin
        case (state)
            IDLE: begin
                rest <= {1'b0, elapsed_ns[31:0]};
                shift <= 6'd0;
                if (start) begin
                    updated <= elapsed_ns >= {32'd0, TAU_NS} ? bytes : average;
                    if (elapsed_ns < {32'd0, TAU_NS} && elapsed_ns != 64'd0)
                        state <= SCALE;
                end
            end
            SCALE: begin
                gain <= 54'd1;
                bits_left <= 6'd52;
                if (rest < tau) begin
                    rest <= {rest[31:0], 1'b0};
                    shift <= shift + 6'd1;
                end else begin
                    rest <= rest - tau;
                    state <= DIVIDE;
                end
            end
            DIVIDE: begin
                gain <= {gain[52:0], goes_in};
                rest <= goes_in ? twice_rest - tau : twice_rest;
                bits_left <= bits_left - 6'd1;
                if (bits_left == 6'd1)
                    state <= ROUND_GAIN;
            end
            ROUND_GAIN: begin
                gain <= gain + {53'd0, gain_up};
                state <= SET_KEEP;
            end
            SET_KEEP: begin
                keep <= 54'h20000000000000 - uncut - {53'd0, uncut_up};
                sum <= 88'd0;
                second <= 1'b0;
                state <= MULTIPLY;
            end
            MULTIPLY: begin
                product <= {32'd0, factor} * {54'd0, value};
                point <= second ? 7'd53 : 7'd52 + {1'b0, shift};
                last_cut <= 1'b0;
                other_cut <= 1'b0;
                state <= TRIM;
            end
            TRIM: begin
                if (product[85:60] != 26'd0) begin
                    product <= {8'd0, product[85:8]};
                    point <= point - 7'd8;
                    last_cut <= product[7];
                    other_cut <= other_cut || last_cut || product[6:0] != 7'd0;
                end else if (product[85:53] != 33'd0) begin
                    product <= {1'b0, product[85:1]};
                    point <= point - 7'd1;
                    last_cut <= product[0];
                    other_cut <= other_cut || last_cut;
                end else begin
                    product <= product + {85'd0, product_up};
                    state <= ALIGN;
                end
            end
            ALIGN: begin
                sum <= sum + aligned;
                second <= 1'b1;
                state <= second ? FINISH : MULTIPLY;
            end
            default: begin
                updated <= whole[31:0] + {31'd0, carry};
                state <= IDLE;
            end
        endcase
        if (rst)
            state <= IDLE;
    end

endmodule

`default_nettype wire
