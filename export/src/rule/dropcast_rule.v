// The untrained rule over Dynamic Thresholds, on a switch's own queues: Verilog-2001, integers only, no vendor primitives.
// docs/rule.md of dropcast says what it does, and what it is worth.
//
// The switch's constants are parameters; dropcast export writes them as a macro:
//
//     `include "dropcast_rule_config.vh"
//     dropcast_rule #(`DROPCAST_RULE_PARAMETERS) rule (.clk(clk), ...);
//
// A call is an arrival or a departure. It takes STEPS + 4 clocks, of which the verdict takes STEPS + 3. A larger STEPS takes
// less logic: a clock of the scan looks at QUEUES / STEPS queues, and finds 32 / STEPS bits of a quotient.
`default_nettype none

module dropcast_rule #(
    parameter PORTS = 4,
    parameter QUEUES_PER_PORT = 1,
    parameter [31:0] BUFFER_BYTES = 32'd60000,
    // Arrivals are counted in a window of this length, half as far as the rule looks ahead.
    parameter [31:0] WINDOW_NS = 32'd6000,
    // The share of predictions that must come true for them to be followed, in 65,536ths.
    parameter [16:0] GATE = 17'd32768,
    // Alpha in 128ths by queue of a port, bytes beside the shared buffer that only a queue may use (all ones: it does not draw
    // on that), and bytes that a port sends until the horizon: number 0 in the lowest 32 bits.
    parameter [32*QUEUES_PER_PORT-1:0] ALPHA_128 = {QUEUES_PER_PORT{32'd2048}},
    parameter [32*QUEUES_PER_PORT-1:0] RESERVED_BYTES = {QUEUES_PER_PORT{32'd0}},
    parameter [32*PORTS-1:0] DRAIN_BYTES = {PORTS{32'd15000}},
    // 2 to 32.
    parameter STEPS = 6,
    // Of a packet's size.
    parameter SIZE_BITS = 16
) (
    input  wire                 clk,
    // Synchronous: empties the switch.
    input  wire                 rst,
    output wire                 ready,
    // With ready: a packet arrives, or one that was accepted leaves its queue. Not both.
    input  wire                 arrival,
    input  wire                 departure,
    /* verilator lint_off UNUSEDSIGNAL */
    /* verilator lint_off SYMRSVDWORD */
    input  wire [15:0]          port,
    input  wire [7:0]           queue,
    /* verilator lint_on SYMRSVDWORD */
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [SIZE_BITS-1:0] size_bytes,
    // Never falls.
    input  wire [63:0]          now_ns,
    // For one clock: the verdict about the last arrival is there; it stays until the next.
    output reg                  decided,
    output reg                  accepted
);

    function integer bits_of;
        input [31:0] most;
        reg [31:0] rest;
        begin
            bits_of = 1;
            for (rest = most >> 1; rest > 0; rest = rest >> 1)
                bits_of = bits_of + 1;
        end
    endfunction

    localparam QUEUES = PORTS * QUEUES_PER_PORT;
    // Queues that a step of the scan looks at, and bits of the quotient that it finds.
    localparam LANES  = (QUEUES + STEPS - 1) / STEPS;
    localparam DIGITS = (32 + STEPS - 1) / STEPS;
    localparam PADDED = DIGITS * STEPS;

    // Bits of a queue's number, of a port's, of a class's, of a step's and of bytes in the buffer.
    localparam Q = bits_of(QUEUES - 1);
    localparam P = bits_of(PORTS - 1);
    localparam C = bits_of(QUEUES_PER_PORT - 1);
    localparam S = bits_of(STEPS - 1);
    localparam B = bits_of(BUFFER_BYTES);
    localparam L = bits_of(LANES - 1);
    // Of bytes in the buffer and a packet more; of the level; of the window.
    localparam A = (B > SIZE_BITS ? B : SIZE_BITS) + 2;
    localparam V = B + bits_of(QUEUES);
    localparam W = bits_of(WINDOW_NS);

    localparam [B-1:0] BUFFER = BUFFER_BYTES[B-1:0];
    // B/N, rounded up.
    localparam [31:0]  N      = PORTS;
    localparam [31:0]  LONG   = BUFFER_BYTES / N + (BUFFER_BYTES % N == 32'd0 ? 32'd0 : 32'd1);
    localparam [W-1:0] WINDOW = WINDOW_NS[W-1:0];

    localparam [2:0] CLEAR = 3'd0, IDLE = 3'd1, LOOK = 3'd2, SCAN = 3'd3, VERDICT = 3'd4, STORE = 3'd5;

    reg [2:0] state;
    assign ready = state == IDLE;

    // The call.
    reg                 is_arrival;
    reg [P-1:0]         own_port;
    reg [C-1:0]         own_class;
    reg [Q-1:0]         own;
    reg [SIZE_BITS-1:0] own_size;
    reg [63:0]          own_ns;

    // A queue: what it holds of the shared buffer, what arrived lately, when its last event was, and its dropped packets that count as held. What
    // it is expected to hold is below.
    reg [B-1:0]      lengths  [0:QUEUES-1];
    reg [31:0]       recents  [0:QUEUES-1];
    reg [63:0]       updates  [0:QUEUES-1];
    reg [B-1:0]      phantoms [0:QUEUES-1];
    // Whether a prediction for the queue waits.
    reg [QUEUES-1:0] waits;

    // The switch.
    reg [B-1:0] occupancy;
    reg [B-1:0] phantom_bytes;
    reg [Q:0]   long_queues;
    // The share of predictions that came true, in 65,536ths.
    reg [16:0]  share;

    // The own queue, read.
    reg [B-1:0] length;
    reg [B-1:0] phantom;
    reg         is_below;
    reg         fits;

    // The scan.
    reg [S-1:0] step;
    reg [V-1:0] level;
    reg [Q-1:0] clearing;

    // The new state of the own queue.
    reg [B-1:0] new_length;
    reg [31:0]  new_recent;

    /* verilator lint_off UNUSEDSIGNAL */
    wire [31:0] number = {16'd0, port} * QUEUES_PER_PORT + {24'd0, queue};
    /* verilator lint_on UNUSEDSIGNAL */

    // What the packet adds to the shared buffer, and then takes from it.
    wire [SIZE_BITS-1:0] part;
    reg  [SIZE_BITS-1:0] own_part;
    wire [A-1:0] with_packet   = {{(A-B){1'b0}}, occupancy} + {{(A-SIZE_BITS){1'b0}}, part};
    wire [A-1:0] with_phantoms = with_packet + {{(A-B){1'b0}}, phantom_bytes};
    wire [A-1:0] capacity      = {{(A-B){1'b0}}, BUFFER};
    // The buffer overflows with the packets that were dropped on predictions: they came true.
    wire         confirmed     = waits != {QUEUES{1'b0}} && with_phantoms > capacity && part != {SIZE_BITS{1'b0}};

    // Dynamic Thresholds: 128 q < alpha_128 (B - Q).
    wire [B-1:0]               free_bytes = BUFFER - occupancy;
    wire [B-1:0]               own_length = lengths[own];
    wire [QUEUES_PER_PORT-1:0] below;
    genvar alpha;
    generate
        for (alpha = 0; alpha < QUEUES_PER_PORT; alpha = alpha + 1) begin : thresholds
            wire [B+31:0] limit = {32'd0, free_bytes} * {{B{1'b0}}, ALPHA_128[32*alpha +: 32]};
            assign below[alpha] = {25'd0, own_length, 7'd0} < limit;
        end
    endgenerate

    // What each queue is expected to hold at the horizon, at most the buffer, in as many banks as a step looks at: the queue
    // at + STEPS * lane. Each is cut down to the own queue's length; their sum is the level.
    reg  [S-1:0]       own_at;
    reg  [L-1:0]       own_lane;
    wire [B-1:0]       new_expected;
    wire [B*LANES-1:0] cuts;
    genvar lane;
    generate
        for (lane = 0; lane < LANES; lane = lane + 1) begin : lanes
            localparam [31:0] LANE = lane;
            reg  [B-1:0] expected [0:STEPS-1];
            wire [B-1:0] read = expected[step];
            assign cuts[B*lane +: B] = read < length ? read : length;
            always @(posedge clk)
                if (state == CLEAR || (state == STORE && own_lane == LANE[L-1:0]))
                    expected[state == CLEAR ? step : own_at] <= state == CLEAR ? {B{1'b0}} : new_expected;
        end
    endgenerate
    integer of_lane;
    reg [V-1:0] next_level;
    always @* begin
        next_level = level;
        for (of_lane = 0; of_lane < LANES; of_lane = of_lane + 1)
            next_level = next_level + {{(V-B){1'b0}}, cuts[B*of_lane +: B]};
    end

    // Of what arrived lately, recent * since / window is forgotten. The quotient is found from the highest bit of recent on,
    // DIGITS of them in a step. A digit is 0, 1 or 2, as the rest and since are below the window.
    reg  [31:0]       recent;
    reg  [W-1:0]      since;
    reg               is_expired;
    reg  [PADDED-1:0] dividend;
    reg  [W-1:0]      rest;
    reg  [31:0]       quotient;
    wire [63:0]       elapsed = own_ns - updates[own];
    wire [31:0]       own_recent = recents[own];

    localparam [W+1:0] ONCE  = {2'd0, WINDOW};
    localparam [W+1:0] TWICE = {1'b0, WINDOW, 1'b0};
    integer digit;
    reg [W+1:0]    next_rest;
    reg [DIGITS:0] digits;
    always @* begin
        next_rest = {2'd0, rest};
        digits = {(DIGITS+1){1'b0}};
        for (digit = 1; digit <= DIGITS; digit = digit + 1) begin
            next_rest = {next_rest[W:0], 1'b0} + (dividend[PADDED-digit] ? {2'd0, since} : {(W+2){1'b0}});
            if (next_rest >= TWICE) begin
                next_rest = next_rest - TWICE;
                digits = {digits[DIGITS-1:0] + 1'b1, 1'b0};
            end else if (next_rest >= ONCE) begin
                next_rest = next_rest - ONCE;
                digits = {digits[DIGITS-1:0], 1'b1};
            end else
                digits = {digits[DIGITS-1:0], 1'b0};
        end
    end
    wire [31:0] kept  = is_expired ? 32'd0 : recent - quotient;
    wire [32:0] grown = {1'b0, kept} + (is_arrival ? {{(33-SIZE_BITS){1'b0}}, own_size} : 33'd0);

    // The own queue at the horizon.
    wire [34:0] coming = {3'd0, {(32-B){1'b0}}, new_length} + {2'd0, new_recent, 1'b0};
    wire [34:0] drain  = {3'd0, DRAIN_BYTES[32*own_port +: 32]};
    wire [34:0] ahead  = coming - drain;
    assign new_expected = new_length == {B{1'b0}} || coming <= drain ? {B{1'b0}}
        : ahead >= {3'd0, BUFFER_BYTES} ? BUFFER : ahead[B-1:0];

    // The verdict.
    wire is_beside   = own_part == {SIZE_BITS{1'b0}};
    wire predicted   = is_below && fits && !is_beside && long_queues != {(Q+1){1'b0}} && level >= {{(V-B){1'b0}}, BUFFER};
    /* verilator lint_off UNSIGNED */
    wire is_followed = share >= GATE;
    /* verilator lint_on UNSIGNED */
    wire is_accepted = is_beside || (is_below && fits && !(predicted && is_followed));
    // A departing packet is in its queue, and an accepted one fits the buffer.
    /* verilator lint_off UNUSEDSIGNAL */
    wire [A-1:0] whole = {{(A-SIZE_BITS){1'b0}}, own_part};
    /* verilator lint_on UNUSEDSIGNAL */
    wire [B-1:0] bytes = whole[B-1:0];
    wire was_long = length >= LONG[B-1:0];
    wire is_long  = new_length >= LONG[B-1:0];
    wire nothing_beside;
    wire is_wrong = !is_arrival && new_length == {B{1'b0}} && nothing_beside && waits[own];

    // What a queue holds of the bytes that are reserved for it: these are used first.
    generate
        if (RESERVED_BYTES != {QUEUES_PER_PORT{32'd0}}) begin : reserves
            reg  [31:0] besides [0:QUEUES-1];
            reg  [31:0] beside;
            wire [31:0] own_beside = besides[own];
            wire [31:0] room       = RESERVED_BYTES[32*own_class +: 32] - own_beside;
            wire [31:0] size       = {{(32-SIZE_BITS){1'b0}}, own_size};
            /* verilator lint_off UNUSEDSIGNAL */
            wire [31:0] held       = {{(32-B){1'b0}}, own_length};
            wire [31:0] over       = size - room;
            /* verilator lint_on UNUSEDSIGNAL */
            assign part = !is_arrival ? (size < held ? own_size : held[SIZE_BITS-1:0])
                : size > room ? over[SIZE_BITS-1:0] : {SIZE_BITS{1'b0}};
            wire [31:0] own_rest   = {{(32-SIZE_BITS){1'b0}}, own_size - own_part};
            assign nothing_beside = beside == 32'd0;
            always @(posedge clk) begin
                if (state == LOOK)
                    beside <= own_beside;
                if (state == VERDICT)
                    beside <= !is_arrival ? beside - own_rest : is_accepted ? beside + own_rest : beside;
                if (state == CLEAR || state == STORE)
                    besides[state == CLEAR ? clearing : own] <= state == CLEAR ? 32'd0 : beside;
            end
        end else begin : no_reserves
            assign part = own_size;
            assign nothing_beside = 1'b1;
        end
    endgenerate

    localparam [31:0] LAST_STEP  = STEPS - 1;
    localparam [31:0] LAST_QUEUE = QUEUES - 1;

    always @(posedge clk) begin
        decided <= 1'b0;
        case (state)
            CLEAR: begin
                lengths[clearing] <= {B{1'b0}};
                recents[clearing] <= 32'd0;
                updates[clearing] <= 64'd0;
                if (clearing != LAST_QUEUE[Q-1:0])
                    clearing <= clearing + 1'b1;
                if (step != LAST_STEP[S-1:0])
                    step <= step + 1'b1;
                if (clearing == LAST_QUEUE[Q-1:0] && step == LAST_STEP[S-1:0])
                    state <= IDLE;
            end
            IDLE: begin
                is_arrival <= arrival;
                own_port <= port[P-1:0];
                own_class <= queue[C-1:0];
                own <= number[Q-1:0];
                own_size <= size_bytes;
                own_ns <= now_ns;
                if (arrival || departure)
                    state <= LOOK;
            end
            LOOK: begin
                length <= own_length;
                recent <= own_recent;
                dividend <= {{(PADDED-32){1'b0}}, own_recent};
                since <= elapsed[W-1:0];
                is_expired <= elapsed >= {32'd0, WINDOW_NS};
                rest <= {W{1'b0}};
                quotient <= 32'd0;
                level <= {V{1'b0}};
                step <= {S{1'b0}};
                is_below <= below[own_class];
                own_part <= part;
                fits <= with_packet <= capacity;
                phantom <= waits[own] ? phantoms[own] : {B{1'b0}};
                if (is_arrival && confirmed) begin
                    share <= share + ((17'd65536 - share) >> 4);
                    waits <= {QUEUES{1'b0}};
                    phantom_bytes <= {B{1'b0}};
                    phantom <= {B{1'b0}};
                end
                state <= SCAN;
            end
            SCAN: begin
                level <= next_level;
                rest <= next_rest[W-1:0];
                quotient <= (quotient << DIGITS) + {{(31-DIGITS){1'b0}}, digits};
                dividend <= dividend << DIGITS;
                step <= step + 1'b1;
                if (step == LAST_STEP[S-1:0])
                    state <= VERDICT;
            end
            VERDICT: begin
                new_recent <= grown[32] ? 32'hffffffff : grown[31:0];
                new_length <= length;
                if (is_arrival) begin
                    decided <= 1'b1;
                    accepted <= is_accepted;
                    if (is_accepted) begin
                        new_length <= length + bytes;
                        occupancy <= occupancy + bytes;
                    end
                    if (predicted) begin
                        waits[own] <= 1'b1;
                        phantoms[own] <= is_followed ? phantom + bytes : phantom;
                        if (is_followed)
                            phantom_bytes <= phantom_bytes + bytes;
                    end
                end else begin
                    new_length <= length - bytes;
                    occupancy <= occupancy - bytes;
                end
                state <= STORE;
            end
            default: begin
                lengths[own] <= new_length;
                recents[own] <= new_recent;
                updates[own] <= own_ns;
                long_queues <= long_queues - {{Q{1'b0}}, was_long} + {{Q{1'b0}}, is_long};
                if (is_wrong) begin
                    share <= share - (share >> 4);
                    waits[own] <= 1'b0;
                    phantom_bytes <= phantom_bytes - phantom;
                end
                state <= IDLE;
            end
        endcase
        if (rst) begin
            state <= CLEAR;
            clearing <= {Q{1'b0}};
            step <= {S{1'b0}};
            occupancy <= {B{1'b0}};
            phantom_bytes <= {B{1'b0}};
            long_queues <= {(Q+1){1'b0}};
            waits <= {QUEUES{1'b0}};
            share <= 17'd0;
        end
    end

    // The place of the own queue.
    integer at_lane;
    always @* begin
        own_at = {S{1'b0}};
        own_lane = {L{1'b0}};
        for (at_lane = 0; at_lane < LANES; at_lane = at_lane + 1)
            if ({{(32-Q){1'b0}}, own} >= at_lane * STEPS && {{(32-Q){1'b0}}, own} < (at_lane + 1) * STEPS) begin
                own_lane = at_lane[L-1:0];
                own_at = own_offset(own, at_lane);
            end
    end

    function [S-1:0] own_offset;
        input [Q-1:0] of;
        input integer in_lane;
        /* verilator lint_off UNUSEDSIGNAL */
        reg [31:0] offset;
        /* verilator lint_on UNUSEDSIGNAL */
        begin
            offset = {{(32-Q){1'b0}}, of} - in_lane * STEPS;
            own_offset = offset[S-1:0];
        end
    endfunction

endmodule

`default_nettype wire
