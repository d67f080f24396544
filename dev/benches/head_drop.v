// What decides which head to push out, without the packets themselves: for counting cells (head_drop.py).

// Longest Queue Drop: when a packet does not fit, the head of the longest queue leaves. Queue lengths are kept here; a scan
// of one queue a clock finds the longest. The lowest number wins a tie.
module lqd_head_drop #(
    parameter QUEUES = 40,
    parameter QUEUE_BITS = 6,
    parameter BYTES_BITS = 24,
    parameter [BYTES_BITS-1:0] CAPACITY = 1052672
) (
    input  wire                  clock,
    input  wire                  reset,
    // A packet arrives, when ready.
    input  wire                  arrives,
    input  wire [QUEUE_BITS-1:0] arrival_queue,
    input  wire [BYTES_BITS-1:0] arrival_bytes,
    // A packet was transmitted, when ready and nothing arrives.
    input  wire                  departs,
    input  wire [QUEUE_BITS-1:0] departure_queue,
    input  wire [BYTES_BITS-1:0] departure_bytes,
    output wire                  ready,
    // The memory pushes out the head of this queue and says how large it was.
    output reg                   expel,
    output reg  [QUEUE_BITS-1:0] expel_queue,
    input  wire                  expelled,
    input  wire [BYTES_BITS-1:0] expelled_bytes,
    // The packet fits now.
    output reg                   accepted
);
    reg [BYTES_BITS-1:0] lengths[0:QUEUES-1];
    reg [BYTES_BITS-1:0] occupancy, longest, waiting_bytes;
    reg [QUEUE_BITS-1:0] at, longest_queue, waiting_queue, clearing;
    localparam CLEAR = 0, IDLE = 1, CHECK = 2, SCAN = 3, WAIT = 4;
    reg [2:0] state;
    assign ready = state == IDLE;
    wire [BYTES_BITS:0] needed = occupancy + waiting_bytes;
    wire [BYTES_BITS-1:0] scanned = lengths[at];

    always @(posedge clock) begin
        accepted <= 0;
        expel <= 0;
        if (reset) begin
            state <= CLEAR;
            clearing <= 0;
            occupancy <= 0;
        end else
            case (state)
                CLEAR: begin
                    lengths[clearing] <= 0;
                    clearing <= clearing + 1'b1;
                    if (clearing == QUEUES - 1) state <= IDLE;
                end
                IDLE:
                if (arrives) begin
                    waiting_queue <= arrival_queue;
                    waiting_bytes <= arrival_bytes;
                    state <= CHECK;
                end else if (departs) begin
                    lengths[departure_queue] <= lengths[departure_queue] - departure_bytes;
                    occupancy <= occupancy - departure_bytes;
                end
                CHECK:
                if (needed <= CAPACITY) begin
                    lengths[waiting_queue] <= lengths[waiting_queue] + waiting_bytes;
                    occupancy <= needed[BYTES_BITS-1:0];
                    accepted <= 1;
                    state <= IDLE;
                end else begin
                    at <= 0;
                    longest <= 0;
                    longest_queue <= 0;
                    state <= SCAN;
                end
                SCAN: begin
                    if (scanned > longest) begin
                        longest <= scanned;
                        longest_queue <= at;
                    end
                    at <= at + 1'b1;
                    if (at == QUEUES - 1) begin
                        expel <= 1;
                        expel_queue <= scanned > longest ? at : longest_queue;
                        state <= WAIT;
                    end
                end
                default:
                if (expelled) begin
                    lengths[expel_queue] <= lengths[expel_queue] - expelled_bytes;
                    occupancy <= occupancy - expelled_bytes;
                    state <= CHECK;
                end
            endcase
    end
endmodule

// Occamy: among the queues above the threshold of Dynamic Thresholds (alpha 8) the next in turn. A bit for each queue says
// whether it is above; the bits are renewed one queue a clock.
module occamy_head_drop #(
    parameter QUEUES = 40,
    parameter QUEUE_BITS = 6,
    parameter BYTES_BITS = 24,
    parameter [BYTES_BITS-1:0] CAPACITY = 1052672
) (
    input  wire                  clock,
    input  wire                  reset,
    input  wire [QUEUE_BITS-1:0] changed_queue,
    input  wire [BYTES_BITS-1:0] changed_bytes,
    input  wire                  grows,
    input  wire                  shrinks,
    // The memory has bandwidth to spare.
    input  wire                  spare,
    output reg                   expel,
    output reg  [QUEUE_BITS-1:0] expel_queue
);
    reg [BYTES_BITS-1:0] lengths[0:QUEUES-1];
    reg [BYTES_BITS-1:0] occupancy;
    reg [QUEUE_BITS-1:0] at, turn;
    reg [QUEUES-1:0] above;
    reg clearing;
    wire [BYTES_BITS+2:0] threshold = {CAPACITY - occupancy, 3'b000};
    wire [2*QUEUES-1:0] from_turn = {above, above} >> turn;
    integer step;
    reg found;
    reg [QUEUE_BITS:0] place;

    always @* begin
        found = 0;
        place = 0;
        for (step = QUEUES - 1; step >= 0; step = step - 1)
            if (from_turn[step]) begin
                found = 1;
                place = turn + step;
            end
        if (place >= QUEUES) place = place - QUEUES;
    end

    always @(posedge clock) begin
        expel <= 0;
        at <= at == QUEUES - 1 ? 0 : at + 1'b1;
        if (reset) begin
            clearing <= 1;
            at <= 0;
            turn <= 0;
            above <= 0;
            occupancy <= 0;
        end else if (clearing) begin
            lengths[at] <= 0;
            if (at == QUEUES - 1) clearing <= 0;
        end else begin
            above[at] <= lengths[at] > threshold;
            if (grows) begin
                lengths[changed_queue] <= lengths[changed_queue] + changed_bytes;
                occupancy <= occupancy + changed_bytes;
            end else if (shrinks) begin
                lengths[changed_queue] <= lengths[changed_queue] - changed_bytes;
                occupancy <= occupancy - changed_bytes;
            end
            if (spare && found) begin
                expel <= 1;
                expel_queue <= place[QUEUE_BITS-1:0];
                above[place[QUEUE_BITS-1:0]] <= 0;
                turn <= place == QUEUES - 1 ? 0 : place[QUEUE_BITS-1:0] + 1'b1;
            end
        end
    end
endmodule
