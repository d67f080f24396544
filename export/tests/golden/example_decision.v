// example_decision.v
//
// Written by dropcast 0.1.0 from model "example",
// SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
// 2 trees of depth 2 on 2 features.
//
// Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1): virtual LQD at line
// rate, thresholds, safeguard, features and prediction, and the precision of predictions. While ready,
// tell it of an arrival or a departure; decided is 1 when the verdict about an arrival is there. If the
// verdict accepts (SAFEGUARDED, ACCEPTED), the packet is counted in its queue. Time must not go back.
// After rst, it clears one queue for each clock before it is ready.
//
// A queue may exceed its threshold by 0 bytes, as reports replay it: slack_bytes of the switch's description.
//
// Needs the modules of the forest, and of averages if there are any, in the files beside. docs/verilog.md
// says how many clocks it takes.

`default_nettype none

/* verilator lint_off UNUSEDSIGNAL */

module example_decision #(
    // The constants of the switch that this module is in: refused is 1 if it was made for another one.
    parameter [31:0] SWITCH_PORTS = 32'd4,
    parameter [31:0] QUEUES_PER_PORT = 32'd1,
    parameter [31:0] SWITCH_BUFFER_BYTES = 32'd1000000,
    parameter [63:0] SWITCH_BASE_RTT_NS = 64'd8000,
    // Port 0 in the lowest 64 bits.
    parameter [64*4-1:0] LINE_RATE_BPS = {64'd10000000000, 64'd10000000000, 64'd10000000000, 64'd10000000000},
    // Packets that virtual LQD can hold at once; unheld counts those that found no place. The default is
    // enough for packets of 64 bytes and more; at most 32767.
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
    output reg         decided,
    output reg  [2:0]  verdict,
    // The share of the last predicted drops that virtual LQD confirmed, in units of 2^-24.
    output reg  [24:0] precision,
    output reg  [31:0] unheld
);

    localparam [2:0] SAFEGUARDED     = 3'd0;
    localparam [2:0] ACCEPTED        = 3'd1;
    localparam [2:0] NO_ROOM         = 3'd2;
    localparam [2:0] ABOVE_THRESHOLD = 3'd3;
    localparam [2:0] PREDICTED_DROP  = 3'd4;

    localparam [31:0] BUFFER_BYTES = 32'd1000000;
    // B/N, rounded up.
    localparam [31:0] LONG_BYTES   = 32'd250000;
    localparam [1:0] LAST_PORT = 2'd3;
    localparam [1:0] LAST_QUEUE = 2'd3;
    localparam [63:0] NEVER = 64'hffffffffffffffff;
    localparam [14:0] NOWHERE = {15{1'b1}};

    assign refused = SWITCH_PORTS != 32'd4 || QUEUES_PER_PORT != 32'd1
        || SWITCH_BUFFER_BYTES != 32'd1000000 || SWITCH_BASE_RTT_NS != 64'd8000
        || LINE_RATE_BPS != {64'd10000000000, 64'd10000000000, 64'd10000000000, 64'd10000000000} || PACKETS > 32'd32767;

    localparam [5:0] CLEAR    = 6'd0;
    localparam [5:0] IDLE     = 6'd1;
    localparam [5:0] EARLIEST = 6'd2;
    localparam [5:0] SERVE    = 6'd3;
    localparam [5:0] PICK     = 6'd4;
    localparam [5:0] READ     = 6'd5;
    localparam [5:0] WIRE     = 6'd6;
    localparam [5:0] TAKE     = 6'd7;
    localparam [5:0] CHANGE   = 6'd8;
    localparam [5:0] ADVANCED = 6'd10;
    localparam [5:0] ASK      = 6'd12;
    localparam [5:0] ANSWER   = 6'd13;
    localparam [5:0] ADMIT    = 6'd14;
    localparam [5:0] LONGEST  = 6'd15;
    localparam [5:0] VICTIM   = 6'd16;
    localparam [5:0] SPARE    = 6'd17;
    localparam [5:0] PUT      = 6'd18;
    localparam [5:0] DECIDE   = 6'd19;
    localparam [5:0] SETTLE   = 6'd20;

    reg [5:0] state;
    // Where a removed packet's queue has changed: EARLIEST or ADMIT; after the arriving one's: DECIDE.
    reg [5:0] then;
    assign ready = state == IDLE && !refused;

    // The request.
    reg               is_arrival;
    reg [1:0] own_port;
    reg [1:0] own;
    reg [31:0]        own_bytes;
    reg [63:0]        clock_ns;
    wire              exists = port < 16'd4 && queue < 8'd1;
    wire [23:0]       place_of = {8'd0, port} * 24'd1 + {16'd0, queue};

    // Virtual LQD: its queues, which are the thresholds, with the ends of their lists; its packets, whose
    // highest bit of size is 1 if the drop was predicted; its ports.
    reg [31:0]         bytes [0:3];
    reg [14:0] head [0:3];
    reg [14:0] tail [0:3];
    reg [31:0]         sizes [0:PACKETS-1];
    reg [14:0] nexts [0:PACKETS-1];
    reg [14:0] previouses [0:PACKETS-1];
    reg [63:0]         due_ns [0:3];
    reg [31:0]         buffer_bytes;
    reg [14:0] spare;
    reg [31:0]         fresh;
    // No port is due before this.
    reg [63:0]         next_due_ns;
    // The switch's own queues. Those of B/N bytes or more are counted.
    reg [31:0]         real_bytes [0:3];
    reg [31:0]         occupancy_bytes;
    reg [2:0] long_queues;

    // Whether predictions are followed by their precision.
    reg is_trusted;

    // A packet's memory, one clock after its place.
    reg  [14:0] place;
    reg  [31:0]         read_size;
    reg  [14:0] read_next, read_previous;
    wire [31:0]         packet_bytes = {1'b0, read_size[30:0]};

    // Writes to the packets' memory.
    reg                 writes_size, writes_next, writes_previous;
    reg  [14:0] size_place, next_place, previous_place;
    reg  [31:0]         new_size;
    reg  [14:0] new_next, new_previous;

    // A place has a bit more than PACKETS need: NOWHERE.
    /* verilator lint_off WIDTH */
    always @(posedge clk) begin
        read_size <= sizes[place];
        read_next <= nexts[place];
        read_previous <= previouses[place];
        if (writes_size)
            sizes[size_place] <= new_size;
        if (writes_next)
            nexts[next_place] <= new_next;
        if (writes_previous)
            previouses[previous_place] <= new_previous;
    end
    /* verilator lint_on WIDTH */

    // Scans.
    reg [1:0]  at_port, first_port;
    reg [1:0] at;
    reg [63:0]         first_ns;
    reg [1:0] longest;
    reg [31:0]         longest_bytes;

    // The queue that changes, when, by a packet of how many bytes, at which place.
    reg [1:0] changed;
    reg [63:0]         time_ns;
    reg [31:0]         arrived_bytes;
    reg                added;
    reg                waited;

    // A division: one bit for each clock.
    reg  [21:0] dividend;
    reg  [63:0]          rest;
    reg  [63:0]          divisor;
    reg  [21:0] quotient;
    reg  [6:0]           bits_left;
    wire [63:0]          twice_rest = {rest[62:0], dividend[21]};
    wire                 goes_in = twice_rest >= divisor;

    // The decision.
    wire [32:0] occupancy_after = {1'b0, occupancy_bytes} + {1'b0, own_bytes};
    wire        fits = occupancy_after <= {1'b0, BUFFER_BYTES};
    wire        safeguarded = long_queues == 0;
    wire [32:0] buffer_after = {1'b0, buffer_bytes} + {1'b0, own_bytes};
    wire        virtually_fits = buffer_after <= {1'b0, BUFFER_BYTES};
    wire [32:0] own_after = {1'b0, real_bytes[own]} + {1'b0, own_bytes};
    wire [32:0] most_bytes_of_own = {1'b0, bytes[own]} + {1'b0, SLACK_BYTES};
    wire        is_above = own_after > most_bytes_of_own;
    reg         predicted;
    wire        predicts;
    wire        answers;
    wire [24:0] decayed = precision - (precision >> 6);
    wire        still_trusted = is_trusted && decayed >= 25'd13421772;
    wire [24:0] raised = precision >= 25'd16777216 - 25'd262144 ? 25'd16777216 : precision + 25'd262144;
    wire [24:0] decayed_raised = decayed >= 25'd16777216 - 25'd262144 ? 25'd16777216 : decayed + 25'd262144;
    wire        is_followed = still_trusted || !fall_back;

    // A departure.
    wire [31:0] left_bytes = own_bytes < real_bytes[own] ? own_bytes : real_bytes[own];
    wire [31:0] remaining = real_bytes[own] - left_bytes;

    // The time on the wire of a packet is a quotient.
    function [21:0] wire_dividend;
        input [1:0] of;
        input [31:0] size;
        reg   [63:0] full;
        begin
            full = ({32'd0, size} + 64'd0) * 64'd4 + 64'd4;
            wire_dividend = full[21:0];
        end
    endfunction

    function [63:0] wire_divisor;
        input [1:0] of;
        wire_divisor = 64'd5;
    endfunction

    // The first queue of a port.
    function [1:0] first_queue;
        input [1:0] of;
        reg   [31:0] full;
        begin
            full = {30'd0, of} * 32'd1;
            first_queue = full[1:0];
        end
    endfunction
    // Whether packets may be pushed out of a queue.
    function is_pushable;
        input [1:0] of;
        reg   [3:0] mask;
        begin
            mask = 4'b1111;
            is_pushable = mask[of];
        end
    endfunction
    // The features.
    wire [31:0] row_queue_length = bytes[own];
    wire [31:0] row_occupancy = buffer_bytes;
    always @(posedge clk) begin
        decided <= 1'b0;
        writes_size <= 1'b0;
        writes_next <= 1'b0;
        writes_previous <= 1'b0;
        case (state)
            CLEAR: begin
                bytes[at] <= 32'd0;
                real_bytes[at] <= 32'd0;
                due_ns[at_port] <= NEVER;
                at_port <= at_port == LAST_PORT ? LAST_PORT : at_port + 2'd1;
                at <= at == LAST_QUEUE ? LAST_QUEUE : at + 2'd1;
                if (at == LAST_QUEUE)
                    state <= IDLE;
            end
            IDLE: begin
                is_arrival <= arrival;
                own_port <= port[1:0];
                own <= place_of[1:0];
                own_bytes <= size_bytes;
                clock_ns <= now_ns > clock_ns ? now_ns : clock_ns;
                predicted <= 1'b0;
                at_port <= 2'd0;
                first_port <= 2'd0;
                first_ns <= NEVER;
                if (!refused && (arrival || departure)) begin
                    if (exists && (size_bytes != 32'd0 || departure))
                        state <= next_due_ns > now_ns ? ADVANCED : EARLIEST;
                    else if (arrival) begin
                        decided <= 1'b1;
                        verdict <= NO_ROOM;
                    end
                end
            end
            // The port that is due first, the lowest of those.
            EARLIEST: begin
                if (due_ns[at_port] < first_ns) begin
                    first_ns <= due_ns[at_port];
                    first_port <= at_port;
                end
                at_port <= at_port + 2'd1;
                if (at_port == LAST_PORT)
                    state <= SERVE;
            end
            SERVE: begin
                next_due_ns <= first_ns;
                at_port <= 2'd0;
                at <= first_queue(first_port);
                time_ns <= first_ns;
                first_ns <= NEVER;
                state <= first_ns > clock_ns || first_ns == NEVER ? ADVANCED : PICK;
            end
            // The port's queue.
            PICK: begin
                then <= EARLIEST;
                waited <= 1'b0;
                changed <= at;
                place <= head[at];
                if (bytes[at] == 32'd0) begin
                    due_ns[first_port] <= NEVER;
                    state <= EARLIEST;
                end else
                    state <= READ;
            end
            // The packet's memory is read.
            READ: begin
                waited <= 1'b1;
                if (waited) begin
                    waited <= 1'b0;
                    state <= TAKE;
                    if (then == EARLIEST) begin
                        dividend <= wire_dividend(first_port, packet_bytes);
                        divisor <= wire_divisor(first_port);
                        rest <= 64'd0;
                        bits_left <= 7'd22;
                        state <= WIRE;
                    end
                end
            end
            // The time on the wire: when the port is due next.
            WIRE: begin
                if (bits_left == 7'd0) begin
                    due_ns[first_port] <= time_ns + {42'd0, quotient};
                    state <= TAKE;
                end
            end
            // The packet at place leaves virtual LQD's queue changed.
            TAKE: begin
                if (place == tail[changed])
                    tail[changed] <= read_previous;
                if (place == head[changed])
                    head[changed] <= read_next;
                writes_next <= 1'b1;
                next_place <= place;
                new_next <= spare;
                spare <= place;
                bytes[changed] <= bytes[changed] - packet_bytes;
                buffer_bytes <= buffer_bytes - packet_bytes;
                if (then == ADMIT && read_size[31]) begin
                    precision <= raised;
                    is_trusted <= is_trusted || raised >= 25'd14680064;
                end
                arrived_bytes <= 32'd0;
                state <= CHANGE;
            end
            CHANGE: begin
                at_port <= 2'd0;
                state <= then;
            end
            ADVANCED: begin
                time_ns <= clock_ns;
                at <= 2'd0;
                if (!is_arrival) begin
                    real_bytes[own] <= remaining;
                    occupancy_bytes <= occupancy_bytes - left_bytes;
                    if (real_bytes[own] >= LONG_BYTES && remaining < LONG_BYTES)
                        long_queues <= long_queues - 1;
                    state <= IDLE;
                end else if (fits && !safeguarded && {1'b0, real_bytes[own]} <= most_bytes_of_own) begin
                    state <= ASK;
                end else begin
                    state <= ADMIT;
                end
            end
            ASK: state <= ANSWER;
            ANSWER: begin
                if (answers) begin
                    predicted <= predicts;
                    state <= ADMIT;
                end
            end
            // Longest Queue Drop: push out until the packet fits.
            ADMIT: begin
                at <= 2'd0;
                longest_bytes <= 32'd0;
                changed <= own;
                arrived_bytes <= own_bytes;
                then <= DECIDE;
                added <= 1'b0;
                place <= spare;
                if (!virtually_fits)
                    state <= LONGEST;
                else if (spare != NOWHERE)
                    state <= SPARE;
                else if (fresh < PACKETS) begin
                    place <= fresh[14:0];
                    fresh <= fresh + 32'd1;
                    state <= PUT;
                end else begin
                    unheld <= unheld + 32'd1;
                    state <= CHANGE;
                end
            end
            LONGEST: begin
                if (is_pushable(at) && bytes[at] > longest_bytes) begin
                    longest <= at;
                    longest_bytes <= bytes[at];
                end
                at <= at + 2'd1;
                if (at == LAST_QUEUE)
                    state <= VICTIM;
            end
            VICTIM: begin
                if (longest_bytes == 32'd0)
                    state <= CHANGE;
                else begin
                    changed <= longest;
                    place <= tail[longest];
                    then <= ADMIT;
                    waited <= 1'b0;
                    state <= READ;
                end
            end
            // A used place: the next one is read.
            SPARE: begin
                waited <= 1'b1;
                if (waited) begin
                    waited <= 1'b0;
                    spare <= read_next;
                    state <= PUT;
                end
            end
            PUT: begin
                writes_size <= 1'b1;
                size_place <= place;
                new_size <= own_bytes;
                if (bytes[own] == 32'd0)
                    head[own] <= place;
                else begin
                    writes_next <= 1'b1;
                    next_place <= tail[own];
                    new_next <= place;
                    writes_previous <= 1'b1;
                    previous_place <= place;
                    new_previous <= tail[own];
                end
                tail[own] <= place;
                bytes[own] <= bytes[own] + own_bytes;
                buffer_bytes <= buffer_bytes + own_bytes;
                added <= 1'b1;
                if (due_ns[own_port] == NEVER) begin
                    due_ns[own_port] <= clock_ns;
                    next_due_ns <= clock_ns;
                end
                state <= CHANGE;
            end
            // Credence, Algorithm 1.
            DECIDE: begin
                decided <= 1'b1;
                state <= SETTLE;
                if (!fits)
                    verdict <= NO_ROOM;
                else if (safeguarded)
                    verdict <= SAFEGUARDED;
                else if (is_above)
                    verdict <= ABOVE_THRESHOLD;
                else begin
                    verdict <= predicted && is_followed ? PREDICTED_DROP : ACCEPTED;
                    if (predicted) begin
                        // Until virtual LQD confirms it, a prediction counts as wrong.
                        writes_size <= added;
                        size_place <= place;
                        new_size <= {1'b1, own_bytes[30:0]};
                        precision <= added ? decayed : decayed_raised;
                        is_trusted <= still_trusted || (!added && decayed_raised >= 25'd14680064);
                    end
                end
            end
            default: begin
                if (verdict == SAFEGUARDED || verdict == ACCEPTED) begin
                    real_bytes[own] <= own_after[31:0];
                    occupancy_bytes <= occupancy_after[31:0];
                    if (real_bytes[own] < LONG_BYTES && own_after >= {1'b0, LONG_BYTES})
                        long_queues <= long_queues + 1;
                end
                state <= IDLE;
            end
        endcase
        if (bits_left != 7'd0) begin
            dividend <= dividend << 1;
            rest <= goes_in ? twice_rest - divisor : twice_rest;
            quotient <= {quotient[21-1:0], goes_in};
            bits_left <= bits_left - 7'd1;
        end
        if (rst) begin
            state <= CLEAR;
            at <= 2'd0;
            at_port <= 2'd0;
            buffer_bytes <= 32'd0;
            occupancy_bytes <= 32'd0;
            long_queues <= 0;
            spare <= NOWHERE;
            fresh <= 32'd0;
            next_due_ns <= NEVER;
            clock_ns <= 64'd0;
            precision <= 25'd0;
            is_trusted <= 1'b0;
            unheld <= 32'd0;
            bits_left <= 7'd0;
            waited <= 1'b0;
            decided <= 1'b0;
        end
    end

    /* verilator lint_off PINCONNECTEMPTY */
    example_predictor forest (
        .clk(clk),
        .rst(rst),
        .valid_in(state == ASK),
        .in_queue_length(row_queue_length),
        .in_occupancy(row_occupancy),
        .valid_out(answers),
        .score(),
        .drop(predicts)
    );
    /* verilator lint_on PINCONNECTEMPTY */
endmodule

`default_nettype wire
