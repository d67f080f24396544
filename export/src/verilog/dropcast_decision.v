// Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1): virtual LQD at line rate, thresholds, safeguard,
// features and prediction, and the precision of predictions. Verilog-2001, integers only, no vendor primitives.
//
// It does what the exported C does, one step for each clock. While ready, tell it of an arrival or a departure; decided is 1 when the
// verdict about an arrival is there. If the verdict accepts (SAFEGUARDED, ACCEPTED), the packet is counted in its queue. Time must not
// go back. After rst, it clears one queue for each clock before it is ready. docs/verilog.md of dropcast says how many clocks it takes.
//
// The switch's constants and the features that a model uses are parameters; dropcast export writes a module that sets them, and joins
// this one and the model's forest. Moving averages need dropcast_average.v.
`default_nettype none

/* verilator lint_off UNUSEDSIGNAL */

module dropcast_decision #(
    parameter PORTS = 4,
    parameter QUEUES_PER_PORT = 1,
    parameter [31:0] BUFFER_BYTES = 32'd60000,
    // A byte takes a port NS_NUMERATOR / NS_DENOMINATOR ns; a packet takes the time of OVERHEAD_BYTES more. In two base RTTs a port sends
    // DRAIN_BYTES. Port 0 in the lowest 64 bits.
    parameter [64*PORTS-1:0] NS_NUMERATOR = {PORTS{64'd4}},
    parameter [64*PORTS-1:0] NS_DENOMINATOR = {PORTS{64'd5}},
    parameter [64*PORTS-1:0] DRAIN_BYTES = {PORTS{64'd80000}},
    parameter [31:0] OVERHEAD_BYTES = 32'd24,
    // Which queue a port serves next: 0 round robin, 1 the lowest number, 2 deficit round robin with these quanta.
    parameter SCHEDULER = 0,
    // By queue of a port: number 0 in the lowest bits. What only a queue may hold beside the shared buffer, bytes: it uses that first.
    parameter [32*QUEUES_PER_PORT-1:0] QUANTUM_BYTES = {QUEUES_PER_PORT{32'd1500}},
    parameter [32*QUEUES_PER_PORT-1:0] RESERVED_BYTES = {QUEUES_PER_PORT{32'd0}},
    // Whether packets may be pushed out of it.
    parameter [QUEUES_PER_PORT-1:0] PUSHABLE = {QUEUES_PER_PORT{1'b1}},
    // Packets of a port's transmit ring: 0 to 256.
    parameter [31:0] RING_PACKETS = 32'd0,
    // Packets that virtual LQD can hold at once; unheld counts those that found no place.
    parameter [31:0] PACKETS = 32'd938,
    // How much longer than its threshold a queue may become.
    parameter [31:0] SLACK_BYTES = 32'd0,
    // Recent arrivals are counted in a window of this length, an eighth of a base RTT.
    parameter [63:0] WINDOW_NS = 64'd4000,
    /* verilator lint_off UNUSEDPARAM */
    // The time constant of averages, of models whose features have them.
    parameter [31:0] TAU_NS = 32'd32000,
    /* verilator lint_on UNUSEDPARAM */
    // Bits of the largest dividend, 33 to 64 with recent arrivals: of the product of a 32-bit number and the window, and of
    // the time on the wire of the whole buffer, in NS_DENOMINATOR-ths.
    parameter DIVIDE_BITS = 44,
    // The precision of predictions, in units of 2^-24: it follows the last 2^PRECISION_WINDOW_BITS; predictions are ignored below
    // FALL_BELOW, until RECOVER_AT.
    parameter PRECISION_WINDOW_BITS = 6,
    parameter [24:0] FALL_BELOW = 25'd13421772,
    parameter [24:0] RECOVER_AT = 25'd14680064,
    // Which features are kept: the others' rows mean nothing.
    parameter USES_AVG_QUEUE_LENGTH = 0,
    parameter USES_AVG_OCCUPANCY = 0,
    parameter USES_LONGEST_QUEUE = 0,
    parameter USES_LONGEST_GAP = 0,
    parameter USES_RANK = 0,
    parameter USES_PROJECTED_OCCUPANCY = 0,
    parameter USES_LEVEL_OCCUPANCY = 0,
    parameter USES_LEVEL_IN_QUARTER_RTT = 0,
    parameter USES_LEVEL_IN_ONE_RTT = 0,
    parameter USES_LEVEL_IN_TWO_RTTS = 0,
    parameter USES_CLASSED_IN_QUARTER_RTT = 0,
    parameter USES_CUT_IN_QUARTER_RTT = 0
) (
    input  wire        clk,
    input  wire        rst,
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
    output reg  [31:0] unheld,
    // The forest: asks for one clock, with the row; answers for one clock, later, with predicts.
    output wire        asks,
    input  wire        answers,
    input  wire        predicts,
    output wire [31:0] row_queue_length,
    output wire [31:0] row_occupancy,
    output wire [31:0] row_avg_queue_length,
    output wire [31:0] row_avg_occupancy,
    output wire [31:0] row_longest_queue,
    output wire [31:0] row_longest_gap,
    output wire [31:0] row_rank,
    output wire [31:0] row_projected_occupancy,
    output wire [31:0] row_level_occupancy,
    output wire [31:0] row_level_in_quarter_rtt,
    output wire [31:0] row_level_in_one_rtt,
    output wire [31:0] row_level_in_two_rtts,
    output wire [31:0] row_classed_in_quarter_rtt,
    output wire [31:0] row_cut_in_quarter_rtt
);

    // The bits of a number.
    function integer bits_of;
        input [31:0] most;
        reg [31:0] rest_of;
        begin
            bits_of = 1;
            for (rest_of = most >> 1; rest_of > 0; rest_of = rest_of >> 1)
                bits_of = bits_of + 1;
        end
    endfunction

    // Length classes up to that of the buffer.
    function integer classes_of;
        input [31:0] bytes_of;
        reg [31:0] units_of;
        begin
            classes_of = 1;
            for (units_of = bytes_of >> 10; units_of >= 32'd8; units_of = units_of >> 1)
                classes_of = classes_of + 4;
            classes_of = classes_of + units_of;
        end
    endfunction

    localparam [2:0] SAFEGUARDED     = 3'd0;
    localparam [2:0] ACCEPTED        = 3'd1;
    localparam [2:0] NO_ROOM         = 3'd2;
    localparam [2:0] ABOVE_THRESHOLD = 3'd3;
    localparam [2:0] PREDICTED_DROP  = 3'd4;

    localparam QUEUES  = PORTS * QUEUES_PER_PORT;
    localparam CLASSES = classes_of(BUFFER_BYTES);
    // Bits of a port's number, of a queue's, of a queue's of a port, of a packet's place and of a class's number.
    localparam P = bits_of(PORTS - 1);
    localparam Q = bits_of(QUEUES - 1);
    localparam C = bits_of(QUEUES_PER_PORT - 1);
    localparam F = bits_of(PACKETS);
    localparam K = bits_of(CLASSES - 1);

    localparam [31:0] N = PORTS;
    localparam [31:0] PER_PORT = QUEUES_PER_PORT;
    localparam [31:0] TOP_PORT = PORTS - 1;
    localparam [31:0] TOP_QUEUE = QUEUES - 1;
    localparam [31:0] TOP_STEP = QUEUES_PER_PORT - 1;
    localparam [31:0] ALL_CLASSES = CLASSES;
    localparam [31:0] TOP_CLASS = CLASSES - 1;
    localparam [31:0] DIGITS = DIVIDE_BITS;
    localparam [P-1:0] LAST_PORT = TOP_PORT[P-1:0];
    localparam [Q-1:0] LAST_QUEUE = TOP_QUEUE[Q-1:0];
    localparam [7:0] LAST_STEP = TOP_STEP[7:0];
    localparam [6:0] LAST_CLASS = TOP_CLASS[6:0];
    // B/N, rounded up.
    localparam [31:0] LONG_BYTES = BUFFER_BYTES / N + (BUFFER_BYTES % N == 32'd0 ? 32'd0 : 32'd1);
    localparam [63:0] NEVER = 64'hffffffffffffffff;
    localparam [F-1:0] NOWHERE = {F{1'b1}};
    localparam [24:0] ONE = 25'h1000000;
    localparam [24:0] STEP = ONE >> PRECISION_WINDOW_BITS;

    // What the parameters ask for.
    localparam IS_UNIFORM = NS_NUMERATOR == {PORTS{NS_NUMERATOR[63:0]}} && NS_DENOMINATOR == {PORTS{NS_DENOMINATOR[63:0]}}
        && DRAIN_BYTES == {PORTS{DRAIN_BYTES[63:0]}};
    localparam HAS_RESERVES = RESERVED_BYTES != {QUEUES_PER_PORT{32'd0}};
    localparam IS_STRICT = SCHEDULER == 1;
    localparam HAS_DEFICITS = SCHEDULER == 2 && QUEUES_PER_PORT > 1;
    localparam HAS_RING = RING_PACKETS != 32'd0;
    localparam HAS_AVERAGES = USES_AVG_QUEUE_LENGTH != 0 || USES_AVG_OCCUPANCY != 0;
    localparam HAS_CLASSES = USES_CLASSED_IN_QUARTER_RTT != 0 || USES_CUT_IN_QUARTER_RTT != 0;
    localparam HAS_LEVELS = USES_PROJECTED_OCCUPANCY != 0 || USES_LEVEL_IN_QUARTER_RTT != 0 || USES_LEVEL_IN_ONE_RTT != 0
        || USES_LEVEL_IN_TWO_RTTS != 0;
    localparam HAS_ARRIVALS = HAS_LEVELS || HAS_CLASSES;
    localparam HAS_SUMS = HAS_LEVELS || USES_LEVEL_OCCUPANCY != 0 || USES_LONGEST_QUEUE != 0 || USES_LONGEST_GAP != 0
        || USES_RANK != 0;

    localparam [5:0] CLEAR    = 6'd0;
    localparam [5:0] IDLE     = 6'd1;
    localparam [5:0] EARLIEST = 6'd2;
    localparam [5:0] SERVE    = 6'd3;
    localparam [5:0] PICK     = 6'd4;
    localparam [5:0] READ     = 6'd5;
    localparam [5:0] WIRE     = 6'd6;
    localparam [5:0] TAKE     = 6'd7;
    localparam [5:0] CHANGE   = 6'd8;
    localparam [5:0] FORGET   = 6'd9;
    localparam [5:0] ADVANCED = 6'd10;
    localparam [5:0] SCAN     = 6'd11;
    localparam [5:0] ASK      = 6'd12;
    localparam [5:0] ANSWER   = 6'd13;
    localparam [5:0] ADMIT    = 6'd14;
    localparam [5:0] LONGEST  = 6'd15;
    localparam [5:0] VICTIM   = 6'd16;
    localparam [5:0] SPARE    = 6'd17;
    localparam [5:0] PUT      = 6'd18;
    localparam [5:0] DECIDE   = 6'd19;
    localparam [5:0] SETTLE   = 6'd20;
    localparam [5:0] CREDIT   = 6'd21;
    localparam [5:0] AVERAGE  = 6'd22;
    localparam [5:0] AVERAGED = 6'd23;
    localparam [5:0] RECLASS  = 6'd24;
    localparam [5:0] DEPART   = 6'd25;
    localparam [5:0] ENTER    = 6'd26;
    localparam [5:0] LOWER    = 6'd27;
    localparam [5:0] RAISE    = 6'd28;
    localparam [5:0] CLASSIFY = 6'd29;
    localparam [5:0] GATHER   = 6'd30;
    localparam [5:0] WEIGH    = 6'd31;
    localparam [5:0] UP_TO    = 6'd32;

    reg [5:0] state;
    // Where a removed packet's queue has changed: EARLIEST or ADMIT; after the arriving one's: DECIDE.
    reg [5:0] then;
    assign ready = state == IDLE;
    assign asks = state == ASK;

    // After averages; and the first state that computes features.
    wire [5:0] settled = HAS_CLASSES ? RECLASS : then;
    localparam [5:0] OBSERVE_CLASSES = HAS_CLASSES ? CLASSIFY : ASK;
    localparam [5:0] OBSERVE = HAS_SUMS ? SCAN : OBSERVE_CLASSES;

    // The request.
    reg          is_arrival;
    reg [P-1:0]  own_port;
    reg [C-1:0]  own_class;
    reg [Q-1:0]  own;
    reg [31:0]   own_bytes;
    reg [63:0]   clock_ns;
    wire         exists = {16'd0, port} < N && {24'd0, queue} < PER_PORT;
    wire [31:0]  number = {16'd0, port} * PER_PORT + {24'd0, queue};

    // Virtual LQD: its queues, which are the thresholds, with the ends of their lists; its packets, whose
    // highest bit of size is 1 if the drop was predicted; its ports.
    reg [31:0]   bytes [0:QUEUES-1];
    reg [F-1:0]  head [0:QUEUES-1];
    reg [F-1:0]  tail [0:QUEUES-1];
    reg [31:0]   sizes [0:PACKETS-1];
    reg [F-1:0]  nexts [0:PACKETS-1];
    reg [F-1:0]  previouses [0:PACKETS-1];
    reg [63:0]   due_ns [0:PORTS-1];
    reg [31:0]   buffer_bytes;
    reg [F-1:0]  spare;
    reg [31:0]   fresh;
    // No port is due before this.
    reg [63:0]   next_due_ns;
    // Recent arrivals of each queue, and its last event.
    reg [31:0]   recent [0:QUEUES-1];
    reg [63:0]   heard_ns [0:QUEUES-1];
    // The switch's own queues. Those of B/N bytes or more are counted.
    reg [31:0]   real_bytes [0:QUEUES-1];
    reg [31:0]   occupancy_bytes;
    reg [Q:0]    long_queues;
    // What the queues of both hold of the bytes that are reserved for them.
    reg [31:0]   beside_bytes [0:QUEUES-1];
    reg [31:0]   real_beside_bytes [0:QUEUES-1];

    // Whether predictions are followed by their precision.
    reg is_trusted;

    // A packet's memory, one clock after its place.
    reg  [F-1:0] place;
    reg  [31:0]  read_size;
    reg  [F-1:0] read_next, read_previous;
    wire [31:0]  packet_bytes = {1'b0, read_size[30:0]};

    // Writes to the packets' memory.
    reg          writes_size, writes_next, writes_previous;
    reg  [F-1:0] size_place, next_place, previous_place;
    reg  [31:0]  new_size;
    reg  [F-1:0] new_next, new_previous;

    // A place may have a bit more than the memory's addresses: NOWHERE.
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
    reg [P-1:0]  at_port, first_port;
    reg [Q-1:0]  at;
    reg [63:0]   first_ns;
    reg [Q-1:0]  longest;
    reg [31:0]   longest_bytes;

    // The queue that changes, when, by a packet of how many bytes, at which place.
    reg [Q-1:0]  changed;
    reg [63:0]   time_ns;
    reg [31:0]   arrived_bytes;
    reg          added;
    reg          waited;

    // A division: one bit for each clock. The quotient moves into the dividend's place.
    reg  [DIVIDE_BITS-1:0]  dividend;
    reg  [63:0]             rest;
    reg  [63:0]             divisor;
    reg  [6:0]              bits_left;
    wire [63:0]             twice_rest = {rest[62:0], dividend[DIVIDE_BITS-1]};
    wire                    goes_in = twice_rest >= divisor;
    wire [DIVIDE_BITS+63:0] padded = {64'd0, dividend};
    wire [63:0]             quotient = padded[63:0];

    // What the arriving packet adds to the shared buffer, in virtual LQD and in the switch.
    wire [31:0] room_bytes = RESERVED_BYTES[32*own_class +: 32] - beside_bytes[own];
    wire [31:0] real_room_bytes = RESERVED_BYTES[32*own_class +: 32] - real_beside_bytes[own];
    wire [31:0] part_bytes = !HAS_RESERVES ? own_bytes : own_bytes > room_bytes ? own_bytes - room_bytes : 32'd0;
    wire [31:0] real_part_bytes =
        !HAS_RESERVES ? own_bytes : own_bytes > real_room_bytes ? own_bytes - real_room_bytes : 32'd0;
    // What a packet that leaves virtual LQD takes from it.
    wire [31:0] taken_bytes = HAS_RESERVES && packet_bytes > bytes[changed] ? bytes[changed] : packet_bytes;

    // The decision.
    wire [32:0] occupancy_after = {1'b0, occupancy_bytes} + {1'b0, real_part_bytes};
    wire        fits = occupancy_after <= {1'b0, BUFFER_BYTES};
    wire        is_beside = HAS_RESERVES && real_part_bytes == 32'd0;
    wire        safeguarded = long_queues == {(Q+1){1'b0}};
    wire [32:0] buffer_after = {1'b0, buffer_bytes} + {1'b0, part_bytes};
    wire        virtually_fits = buffer_after <= {1'b0, BUFFER_BYTES};
    wire [32:0] own_after = {1'b0, real_bytes[own]} + {1'b0, real_part_bytes};
    wire [32:0] most_bytes_of_own = {1'b0, bytes[own]} + {1'b0, SLACK_BYTES};
    wire        is_above = own_after > most_bytes_of_own;
    reg         predicted;
    wire [24:0] decayed = precision - (precision >> PRECISION_WINDOW_BITS);
    wire        still_trusted = is_trusted && decayed >= FALL_BELOW;
    wire [24:0] raised = precision >= ONE - STEP ? ONE : precision + STEP;
    wire [24:0] decayed_raised = decayed >= ONE - STEP ? ONE : decayed + STEP;
    wire        is_followed = still_trusted || !fall_back;

    // A departure.
    wire [31:0] left_bytes = own_bytes < real_bytes[own] ? own_bytes : real_bytes[own];
    wire [31:0] remaining = real_bytes[own] - left_bytes;
    wire [31:0] left_beside_bytes = own_bytes - left_bytes;

    // A port's number in a table.
    function [63:0] of_port;
        input [64*PORTS-1:0] numbers;
        input [P-1:0] of;
        of_port = IS_UNIFORM ? numbers[63:0] : numbers[64*of +: 64];
    endfunction

    // Bytes that the port of a queue sends in two base RTTs.
    function [63:0] drain_bytes;
        input [Q-1:0] of;
        reg   [31:0] port_of;
        begin
            port_of = {{(32-Q){1'b0}}, of} / PER_PORT;
            drain_bytes = of_port(DRAIN_BYTES, port_of[P-1:0]);
        end
    endfunction

    // The time on the wire of a packet is a quotient.
    function [DIVIDE_BITS-1:0] wire_dividend;
        input [P-1:0] of;
        input [31:0] size;
        reg   [63:0] full;
        begin
            full = ({32'd0, size} + {32'd0, OVERHEAD_BYTES}) * of_port(NS_NUMERATOR, of)
                + of_port(NS_DENOMINATOR, of) - 64'd1;
            wire_dividend = full[DIVIDE_BITS-1:0];
        end
    endfunction

    // Whether packets may be pushed out of a queue.
    localparam [QUEUES-1:0] PUSHABLE_QUEUES = {PORTS{PUSHABLE}};
    function is_pushable;
        input [Q-1:0] of;
        is_pushable = PUSHABLE_QUEUES[of];
    endfunction

    function [31:0] saturated;
        input [32:0] sum;
        saturated = sum[32] ? 32'hffffffff : sum[31:0];
    endfunction

    // What a queue is expected to hold.
    function [63:0] ahead;
        input [31:0] held;
        input [63:0] coming;
        input [63:0] drained;
        reg   [63:0] most;
        begin
            most = {32'd0, held} + coming;
            ahead = held != 32'd0 && most > drained ? most - drained : 64'd0;
        end
    endfunction

    // A row has 32 bits.
    function [31:0] cut_to_row;
        input [63:0] sum;
        cut_to_row = sum[63:32] != 32'd0 ? 32'hffffffff : sum[31:0];
    endfunction

    // Arrivals that are forgotten, in proportion to the time since the last event.
    wire [63:0] elapsed_ns = time_ns > heard_ns[changed] ? time_ns - heard_ns[changed] : 64'd0;
    wire [63:0] forgotten = {32'd0, recent[changed]} * {32'd0, elapsed_ns[31:0]};

    // The queue of the port that is looked at, and how many were. Whose turn it is by port.
    reg  [7:0]   offset, step;
    reg  [7:0]   turn [0:PORTS-1];
    wire [31:0]  full_candidate = {{(32-P){1'b0}}, first_port} * PER_PORT + {24'd0, offset};
    wire [Q-1:0] candidate = full_candidate[Q-1:0];
    wire [7:0]   next_offset = offset == LAST_STEP ? 8'd0 : offset + 8'd1;
    wire         holds = bytes[candidate] != 32'd0 || (HAS_RESERVES && beside_bytes[candidate] != 32'd0);
    wire         own_holds = bytes[own] != 32'd0 || (HAS_RESERVES && beside_bytes[own] != 32'd0);

    // Bytes that each queue may still send, and whether the port's turn got its quantum.
    reg  [39:0]  deficit [0:QUEUES-1];
    reg          credited [0:PORTS-1];
    wire [39:0]  credit =
        deficit[candidate] + (credited[first_port] ? 40'd0 : {8'd0, QUANTUM_BYTES[32*offset[C-1:0] +: 32]});

    // Transmit rings: when the last packet has been sent, and when the last ones began to be.
    localparam RING_PLACES = HAS_RING ? RING_PACKETS : 32'd1;
    localparam [31:0] TOP_PLACE = RING_PLACES - 1;
    reg  [63:0] sent_ns [0:PORTS-1];
    reg  [63:0] begun_ns [0:PORTS*RING_PLACES-1];
    reg  [8:0]  ring_next [0:PORTS-1];
    reg  [8:0]  ring_begun [0:PORTS-1];
    wire [63:0] begins_ns = sent_ns[first_port] > time_ns ? sent_ns[first_port] : time_ns;
    wire [8:0]  ring_after = ring_next[first_port] == TOP_PLACE[8:0] ? 9'd0 : ring_next[first_port] + 9'd1;
    wire [31:0] ring_base = {{(32-P){1'b0}}, first_port} * RING_PLACES;
    wire [31:0] ring_newest = ring_base + {23'd0, ring_next[first_port]};
    wire [31:0] ring_oldest = ring_base + {23'd0, ring_after};
    /* verilator lint_off WIDTH */
    wire [63:0] oldest_ns = RING_PLACES == 1 ? begins_ns : begun_ns[ring_oldest];
    /* verilator lint_on WIDTH */
    wire [8:0]  ring_begun_after = ring_begun[first_port] + 9'd1;
    wire        ring_is_full = {23'd0, ring_begun_after} >= RING_PLACES;

    // Moving averages of each queue and of the buffer, and their last updates.
    reg  [31:0] average [0:QUEUES-1];
    reg  [63:0] updated_ns [0:QUEUES-1];
    reg  [31:0] buffer_average;
    reg  [63:0] buffer_updated_ns;
    reg         of_buffer;
    wire [31:0] averaged_bytes = of_buffer ? buffer_bytes : bytes[changed];
    wire [31:0] old_average = of_buffer ? buffer_average : average[changed];
    wire [63:0] old_ns = of_buffer ? buffer_updated_ns : updated_ns[changed];
    wire [31:0] new_average;
    wire        is_averaged;

    generate
        if (HAS_AVERAGES) begin : averages
            dropcast_average #(.TAU_NS(TAU_NS)) arithmetic (
                .clk(clk),
                .rst(rst),
                .start(state == AVERAGE),
                .bytes(averaged_bytes),
                .average(old_average),
                .elapsed_ns(time_ns > old_ns ? time_ns - old_ns : 64'd0),
                .ready(is_averaged),
                .updated(new_average)
            );
        end else begin : no_averages
            assign new_average = 32'd0;
            assign is_averaged = 1'b1;
        end
    endgenerate

    // Sums over all queues. A level cuts each queue down to the own one's length.
    reg  [63:0] projected_occupancy, level_occupancy, level_in_quarter_rtt, level_in_one_rtt, level_in_two_rtts;
    reg  [31:0] most_bytes, rank;
    wire [63:0] level_bytes = {32'd0, bytes[own]};
    wire [63:0] held_bytes = {32'd0, bytes[at]};
    wire [63:0] ahead_in_quarter_rtt = ahead(bytes[at], {31'd0, recent[at], 1'd0}, drain_bytes(at) >> 3);
    wire [63:0] ahead_in_one_rtt = ahead(bytes[at], {29'd0, recent[at], 3'd0}, drain_bytes(at) >> 1);
    wire [63:0] ahead_in_two_rtts = ahead(bytes[at], {28'd0, recent[at], 4'd0}, drain_bytes(at));

    // Lengths expected in a quarter of a base RTT, at most the buffer, are in classes, four for each octave
    // from 4 KiB on. The cut is the class at whose shortest length the buffer would be full but for a 32nd
    // part if LQD cut every queue down to it; each event of a queue moves it by at most one class.
    reg  [47:0]  class_bytes [0:CLASSES-1];
    reg  [Q:0]   class_queues [0:CLASSES-1];
    reg  [6:0]   class_at, cut;
    reg  [47:0]  below_bytes;
    reg  [Q:0]   above;
    wire [47:0]  at_bytes = class_bytes[class_at[K-1:0]];
    wire [Q:0]   at_queues = class_queues[class_at[K-1:0]];

    // What is expected in the queue that changes, and was before.
    reg  [31:0]  expected_before, expected_after;
    wire [63:0]  expected = ahead(bytes[changed], {31'd0, recent[changed], 1'b0}, drain_bytes(changed) >> 3);
    wire [31:0]  expected_bytes = expected < {32'd0, BUFFER_BYTES} ? expected[31:0] : BUFFER_BYTES;

    // The cut, one class lower or higher.
    localparam [31:0] FULL_BYTES = BUFFER_BYTES - BUFFER_BYTES / 32'd32;
    wire [47:0]  lower_full = below_bytes + {{(47-Q){1'b0}}, above} * {16'd0, shortest_of(cut)};
    wire [47:0]  raised_bytes = below_bytes + at_bytes;
    wire [Q:0]   raised_above = above - at_queues;
    wire [47:0]  raised_full =
        raised_bytes + {{(47-Q){1'b0}}, raised_above} * {16'd0, shortest_of(cut + 7'd1)};

    // A packet's queue, and the queues of its class if they were cut down to its length.
    reg  [6:0]   of_class;
    reg  [47:0]  up_to_bytes;
    wire [47:0]  own_length = {16'd0, bytes[own]};
    wire [47:0]  at_most = {{(47-Q){1'b0}}, at_queues} * own_length;
    // All classes: the shorter ones, and the longer ones cut down.
    reg  [47:0]  shorter_bytes, classed;
    reg  [Q:0]   longer;
    // Those on either side of the cut.
    reg  [47:0]  near_cut, of_class_bytes;
    reg  [Q:0]   of_class_queues;
    wire         is_cut = of_class == cut;
    wire         is_below_cut = of_class + 7'd1 == cut;
    wire [47:0]  near_bytes = is_cut ? below_bytes + up_to_bytes
        : is_below_cut ? below_bytes - of_class_bytes + up_to_bytes : below_bytes;
    wire [Q:0]   near_queues = is_cut ? above - of_class_queues : above;

    // The class of a length.
    function [6:0] length_class;
        input [31:0] length;
        reg   [4:0]  octave;
        reg   [21:0] quarters;
        begin
            length_class = {5'd0, length[11:10]};
            for (octave = 5'd2; octave < 5'd22; octave = octave + 5'd1) begin
                quarters = length[31:10] >> (octave - 5'd2);
                if (length[octave + 5'd10])
                    length_class = {octave - 5'd2, 2'd0} + {4'd0, quarters[2:0]};
            end
        end
    endfunction

    // The shortest length of a class.
    function [31:0] shortest_of;
        input [6:0]  of;
        reg   [21:0] units;
        begin
            units = of < 7'd4 ? {15'd0, of} : {19'd0, 1'b1, of[1:0]} << (of[6:2] - 5'd1);
            shortest_of = {units, 10'd0};
        end
    endfunction

    // The row.
    assign row_queue_length = bytes[own];
    assign row_occupancy = buffer_bytes;
    assign row_avg_queue_length = average[own];
    assign row_avg_occupancy = buffer_average;
    assign row_longest_queue = most_bytes;
    assign row_longest_gap = most_bytes > bytes[own] ? most_bytes - bytes[own] : 32'd0;
    assign row_rank = rank;
    assign row_projected_occupancy = cut_to_row(projected_occupancy);
    assign row_level_occupancy = cut_to_row(level_occupancy);
    assign row_level_in_quarter_rtt = cut_to_row(level_in_quarter_rtt);
    assign row_level_in_one_rtt = cut_to_row(level_in_one_rtt);
    assign row_level_in_two_rtts = cut_to_row(level_in_two_rtts);
    assign row_classed_in_quarter_rtt = cut_to_row({16'd0, classed});
    assign row_cut_in_quarter_rtt = cut_to_row({16'd0, near_cut});

    always @(posedge clk) begin
        decided <= 1'b0;
        writes_size <= 1'b0;
        writes_next <= 1'b0;
        writes_previous <= 1'b0;
        // What no parameter asks for takes no logic: its states do nothing.
        case (state)
            CLEAR: begin
                bytes[at] <= 32'd0;
                real_bytes[at] <= 32'd0;
                beside_bytes[at] <= 32'd0;
                real_beside_bytes[at] <= 32'd0;
                recent[at] <= 32'd0;
                heard_ns[at] <= 64'd0;
                average[at] <= 32'd0;
                updated_ns[at] <= 64'd0;
                deficit[at] <= 40'd0;
                class_bytes[class_at[K-1:0]] <= 48'd0;
                class_queues[class_at[K-1:0]] <= {(Q+1){1'b0}};
                due_ns[at_port] <= NEVER;
                turn[at_port] <= 8'd0;
                credited[at_port] <= 1'b0;
                sent_ns[at_port] <= 64'd0;
                ring_next[at_port] <= 9'd0;
                ring_begun[at_port] <= 9'd0;
                class_at <= class_at == LAST_CLASS ? LAST_CLASS : class_at + 7'd1;
                at_port <= at_port == LAST_PORT ? LAST_PORT : at_port + 1'b1;
                at <= at == LAST_QUEUE ? LAST_QUEUE : at + 1'b1;
                if (at == LAST_QUEUE && (!HAS_CLASSES || class_at == LAST_CLASS))
                    state <= IDLE;
            end
            IDLE: begin
                is_arrival <= arrival;
                own_port <= port[P-1:0];
                own_class <= queue[C-1:0];
                own <= number[Q-1:0];
                own_bytes <= size_bytes;
                clock_ns <= now_ns > clock_ns ? now_ns : clock_ns;
                predicted <= 1'b0;
                at_port <= {P{1'b0}};
                first_port <= {P{1'b0}};
                first_ns <= NEVER;
                if (arrival || departure) begin
                    if (exists && (size_bytes != 32'd0 && !size_bytes[31] || departure))
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
                at_port <= at_port + 1'b1;
                if (at_port == LAST_PORT)
                    state <= SERVE;
            end
            SERVE: begin
                next_due_ns <= first_ns;
                at_port <= {P{1'b0}};
                offset <= IS_STRICT ? 8'd0 : turn[first_port];
                step <= 8'd0;
                time_ns <= first_ns;
                first_ns <= NEVER;
                state <= first_ns > clock_ns || first_ns == NEVER ? ADVANCED : PICK;
            end
            // The queue that the port serves next, one queue for each clock. By deficits, a round after the other until a
            // queue's deficit covers its first packet.
            PICK: begin
                then <= EARLIEST;
                waited <= 1'b0;
                changed <= candidate;
                place <= head[candidate];
                if (holds) begin
                    state <= HAS_DEFICITS ? CREDIT : READ;
                    step <= 8'd0;
                    if (!HAS_DEFICITS)
                        turn[first_port] <= next_offset;
                end else begin
                    step <= step + 8'd1;
                    offset <= next_offset;
                    if (HAS_DEFICITS) begin
                        deficit[candidate] <= 40'd0;
                        credited[first_port] <= 1'b0;
                        turn[first_port] <= next_offset;
                    end
                    if (step == LAST_STEP) begin
                        if (HAS_DEFICITS)
                            turn[first_port] <= 8'd0;
                        due_ns[first_port] <= NEVER;
                        state <= EARLIEST;
                    end
                end
            end
            // Its first packet's memory is read.
            CREDIT: if (HAS_DEFICITS) begin
                waited <= 1'b1;
                if (waited) begin
                    waited <= 1'b0;
                    if (credit >= {8'd0, packet_bytes}) begin
                        deficit[candidate] <= credit - {8'd0, packet_bytes};
                        credited[first_port] <= 1'b1;
                        state <= READ;
                    end else begin
                        deficit[candidate] <= credit;
                        credited[first_port] <= 1'b0;
                        turn[first_port] <= next_offset;
                        offset <= next_offset;
                        state <= PICK;
                    end
                end
            end
            // The packet's memory is read.
            READ: begin
                waited <= 1'b1;
                if (waited) begin
                    waited <= 1'b0;
                    state <= TAKE;
                    if (then == EARLIEST) begin
                        dividend <= wire_dividend(first_port, packet_bytes);
                        divisor <= of_port(NS_DENOMINATOR, first_port);
                        rest <= 64'd0;
                        bits_left <= DIGITS[6:0];
                        state <= WIRE;
                    end
                end
            end
            // The time on the wire: when the port is due next.
            WIRE: begin
                if (bits_left == 7'd0) begin
                    due_ns[first_port] <= time_ns + quotient;
                    if (HAS_RING) begin
                        sent_ns[first_port] <= begins_ns + quotient;
                        /* verilator lint_off WIDTH */
                        begun_ns[ring_newest] <= begins_ns;
                        /* verilator lint_on WIDTH */
                        ring_next[first_port] <= ring_after;
                        if ({23'd0, ring_begun[first_port]} < RING_PLACES)
                            ring_begun[first_port] <= ring_begun_after;
                        due_ns[first_port] <= ring_is_full && oldest_ns > time_ns ? oldest_ns : time_ns;
                    end
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
                expected_before <= expected_bytes;
                bytes[changed] <= bytes[changed] - taken_bytes;
                buffer_bytes <= buffer_bytes - taken_bytes;
                beside_bytes[changed] <= beside_bytes[changed] - (packet_bytes - taken_bytes);
                if (then == ADMIT && read_size[31]) begin
                    precision <= raised;
                    is_trusted <= is_trusted || raised >= RECOVER_AT;
                end
                arrived_bytes <= 32'd0;
                state <= CHANGE;
            end
            // All that is kept about a queue which has changed. Older arrivals are forgotten.
            CHANGE: begin
                at_port <= {P{1'b0}};
                if (arrived_bytes != 32'd0 && !added)
                    expected_before <= expected_bytes;
                state <= HAS_AVERAGES && arrived_bytes == 32'd0 ? AVERAGE : settled;
                if (HAS_ARRIVALS) begin
                    heard_ns[changed] <= time_ns;
                    rest <= 64'd0;
                    dividend <= forgotten[DIVIDE_BITS-1:0];
                    divisor <= WINDOW_NS;
                    if (elapsed_ns >= WINDOW_NS)
                        recent[changed] <= arrived_bytes;
                    else if (elapsed_ns == 64'd0 || recent[changed] == 32'd0)
                        recent[changed] <= saturated({1'b0, recent[changed]} + {1'b0, arrived_bytes});
                    else begin
                        bits_left <= DIGITS[6:0];
                        state <= FORGET;
                    end
                end
            end
            FORGET: if (HAS_ARRIVALS) begin
                if (bits_left == 7'd0) begin
                    recent[changed] <= saturated({1'b0, recent[changed] - quotient[31:0]} + {1'b0, arrived_bytes});
                    state <= HAS_AVERAGES && arrived_bytes == 32'd0 ? AVERAGE : settled;
                end
            end
            // The averages of the queue that a packet left, then of the buffer.
            AVERAGE: if (HAS_AVERAGES) state <= AVERAGED;
            AVERAGED: if (HAS_AVERAGES) begin
                if (is_averaged) begin
                    of_buffer <= !of_buffer;
                    if (of_buffer) begin
                        buffer_average <= new_average;
                        buffer_updated_ns <= time_ns;
                        state <= settled;
                    end else begin
                        average[changed] <= new_average;
                        updated_ns[changed] <= time_ns;
                        state <= AVERAGE;
                    end
                end
            end
            // The changed queue leaves its class and enters another; then the cut moves.
            RECLASS: if (HAS_CLASSES) begin
                expected_after <= expected_bytes;
                class_at <= length_class(expected_before);
                state <= DEPART;
            end
            DEPART: if (HAS_CLASSES) begin
                if (expected_before != 32'd0) begin
                    class_queues[class_at[K-1:0]] <= at_queues - 1'b1;
                    class_bytes[class_at[K-1:0]] <= at_bytes - {16'd0, expected_before};
                    if (class_at < cut)
                        below_bytes <= below_bytes - {16'd0, expected_before};
                    else
                        above <= above - 1'b1;
                end
                class_at <= length_class(expected_after);
                state <= ENTER;
            end
            ENTER: if (HAS_CLASSES) begin
                if (expected_after != 32'd0) begin
                    class_queues[class_at[K-1:0]] <= at_queues + 1'b1;
                    class_bytes[class_at[K-1:0]] <= at_bytes + {16'd0, expected_after};
                    if (class_at < cut)
                        below_bytes <= below_bytes + {16'd0, expected_after};
                    else
                        above <= above + 1'b1;
                end
                class_at <= cut == 7'd0 ? 7'd0 : cut - 7'd1;
                state <= LOWER;
            end
            LOWER: if (HAS_CLASSES) begin
                if (cut != 7'd0 && lower_full > {16'd0, FULL_BYTES}) begin
                    cut <= class_at;
                    below_bytes <= below_bytes - at_bytes;
                    above <= above + at_queues;
                    state <= then;
                end else begin
                    class_at <= cut;
                    state <= cut == ALL_CLASSES[6:0] ? then : RAISE;
                end
            end
            RAISE: if (HAS_CLASSES) begin
                if (raised_full <= {16'd0, FULL_BYTES}) begin
                    cut <= cut + 7'd1;
                    below_bytes <= raised_bytes;
                    above <= raised_above;
                end
                state <= then;
            end
            ADVANCED: begin
                time_ns <= clock_ns;
                at <= {Q{1'b0}};
                projected_occupancy <= 64'd0;
                level_occupancy <= 64'd0;
                level_in_quarter_rtt <= 64'd0;
                level_in_one_rtt <= 64'd0;
                level_in_two_rtts <= 64'd0;
                most_bytes <= 32'd0;
                rank <= 32'd0;
                if (!is_arrival) begin
                    real_bytes[own] <= remaining;
                    real_beside_bytes[own] <= left_beside_bytes < real_beside_bytes[own]
                        ? real_beside_bytes[own] - left_beside_bytes : 32'd0;
                    occupancy_bytes <= occupancy_bytes - left_bytes;
                    if (real_bytes[own] >= LONG_BYTES && remaining < LONG_BYTES)
                        long_queues <= long_queues - 1'b1;
                    state <= IDLE;
                end else if (fits && !is_beside && !safeguarded && {1'b0, real_bytes[own]} <= most_bytes_of_own) begin
                    state <= OBSERVE;
                end else begin
                    state <= ADMIT;
                end
            end
            // The features, one queue for each clock.
            SCAN: if (HAS_SUMS) begin
                projected_occupancy <= projected_occupancy + ahead_in_two_rtts;
                level_occupancy <= level_occupancy + (held_bytes < level_bytes ? held_bytes : level_bytes);
                level_in_quarter_rtt <= level_in_quarter_rtt
                    + (ahead_in_quarter_rtt < level_bytes ? ahead_in_quarter_rtt : level_bytes);
                level_in_one_rtt <= level_in_one_rtt + (ahead_in_one_rtt < level_bytes ? ahead_in_one_rtt : level_bytes);
                level_in_two_rtts <= level_in_two_rtts
                    + (ahead_in_two_rtts < level_bytes ? ahead_in_two_rtts : level_bytes);
                most_bytes <= bytes[at] > most_bytes ? bytes[at] : most_bytes;
                rank <= rank + {31'd0, bytes[at] > bytes[own]};
                at <= at + 1'b1;
                if (at == LAST_QUEUE)
                    state <= OBSERVE_CLASSES;
            end
            CLASSIFY: if (HAS_CLASSES) begin
                of_class <= length_class(bytes[own]);
                class_at <= length_class(bytes[own]);
                state <= UP_TO;
            end
            UP_TO: if (HAS_CLASSES) begin
                up_to_bytes <= at_bytes < at_most ? at_bytes : at_most;
                shorter_bytes <= 48'd0;
                longer <= {(Q+1){1'b0}};
                of_class_bytes <= at_bytes;
                of_class_queues <= at_queues;
                class_at <= 7'd0;
                state <= USES_CLASSED_IN_QUARTER_RTT != 0 ? GATHER : WEIGH;
            end
            // The other classes, one for each clock.
            GATHER: if (USES_CLASSED_IN_QUARTER_RTT != 0) begin
                if (class_at < of_class)
                    shorter_bytes <= shorter_bytes + at_bytes;
                if (class_at > of_class)
                    longer <= longer + at_queues;
                class_at <= class_at + 7'd1;
                if (class_at == LAST_CLASS)
                    state <= WEIGH;
            end
            WEIGH: if (HAS_CLASSES) begin
                classed <= shorter_bytes + up_to_bytes + {{(47-Q){1'b0}}, longer} * own_length;
                near_cut <= near_bytes + {{(47-Q){1'b0}}, near_queues} * own_length;
                state <= ASK;
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
                at <= {Q{1'b0}};
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
                    place <= fresh[F-1:0];
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
                at <= at + 1'b1;
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
                if (!own_holds)
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
                expected_before <= expected_bytes;
                bytes[own] <= bytes[own] + part_bytes;
                buffer_bytes <= buffer_bytes + part_bytes;
                beside_bytes[own] <= beside_bytes[own] + (own_bytes - part_bytes);
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
                if (is_beside)
                    verdict <= ACCEPTED;
                else if (!fits)
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
                        is_trusted <= still_trusted || (!added && decayed_raised >= RECOVER_AT);
                    end
                end
            end
            default: begin
                if (verdict == SAFEGUARDED || verdict == ACCEPTED) begin
                    real_bytes[own] <= own_after[31:0];
                    real_beside_bytes[own] <= real_beside_bytes[own] + (own_bytes - real_part_bytes);
                    occupancy_bytes <= occupancy_after[31:0];
                    if (real_bytes[own] < LONG_BYTES && own_after >= {1'b0, LONG_BYTES})
                        long_queues <= long_queues + 1'b1;
                end
                state <= IDLE;
            end
        endcase
        if (bits_left != 7'd0) begin
            dividend <= {dividend[DIVIDE_BITS-2:0], goes_in};
            rest <= goes_in ? twice_rest - divisor : twice_rest;
            bits_left <= bits_left - 7'd1;
        end
        if (rst) begin
            state <= CLEAR;
            at <= {Q{1'b0}};
            at_port <= {P{1'b0}};
            buffer_bytes <= 32'd0;
            occupancy_bytes <= 32'd0;
            long_queues <= {(Q+1){1'b0}};
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
            buffer_average <= 32'd0;
            buffer_updated_ns <= 64'd0;
            of_buffer <= 1'b0;
            // Nothing is cut.
            class_at <= 7'd0;
            cut <= ALL_CLASSES[6:0];
            below_bytes <= 48'd0;
            above <= {(Q+1){1'b0}};
        end
    end

endmodule

`default_nettype wire
