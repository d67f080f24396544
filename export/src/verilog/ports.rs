//! The ports of virtual LQD: which queue a port serves next, and when it is due again.

use dropcast_data::{Scheduler, SwitchSpec};

/// Bits of an index below `count`.
pub(super) fn index_bits(count: usize) -> u32 {
    (usize::BITS - (count - 1).leading_zeros()).max(1)
}

/// States beside those that every module has.
pub(super) fn states(switch: &SwitchSpec) -> &'static str {
    if has_deficits(switch) { "    localparam [5:0] CREDIT   = 6'd21;\n" } else { "" }
}

/// Whether a port's queues are served in turn.
fn takes_turns(switch: &SwitchSpec) -> bool {
    switch.queues_per_port > 1 && switch.scheduler != Scheduler::StrictPriority
}

/// Whether a port's queues are served by deficits.
fn has_deficits(switch: &SwitchSpec) -> bool {
    switch.queues_per_port > 1 && switch.scheduler == Scheduler::Dwrr
}

/// Declarations.
pub(super) fn turn_registers(switch: &SwitchSpec) -> String {
    let mut text = String::new();
    if switch.queues_per_port > 1 {
        text += "    // The queue of the port that is looked at, and how many were.
    reg [7:0] offset, step;
    wire [31:0] full_candidate = {@PORT_ZEROS'd0, first_port} * 32'd@PER_PORT + {24'd0, offset};
    wire [@QUEUE_TOP:0] candidate = full_candidate[@QUEUE_TOP:0];
    wire [7:0] next_offset = offset == 8'd@PER_PORT - 8'd1 ? 8'd0 : offset + 8'd1;
";
    }
    if takes_turns(switch) {
        text += "    reg [7:0] turn [0:@LAST_PORT];\n";
    }
    if has_deficits(switch) {
        text += &format!(
            "    // Bytes that each queue may still send, and whether the port's turn got its quantum.
    reg [39:0] deficit [0:@LAST_QUEUE];
    reg        credited [0:@LAST_PORT];

    function [39:0] quantum;
        input [7:0] of;
        quantum = {};
    endfunction

    wire [39:0] credit =
        deficit[candidate] + (credited[first_port] ? 40'd0 : quantum(offset));
",
            quanta(switch)
        );
    }
    let ring = switch.transmit_ring_packets;
    if ring > 0 {
        text += &format!(
            "    // Transmit rings: when the last packet has been sent, and when the last ones began to be.
    reg [63:0] sent_ns [0:@LAST_PORT];
    reg [63:0] begun_ns [0:{last}];
    reg [8:0]  ring_next [0:@LAST_PORT];
    reg [8:0]  ring_begun [0:@LAST_PORT];
    wire [63:0] begins_ns = sent_ns[first_port] > time_ns ? sent_ns[first_port] : time_ns;
    wire [8:0]  ring_after = ring_next[first_port] == 9'd{top} ? 9'd0 : ring_next[first_port] + 9'd1;
    wire [31:0] ring_base = {{{zeros}'d0, first_port}} * 32'd{ring};
    wire [31:0] ring_newest = ring_base + {{23'd0, ring_next[first_port]}};
    wire [31:0] ring_oldest = ring_base + {{23'd0, ring_after}};
    wire [63:0] oldest_ns = {oldest};
",
            last = switch.ports() * usize::from(ring) - 1,
            top = ring - 1,
            zeros = 32 - index_bits(switch.ports()),
            oldest = if ring == 1 { "begins_ns" } else { "begun_ns[ring_oldest]" },
        );
    }
    text
}

/// The quantum of queue `of` of a port.
fn quanta(switch: &SwitchSpec) -> String {
    let mut quanta = switch.quantum_bytes.iter().enumerate().rev();
    let last = quanta.next().map_or_else(String::new, |(_, bytes)| format!("40'd{bytes}"));
    quanta.fold(last, |others, (at, bytes)| format!("of == 8'd{at} ? 40'd{bytes} : {others}"))
}

/// Lines of `CLEAR`.
pub(super) fn turn_clears(switch: &SwitchSpec) -> String {
    let mut text = String::new();
    if takes_turns(switch) {
        text += "                turn[at_port] <= 8'd0;\n";
    }
    if has_deficits(switch) {
        text +=
            "                deficit[at] <= 40'd0;\n                credited[at_port] <= 1'b0;\n";
    }
    if switch.transmit_ring_packets > 0 {
        text += "                sent_ns[at_port] <= 64'd0;
                ring_next[at_port] <= 9'd0;
                ring_begun[at_port] <= 9'd0;
";
    }
    text
}

/// Lines of `SERVE`.
pub(super) fn first(switch: &SwitchSpec) -> String {
    if switch.queues_per_port == 1 {
        return "                at <= first_queue(first_port);\n".to_owned();
    }
    let offset = if takes_turns(switch) { "turn[first_port]" } else { "8'd0" };
    format!("                offset <= {offset};\n                step <= 8'd0;\n")
}

/// The states that find the queue to serve.
pub(super) fn pick(switch: &SwitchSpec) -> String {
    let idle = "                    due_ns[first_port] <= NEVER;\n                    \
        state <= EARLIEST;\n";
    let found = |queue: &str| {
        format!(
            "                then <= EARLIEST;
                waited <= 1'b0;
                changed <= {queue};
                place <= head[{queue}];
"
        )
    };
    if switch.queues_per_port == 1 {
        return format!(
            "            // The port's queue.
            PICK: begin
{}                if (bytes[at] == 32'd0) begin
{idle}                end else
                    state <= READ;
            end
",
            found("at")
        );
    }
    if has_deficits(switch) {
        return PICK_BY_DEFICIT.to_owned();
    }
    let turn = if takes_turns(switch) {
        "                    turn[first_port] <= next_offset;\n"
    } else {
        ""
    };
    format!(
        "            // The queue that the port serves next, one queue for each clock.
            PICK: begin
{found}                if (bytes[candidate] != 32'd0) begin
{turn}                    state <= READ;
                end else if (step == 8'd@PER_PORT - 8'd1) begin
{idle}                end
                offset <= next_offset;
                step <= step + 8'd1;
            end
",
        found = found("candidate")
    )
}

/// A round after the other until a queue's deficit covers its first packet.
const PICK_BY_DEFICIT: &str =
    "            // The queue that the port serves next, by deficit round robin.
            PICK: begin
                then <= EARLIEST;
                waited <= 1'b0;
                changed <= candidate;
                place <= head[candidate];
                step <= 8'd0;
                if (bytes[candidate] != 32'd0)
                    state <= CREDIT;
                else begin
                    deficit[candidate] <= 40'd0;
                    credited[first_port] <= 1'b0;
                    turn[first_port] <= next_offset;
                    offset <= next_offset;
                    step <= step + 8'd1;
                    if (step == 8'd@PER_PORT - 8'd1) begin
                        turn[first_port] <= 8'd0;
                        due_ns[first_port] <= NEVER;
                        state <= EARLIEST;
                    end
                end
            end
            // Its first packet's memory is read.
            CREDIT: begin
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
";

/// Lines of `WIRE`: when the port is due next.
pub(super) fn send(switch: &SwitchSpec, divide_bits: u32) -> String {
    let wire = match 64 - divide_bits {
        0 => "quotient".to_owned(),
        zeros => format!("{{{zeros}'d0, quotient}}"),
    };
    let ring = switch.transmit_ring_packets;
    if ring == 0 {
        return format!("                    due_ns[first_port] <= time_ns + {wire};\n");
    }
    format!(
        "                    sent_ns[first_port] <= begins_ns + {wire};
                    begun_ns[ring_newest] <= begins_ns;
                    ring_next[first_port] <= ring_after;
                    if (ring_begun[first_port] < 9'd{ring})
                        ring_begun[first_port] <= ring_begun[first_port] + 9'd1;
                    if (ring_begun[first_port] + 9'd1 < 9'd{ring})
                        due_ns[first_port] <= time_ns;
                    else
                        due_ns[first_port] <= oldest_ns > time_ns ? oldest_ns : time_ns;
"
    )
}
