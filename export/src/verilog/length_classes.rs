//! The steps of the decision that sum queues by length class, as `decision/classes.h` does.

use crate::tracker::Classes;

/// States of the decision.
pub(super) fn states(classes: Classes) -> String {
    let gather = if classes.all { "    localparam [5:0] GATHER   = 6'd30;\n" } else { "" };
    format!("{STATES}{gather}    localparam [5:0] WEIGH    = 6'd31;\n")
}

const STATES: &str = "    localparam [5:0] RECLASS  = 6'd24;
    localparam [5:0] DEPART   = 6'd25;
    localparam [5:0] ENTER    = 6'd26;
    localparam [5:0] LOWER    = 6'd27;
    localparam [5:0] RAISE    = 6'd28;
    localparam [5:0] CLASSIFY = 6'd29;
    localparam [5:0] UP_TO    = 6'd32;
";

/// The first state after a queue has changed, and the first that computes the features.
pub(super) const CHANGED: &str = "RECLASS";
pub(super) const OBSERVE: &str = "CLASSIFY";

/// What the decision remembers and computes.
pub(super) fn declared(classes: Classes) -> String {
    let mut text = DECLARED.to_owned();
    if classes.all {
        text += "    reg  [47:0] shorter_bytes, classed;\n    reg  [@QUEUE_BITS:0] longer;\n";
    }
    if classes.cut {
        text += NEAR_CUT;
    }
    text
}

const DECLARED: &str = "
    // Lengths expected in a quarter of a base RTT, at most the buffer, are in classes, four for each octave
    // from 4 KiB on. The cut is the class at whose shortest length the buffer would be full but for a 32nd
    // part if LQD cut every queue down to it; each event of a queue moves it by at most one class.
    reg  [47:0]          class_bytes [0:@LAST_CLASS];
    reg  [@QUEUE_BITS:0] class_queues [0:@LAST_CLASS];
    reg  [6:0]           class_at, cut;
    reg  [47:0]          below_bytes;
    reg  [@QUEUE_BITS:0] above;
    wire [47:0]          at_bytes = class_bytes[class_at[@CLASS_TOP:0]];
    wire [@QUEUE_BITS:0] at_queues = class_queues[class_at[@CLASS_TOP:0]];

    // What is expected in the queue that changes, and was before.
    reg  [31:0] expected_before, expected_after;
    wire [63:0] coming = {32'd0, bytes[changed]} + {31'd0, recent[changed], 1'b0};
    wire [63:0] drained = drain_bytes(changed) / 64'd8;
    wire [63:0] expected = bytes[changed] != 32'd0 && coming > drained ? coming - drained : 64'd0;
    wire [31:0] expected_bytes = expected < {32'd0, BUFFER_BYTES} ? expected[31:0] : BUFFER_BYTES;

    // The cut, one class lower or higher.
    localparam [47:0] FULL_BYTES = 48'd@FULL;
    wire [47:0]          lower_full = below_bytes + {@COUNT_ZEROS'd0, above} * {16'd0, shortest_of(cut)};
    wire [47:0]          raised_bytes = below_bytes + at_bytes;
    wire [@QUEUE_BITS:0] raised_above = above - at_queues;
    wire [47:0]          raised_full =
        raised_bytes + {@COUNT_ZEROS'd0, raised_above} * {16'd0, shortest_of(cut + 7'd1)};

    // A packet's queue, and the queues of its class if they were cut down to its length.
    reg  [6:0]           own_class;
    reg  [47:0]          up_to_bytes;
    wire [47:0]          own_length = {16'd0, bytes[own]};
    wire [47:0]          at_most = {@COUNT_ZEROS'd0, at_queues} * own_length;

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

";

const NEAR_CUT: &str = "    reg  [47:0]          near_cut, own_class_bytes;
    reg  [@QUEUE_BITS:0] own_class_queues;
    wire                 is_cut = own_class == cut;
    wire                 is_below_cut = own_class + 7'd1 == cut;
    wire [47:0]          near_bytes = is_cut ? below_bytes + up_to_bytes
        : is_below_cut ? below_bytes - own_class_bytes + up_to_bytes : below_bytes;
    wire [@QUEUE_BITS:0] near_queues = is_cut ? above - own_class_queues : above;
";

/// The value of the row of the feature from sums of all classes, and from those on either side of the
/// cut.
pub(super) const CLASSED: &str = "classed[47:32] != 16'd0 ? 32'hffffffff : classed[31:0]";
pub(super) const CUT: &str = "near_cut[47:32] != 16'd0 ? 32'hffffffff : near_cut[31:0]";

/// Lines of `CLEAR`.
pub(super) const CLEAR: &str = "                class_bytes[class_at[@CLASS_TOP:0]] <= 48'd0;
                class_queues[class_at[@CLASS_TOP:0]] <= 0;
                class_at <= class_at == 7'd@LAST_CLASS ? 7'd@LAST_CLASS : class_at + 7'd1;
";

/// A condition that all is cleared.
pub(super) const CLEARED: &str = " && class_at == 7'd@LAST_CLASS";

/// Lines of the reset: nothing is cut.
pub(super) const RESET: &str = "            class_at <= 7'd0;
            cut <= 7'd@CLASSES;
            below_bytes <= 48'd0;
            above <= 0;
";

/// A line before a queue's bytes change.
pub(super) const BEFORE: &str = "                expected_before <= expected_bytes;\n";

/// A line of `CHANGE`, before recent arrivals change: where no bytes have.
pub(super) const CHANGE: &str = "                if (arrived_bytes != 32'd0 && !added)\n                    expected_before <= expected_bytes;\n";

/// The states.
pub(super) fn steps(classes: Classes) -> String {
    let (mut begun, mut weighed, mut gathered) = (String::new(), String::new(), "");
    if classes.all {
        begun += "                shorter_bytes <= 48'd0;\n                longer <= 0;\n";
        weighed += "                classed <= shorter_bytes + up_to_bytes + {@COUNT_ZEROS'd0, longer} * own_length;\n";
        gathered = GATHER;
    }
    if classes.cut {
        begun += "                own_class_bytes <= at_bytes;\n                own_class_queues <= at_queues;\n";
        weighed += "                near_cut <= near_bytes + {@COUNT_ZEROS'd0, near_queues} * own_length;\n";
    }
    let next = if classes.all { "GATHER" } else { "WEIGH" };
    format!(
        "{STEPS}            UP_TO: begin
                up_to_bytes <= at_bytes < at_most ? at_bytes : at_most;
{begun}                class_at <= 7'd0;
                state <= {next};
            end
{gathered}            WEIGH: begin
{weighed}                state <= ASK;
            end
"
    )
}

const STEPS: &str =
    "            // The changed queue leaves its class and enters another; then the cut moves.
            RECLASS: begin
                expected_after <= expected_bytes;
                class_at <= length_class(expected_before);
                state <= DEPART;
            end
            DEPART: begin
                if (expected_before != 32'd0) begin
                    class_queues[class_at[@CLASS_TOP:0]] <= at_queues - 1;
                    class_bytes[class_at[@CLASS_TOP:0]] <= at_bytes - {16'd0, expected_before};
                    if (class_at < cut)
                        below_bytes <= below_bytes - {16'd0, expected_before};
                    else
                        above <= above - 1;
                end
                class_at <= length_class(expected_after);
                state <= ENTER;
            end
            ENTER: begin
                if (expected_after != 32'd0) begin
                    class_queues[class_at[@CLASS_TOP:0]] <= at_queues + 1;
                    class_bytes[class_at[@CLASS_TOP:0]] <= at_bytes + {16'd0, expected_after};
                    if (class_at < cut)
                        below_bytes <= below_bytes + {16'd0, expected_after};
                    else
                        above <= above + 1;
                end
                class_at <= cut == 7'd0 ? 7'd0 : cut - 7'd1;
                state <= LOWER;
            end
            LOWER: begin
                if (cut != 7'd0 && lower_full > FULL_BYTES) begin
                    cut <= class_at;
                    below_bytes <= below_bytes - at_bytes;
                    above <= above + at_queues;
                    state <= then;
                end else begin
                    class_at <= cut;
                    state <= cut == 7'd@CLASSES ? then : RAISE;
                end
            end
            RAISE: begin
                if (raised_full <= FULL_BYTES) begin
                    cut <= cut + 7'd1;
                    below_bytes <= raised_bytes;
                    above <= raised_above;
                end
                state <= then;
            end
            CLASSIFY: begin
                own_class <= length_class(bytes[own]);
                class_at <= length_class(bytes[own]);
                state <= UP_TO;
            end
";

const GATHER: &str = "            // The other classes, one for each clock.
            GATHER: begin
                if (class_at < own_class)
                    shorter_bytes <= shorter_bytes + at_bytes;
                if (class_at > own_class)
                    longer <= longer + at_queues;
                class_at <= class_at + 7'd1;
                if (class_at == 7'd@LAST_CLASS)
                    state <= WEIGH;
            end
";
