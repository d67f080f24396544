// Early drops in bursts over Dynamic Thresholds, on a switch's own queues: Verilog-2001, integers only, no vendor primitives.
// lab/notes/spare-tails.md of dropcast says what it does, and what it is worth.
//
// The switch's constants are parameters; dropcast export writes them as a macro:
//
//     `include "dropcast_spare_tails_config.vh"
//     dropcast_spare_tails #(`DROPCAST_SPARE_TAILS_PARAMETERS) early (.clk(clk), ...);
//
// A call is an arrival or a departure. An arrival takes 7 clocks, the verdict 6. A flow that becomes one of a burst after its first
// packet takes 3 more behind the verdict, the end of a burst 33 more before it. Packets of unknown flows, short ones, those that
// fit into reserved bytes, and departures take 6, the verdict 5. A reset takes a clock for each flow, at least one for each queue.
`default_nettype none

module dropcast_spare_tails #(
    parameter PORTS = 4,
    parameter QUEUES_PER_PORT = 1,
    parameter [31:0] BUFFER_BYTES = 32'd60000,
    // Slots for flows, a power of two.
    parameter FLOWS = 1024,
    // A burst is on while so many new flows of a queue, 1 to 8, began within the window.
    parameter BURST_FLOWS = 4,
    parameter [31:0] WINDOW_NS = 32'd60000,
    // A flow is new after a longer silence.
    parameter [31:0] SILENCE_NS = 32'd100000000,
    // Nothing is dropped early while the buffer holds less.
    parameter [31:0] LEAST_HELD_BYTES = 32'd30000,
    // Alpha in 128ths by queue of a port, and bytes beside the shared buffer that only a queue may use (all ones: it does not
    // draw on that): number 0 in the lowest 32 bits.
    parameter [32*QUEUES_PER_PORT-1:0] ALPHA_128 = {QUEUES_PER_PORT{32'd1024}},
    parameter [32*QUEUES_PER_PORT-1:0] RESERVED_BYTES = {QUEUES_PER_PORT{32'd0}},
    // Of a packet's size.
    parameter SIZE_BITS = 16
) (
    input  wire                 clk,
    // Synchronous: empties the switch, and forgets all flows.
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
    // Of the packet's flow, for an arrival; 0 if that is unknown.
    input  wire [63:0]          flow_hash,
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

    function [63:0] since;
        input [63:0] now;
        input [63:0] start;
        reg [64:0] difference;
        begin
            difference = {1'b0, now} - {1'b0, start};
            since = difference[64] ? 64'd0 : difference[63:0];
        end
    endfunction

    // Shorter packets are neither counted nor dropped early.
    localparam [31:0] LEAST_BYTES = 32'd512;
    // A flow that sends more after a pause has more than one flight.
    localparam [16:0] MOST_LATER = 17'd16;
    // Packets of a flow that are counted: 8 LANES of 4. So many must come after the one that is dropped.
    localparam COUNTED = 32;
    localparam BEHIND  = 4;
    localparam LANES   = COUNTED / BEHIND;
    localparam GIVEN   = COUNTED - BEHIND;
    // So many after one that was dropped tell its sender. A flow that lost so many makes no more room.
    localparam [1:0]  TELLING   = 2'd3;
    localparam [15:0] MOST_LOST = 16'd8;
    // The weight of a burst: an eighth. One that lasts 8 windows counts as one.
    localparam WEIGHT_BITS = 3;
    localparam [63:0] MOST_NS = {29'd0, WINDOW_NS, 3'd0};
    // What is known of fewer is not acted upon.
    localparam [31:0] LEAST_FLOWS = 32'd8;
    // From this packet on, a gap 8 times the mean of those before it is a pause.
    localparam [15:0] PAUSES_FROM = 16'd4;

    localparam QUEUES = PORTS * QUEUES_PER_PORT;

    // Bits of a queue's number, of a class's, of a flow's slot, of the beginnings of flows that are known, of bytes in the
    // buffer, and of those or a packet's.
    localparam Q = bits_of(QUEUES - 1);
    localparam C = bits_of(QUEUES_PER_PORT - 1);
    localparam F = bits_of(FLOWS - 1);
    localparam N = bits_of(BURST_FLOWS);
    localparam B = bits_of(BUFFER_BYTES);
    localparam A = (B > SIZE_BITS ? B : SIZE_BITS) + 1;

    localparam [B-1:0] BUFFER     = BUFFER_BYTES[B-1:0];
    localparam [B-1:0] LEAST_HELD = LEAST_HELD_BYTES[B-1:0];
    // B / (2 N), rounded up.
    localparam [63:0]  N2         = 2 * PORTS;
    /* verilator lint_off UNUSEDSIGNAL */
    localparam [63:0]  LONG       = ({32'd0, BUFFER_BYTES} + N2 - 64'd1) / N2;
    /* verilator lint_on UNUSEDSIGNAL */
    localparam [31:0]  BURST      = BURST_FLOWS;

    localparam [3:0] CLEAR = 4'd0, IDLE = 4'd1, READ = 4'd2, LOOK = 4'd3, KNOW = 4'd4, BEGIN = 4'd5, END = 4'd6, GIVE = 4'd7,
        VERDICT = 4'd8, STORE = 4'd9;

    reg [3:0] state;
    assign ready = state == IDLE;

    // The call.
    reg                 is_arrival;
    reg [C-1:0]         own_class;
    reg [Q-1:0]         own;
    reg [SIZE_BITS-1:0] own_size;
    reg [63:0]          own_hash;
    reg [63:0]          own_ns;

    /* verilator lint_off UNUSEDSIGNAL */
    wire [31:0] number = {16'd0, port} * QUEUES_PER_PORT + {24'd0, queue};
    /* verilator lint_on UNUSEDSIGNAL */

    // Memories are read in READ, and written in STORE and in CLEAR, when the registers that say what is valid are 0.
    localparam MOST_CLEAR = FLOWS > QUEUES ? FLOWS : QUEUES;
    localparam E = bits_of(MOST_CLEAR > BEHIND ? MOST_CLEAR - 1 : BEHIND - 1);
    localparam [31:0] LAST_CLEAR = MOST_CLEAR > BEHIND ? MOST_CLEAR - 1 : BEHIND - 1;
    localparam [31:0] LAST_QUEUE = QUEUES - 1;
    localparam [31:0] LAST_FLOW  = FLOWS - 1;
    reg  [E-1:0] clearing;
    wire         is_clear     = state == CLEAR;
    /* verilator lint_off CMPCONST */
    wire         clears_queue = is_clear && {{(32-E){1'b0}}, clearing} <= LAST_QUEUE;
    wire         clears_flow  = is_clear && {{(32-E){1'b0}}, clearing} <= LAST_FLOW;
    /* verilator lint_on CMPCONST */
    wire [Q-1:0] queue_at     = is_clear ? clearing[Q-1:0] : own;

    // The switch.
    reg [B-1:0] occupancy;
    // A bit for each packet that flows may give, as of the last burst's end.
    reg [GIVEN-1:0] may_give;
    // Flows that had more than one flight, and those that were counted at the last burst's end.
    reg [31:0] went_on;
    reg [31:0] known;

    // What a queue holds of the shared buffer.
    reg [B-1:0] lengths [0:QUEUES-1];
    reg [B-1:0] length;
    always @(posedge clk)
        if (clears_queue || state == STORE)
            lengths[queue_at] <= length;

    // What the packet adds to the shared buffer, or takes from it.
    wire [SIZE_BITS-1:0] part;
    reg  [SIZE_BITS-1:0] own_part;
    /* verilator lint_off UNUSEDSIGNAL */
    wire [A-1:0] whole      = {{(A-SIZE_BITS){1'b0}}, own_part};
    /* verilator lint_on UNUSEDSIGNAL */
    wire [B-1:0] bytes      = whole[B-1:0];
    wire [B-1:0] free_bytes = BUFFER - occupancy;
    wire         is_beside  = own_part == {SIZE_BITS{1'b0}};

    // Dynamic Thresholds: 128 q < alpha_128 (B - Q).
    wire [QUEUES_PER_PORT-1:0] below;
    reg                        is_below;
    wire                       fits = whole <= {{(A-B){1'b0}}, free_bytes};
    genvar alpha;
    generate
        for (alpha = 0; alpha < QUEUES_PER_PORT; alpha = alpha + 1) begin : thresholds
            wire [B+31:0] limit = {32'd0, free_bytes} * {{B{1'b0}}, ALPHA_128[32*alpha +: 32]};
            assign below[alpha] = {25'd0, length, 7'd0} < limit;
        end
    endgenerate

    // A flow: what its hash is beside the slot, when it was last seen, how long after its beginning that was (2^45 ns and more
    // are one: no pause is as long), packets that arrived (none: the slot is empty), those of its first flight that were
    // dropped, those after its first pause, whether it is of a burst (1) and had more than one flight (2), and those of its first
    // flight that were accepted after one that was dropped, TELLING at most. 213 bits with 4,096 flows.
    localparam T = FLOWS == 1 ? 0 : F;
    localparam FLOW_BITS = 64 - T + 64 + 45 + 3 * 16 + 2 + 2;
    reg  [FLOW_BITS-1:0] flows [0:FLOWS-1];
    reg  [FLOW_BITS-1:0] flow;
    wire [FLOW_BITS-1:0] new_flow;
    wire [F-1:0]         slot = (is_clear ? clearing[F-1:0] : own_hash[F-1:0]) & LAST_FLOW[F-1:0];
    reg                  is_tracked;
    always @(posedge clk)
        if (clears_flow || (state == STORE && is_tracked))
            flows[slot] <= new_flow;
        else if (state == READ)
            flow <= flows[slot];

    wire [63-T:0] flow_tag;
    wire [63:0]   flow_seen;
    wire [44:0]   flow_age;
    wire [15:0]   flow_packets, flow_dropped, flow_later;
    wire [1:0]    flow_counted, flow_telling;
    assign {flow_tag, flow_seen, flow_age, flow_packets, flow_dropped, flow_later, flow_counted, flow_telling} = flow;

    // The flow of the call; empty if it is new.
    reg [44:0] age;
    reg [15:0] packets, dropped, later;
    reg [1:0]  counted, telling;
    assign new_flow = {own_hash[63:T], own_ns, age, packets, dropped, later, counted, telling};

    reg         is_same;
    reg  [63:0] gap;
    wire        is_known = is_same && gap <= {32'd0, SILENCE_NS};
    wire [45:0] ages     = {1'b0, flow_age} + {14'd0, gap[31:0]};

    // The beginnings of flows at a queue, the last one in the lowest bits; how many are known; whether a burst is on, and since when.
    localparam BURST_BITS = 64 * BURST_FLOWS + N + 1 + 64;
    reg  [BURST_BITS-1:0]     bursts [0:QUEUES-1];
    reg  [BURST_BITS-1:0]     burst;
    reg  [64*BURST_FLOWS-1:0] began;
    reg  [N-1:0]              begun;
    reg                       is_on;
    reg  [63:0]               on_since;
    always @(posedge clk)
        if (clears_queue || (state == STORE && is_tracked))
            bursts[queue_at] <= {began, begun, is_on, on_since};
        else if (state == READ)
            burst <= bursts[queue_at];

    wire [64*BURST_FLOWS-1:0] burst_began;
    wire [N-1:0]              burst_begun;
    wire                      burst_on;
    wire [63:0]               burst_since;
    assign {burst_began, burst_begun, burst_on, burst_since} = burst;

    // With a new flow, and without.
    /* verilator lint_off UNUSEDSIGNAL */
    wire [64*BURST_FLOWS+63:0] began_with = {burst_began, own_ns};
    /* verilator lint_on UNUSEDSIGNAL */
    wire [N-1:0] begun_with = burst_begun == BURST[N-1:0] ? burst_begun : burst_begun + 1'b1;
    wire         is_recent = since(own_ns, began[64*BURST_FLOWS-1 -: 64]) < {32'd0, WINDOW_NS};
    wire         is_burst  = begun == BURST[N-1:0] && is_recent;
    reg          lasts_long;
    wire         ends      = burst_on && (!is_burst || lasts_long);

    // A gap much longer than those before it.
    reg  [47:0] gaps;
    wire        pauses = packets >= PAUSES_FROM && gaps > {flow_age, 3'd0};
    reg         has_paused;
    reg         is_of_burst;

    // Flows whose first flight had so many packets, and one more: packet 4 * lane + at.
    reg  [4:0]          walk;
    wire [32*LANES-1:0] reads;
    // While packets are counted: from the first to the last, or the last one alone.
    reg                 counts;
    reg                 is_range;
    reg  [4:0]          last;
    reg  [1:0]          left;
    wire [31:0]         kept;
    genvar lane;
    generate
        for (lane = 0; lane < LANES; lane = lane + 1) begin : lanes
            localparam [31:0] LANE = lane;
            reg  [31:0] reached [0:BEHIND-1];
            wire [31:0] read      = reached[walk[1:0]];
            wire [4:0]  packet    = {LANE[2:0], walk[1:0]};
            wire        is_ending = state == END && walk[4:2] == LANE[2:0];
            wire        is_more   = state == STORE && counts && (is_range ? packet <= last : packet == last);
            assign reads[32*lane +: 32] = read;
            always @(posedge clk)
                if (is_clear || is_ending || is_more)
                    reached[walk[1:0]] <= is_clear ? 32'd0 : is_ending ? kept : read + {31'd0, read != 32'hffffffff};
        end
    endgenerate

    // The end of a burst looks at a packet each clock: it is safe if nine in ten flows that reached it reached the fourth after it.
    wire [32*LANES-1:0]  reads_behind = reads >> 32;
    wire [31:0]          here         = reads[32*walk[4:2] +: 32];
    wire [31:0]          behind       = reads_behind[32*walk[4:2] +: 32];
    reg  [31:0]          first;
    wire [31:0]          least        = walk == 5'd0 ? 32'd0 : first >> 3;
    wire                 is_one_flight = known >= LEAST_FLOWS && known >> 1 >= went_on;
    wire [35:0]          tenfold      = {1'b0, behind, 3'd0} + {3'd0, behind, 1'b0};
    wire [35:0]          ninefold     = {1'b0, here, 3'd0} + {4'd0, here};
    wire                 is_safe      = is_one_flight && here >= LEAST_FLOWS && here >= least && tenfold >= ninefold;
    reg  [GIVEN-1:0]     safe;
    assign kept = here - (here >> WEIGHT_BITS);

    // Safe packets are given if none twice as far is safe.
    reg [GIVEN-1:0] given;
    integer packet_given;
    always @* begin
        given = safe;
        for (packet_given = 0; packet_given < GIVEN / 2; packet_given = packet_given + 1)
            if (safe >> (2 * packet_given + 1) != {GIVEN{1'b0}})
                given[packet_given] = 1'b0;
    end

    // The verdict.
    wire        is_far       = packets[15:5] != 11'd0;
    wire [31:0] givable      = {{(32-GIVEN){1'b0}}, may_give};
    wire        is_long      = {{(64-B){1'b0}}, length} >= LONG;
    /* verilator lint_off UNSIGNED */
    wire        is_held      = occupancy >= LEAST_HELD;
    /* verilator lint_on UNSIGNED */
    wire        gives        = is_on && is_long && is_held && dropped == 16'd0 && !is_far && givable[packets[4:0]];
    wire        makes_room   = is_of_burst && telling == TELLING && may_give != {GIVEN{1'b0}} && dropped < MOST_LOST
        && length > free_bytes;
    wire        is_accepted  = is_beside || (is_below && fits && !(is_tracked && (gives || makes_room)));
    wire        is_counted   = !has_paused && (counted != 2'd0 || is_of_burst);
    wire [15:0] more_later   = later == 16'hffff ? later : later + 1'b1;
    wire        goes_on      = has_paused && counted == 2'd1 && {1'b0, more_later} > {1'b0, dropped} + MOST_LATER;

    // What a queue holds of the bytes that are reserved for it: these are used first.
    generate
        if (RESERVED_BYTES != {QUEUES_PER_PORT{32'd0}}) begin : reserves
            reg  [31:0] besides [0:QUEUES-1];
            reg  [31:0] beside;
            wire [31:0] room = RESERVED_BYTES[32*own_class +: 32] - beside;
            wire [31:0] size = {{(32-SIZE_BITS){1'b0}}, own_size};
            /* verilator lint_off UNUSEDSIGNAL */
            wire [32:0] held = {{(33-B){1'b0}}, length};
            wire [31:0] over = size - room;
            /* verilator lint_on UNUSEDSIGNAL */
            assign part = !is_arrival ? ({1'b0, size} < held ? own_size : held[SIZE_BITS-1:0])
                : size > room ? over[SIZE_BITS-1:0] : {SIZE_BITS{1'b0}};
            wire [31:0] own_rest = {{(32-SIZE_BITS){1'b0}}, own_size - own_part};
            always @(posedge clk) begin
                if (state == READ)
                    beside <= besides[own];
                if (state == VERDICT)
                    beside <= !is_arrival ? beside - own_rest : is_accepted ? beside + own_rest : beside;
                if (clears_queue || state == STORE)
                    besides[queue_at] <= beside;
                if (rst)
                    beside <= 32'd0;
            end
        end else begin : no_reserves
            assign part = own_size;
        end
    endgenerate

    always @(posedge clk) begin
        decided <= 1'b0;
        case (state)
            CLEAR: begin
                clearing <= clearing + 1'b1;
                walk <= walk + 1'b1;
                if (clearing == LAST_CLEAR[E-1:0])
                    state <= IDLE;
            end
            IDLE: begin
                is_arrival <= arrival;
                own_class <= queue[C-1:0];
                own <= number[Q-1:0];
                own_size <= size_bytes;
                own_hash <= flow_hash;
                own_ns <= now_ns;
                if (arrival || departure)
                    state <= READ;
            end
            READ: begin
                length <= lengths[own];
                state <= LOOK;
            end
            LOOK: begin
                own_part <= part;
                is_below <= below[own_class];
                is_tracked <= is_arrival && own_hash != 64'd0 && {{(32-SIZE_BITS){1'b0}}, part} >= LEAST_BYTES;
                is_same <= flow_packets != 16'd0 && flow_tag == own_hash[63:T];
                gap <= since(own_ns, flow_seen);
                lasts_long <= since(own_ns, burst_since) >= MOST_NS;
                state <= KNOW;
            end
            KNOW: begin
                gaps <= {16'd0, gap[31:0]} * {32'd0, flow_packets - 1'b1};
                age <= !is_known ? 45'd0 : ages[45] ? {45{1'b1}} : ages[44:0];
                packets <= is_known ? flow_packets : 16'd0;
                dropped <= is_known ? flow_dropped : 16'd0;
                later <= is_known ? flow_later : 16'd0;
                counted <= is_known ? flow_counted : 2'd0;
                telling <= is_known ? flow_telling : 2'd0;
                began <= is_known ? burst_began : began_with[64*BURST_FLOWS-1:0];
                begun <= is_known ? burst_begun : begun_with;
                state <= is_tracked ? BEGIN : VERDICT;
            end
            BEGIN: begin
                has_paused <= later != 16'd0 || pauses;
                is_on <= is_burst;
                is_of_burst <= is_burst && later == 16'd0 && !pauses && age < {13'd0, WINDOW_NS};
                on_since <= is_burst && (ends || !burst_on) ? own_ns : burst_since;
                walk <= 5'd0;
                state <= ends ? END : VERDICT;
            end
            END: begin
                if (walk == 5'd0)
                    first <= here;
                if (walk < GIVEN[4:0])
                    safe <= {is_safe, safe[GIVEN-1:1]};
                walk <= walk + 1'b1;
                if (walk == 5'd31)
                    state <= GIVE;
            end
            GIVE: begin
                may_give <= given;
                went_on <= went_on - (went_on >> WEIGHT_BITS);
                known <= first - (first >> WEIGHT_BITS);
                state <= VERDICT;
            end
            VERDICT: begin
                if (!is_arrival) begin
                    length <= length - bytes;
                    occupancy <= occupancy - bytes;
                end else begin
                    decided <= 1'b1;
                    accepted <= is_accepted;
                    if (is_accepted) begin
                        length <= length + bytes;
                        occupancy <= occupancy + bytes;
                    end
                end
                counts <= is_tracked && is_counted && (!is_far || counted == 2'd0);
                is_range <= counted == 2'd0;
                last <= is_far ? 5'd31 : packets[4:0];
                walk <= packets[4:0];
                left <= is_tracked && is_counted && counted == 2'd0 && packets != 16'd0 ? 2'd3 : 2'd0;
                if (is_tracked) begin
                    packets <= packets == 16'hffff ? packets : packets + 1'b1;
                    if (has_paused)
                        later <= more_later;
                    if (goes_on)
                        went_on <= went_on + {31'd0, went_on != 32'hffffffff};
                    counted <= goes_on ? 2'd2 : is_counted ? 2'd1 : counted;
                    if (!has_paused && !is_accepted && dropped != 16'hffff)
                        dropped <= dropped + 1'b1;
                    if (!has_paused && is_accepted && dropped != 16'd0 && telling != TELLING)
                        telling <= telling + 1'b1;
                end
                state <= STORE;
            end
            default: begin
                walk <= walk + 1'b1;
                left <= left - 1'b1;
                if (left == 2'd0)
                    state <= IDLE;
            end
        endcase
        if (rst) begin
            state <= CLEAR;
            clearing <= {E{1'b0}};
            walk <= 5'd0;
            length <= {B{1'b0}};
            packets <= 16'd0;
            begun <= {N{1'b0}};
            is_on <= 1'b0;
            occupancy <= {B{1'b0}};
            may_give <= {GIVEN{1'b0}};
            went_on <= 32'd0;
            known <= 32'd0;
        end
    end

endmodule

`default_nettype wire
