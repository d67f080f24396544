//! The whole decision as a state machine: virtual LQD, thresholds, safeguard, features, prediction.
//!
//! It does what the exported C does (`decision/`), one step for each clock.

use super::{about, average, length_classes, ports, predictor, sums};
use crate::ExportError;
use crate::checked::Checked;
use crate::decision::{self, LEAST_BYTES, Rate};
use crate::ident::identifier;
use crate::tracker::{self, Kept};
use dropcast_data::SwitchSpec;
use dropcast_oracle::{DriftMonitor, DriftRule};

const MODULE: &str = include_str!("decision.v");

const WHAT: &str = "\
Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1): virtual LQD at line
rate, thresholds, safeguard, features and prediction, and the precision of predictions. While ready,
tell it of an arrival or a departure; decided is 1 when the verdict about an arrival is there. If the
verdict accepts (SAFEGUARDED, ACCEPTED), the packet is counted in its queue. Time must not go back.
After rst, it clears one queue for each clock before it is ready.

A queue may exceed its threshold by @SLACK bytes, as reports replay it: slack_bytes of the switch's description.

Needs the modules of the forest, and of averages if there are any, in the files beside. docs/verilog.md
says how many clocks it takes.
";

/// The file of the module.
///
/// # Errors
/// If the model does not fit the switch, or the switch has what the module cannot do.
pub(super) fn module(model: &Checked<'_>, switch: &SwitchSpec) -> Result<String, ExportError> {
    decision::check(model, switch, "verilog")?;
    if !switch.reserved_bytes.is_empty() {
        let problem = "its queues have reserved_bytes, which this module does not model; c, cpp, dct and ebpf do";
        return Err(ExportError::Decision { target: "verilog", problem: problem.into() });
    }
    let kept = tracker::kept(model);
    let rates = decision::rates(switch, "verilog")?;
    let name = name(model);
    let (ports, queues) = (switch.ports(), switch.queues());
    let packets = packets(switch);
    let (port_bits, queue_bits) = (ports::index_bits(ports), ports::index_bits(queues));
    // Wide enough for a place of 32 bytes and more.
    let place_bits = u32::BITS - (2 * packets).leading_zeros();
    let divide_bits = divide_bits(switch, &rates, kept.arrivals);
    let classes = decision::class_count(switch);
    let rule = DriftRule::default();
    let text = MODULE
        .replace("@ABOUT\n", &about::about(model, &name, WHAT))
        .replace("@STATES\n", &states(model, switch, kept))
        .replace("@MEMORY\n", &memory(kept))
        .replace("@RATE_FUNCTIONS\n", &rate_functions(switch, &rates, kept.arrivals))
        .replace("@PUSHABLE\n", &pushable(switch))
        .replace("@FEATURES\n", &(class_sums(kept) + &sums::features(model)))
        .replace("@TURN_WIRES\n", &ports::turn_registers(switch))
        .replace("@CLEAR_MEMORY\n", &clears(kept))
        .replace("@CLEARED", if kept.classes.any() { length_classes::CLEARED } else { "" })
        .replace("@RESET\n", &resets(kept))
        .replace("@BEFORE\n", if kept.classes.any() { length_classes::BEFORE } else { "" })
        .replace("@CLEAR_TURN\n", &ports::turn_clears(switch))
        .replace("@FIRST", &ports::first(switch))
        .replace("@PICK\n", &ports::pick(switch))
        .replace("@SEND", &ports::send(switch, divide_bits))
        .replace("@CHANGE\n", &change(kept))
        .replace("@OBSERVE", observe(model, kept))
        .replace("@SCAN\n", &scan(model, kept))
        .replace("@CLEAR_SUMS\n", &sums::clears(model))
        .replace("@SUMS\n", &sums::adds(model))
        .replace("@PREDICTOR\n", &predictor_of(model))
        .replace(
            "@ARITHMETIC\n",
            &if kept.averages { average::instance(model) } else { String::new() },
        )
        .replace("@CLASS_TOP", &(ports::index_bits(classes) - 1).to_string())
        .replace("@LAST_CLASS", &(classes - 1).to_string())
        .replace("@CLASSES", &classes.to_string())
        .replace("@COUNT_ZEROS", &(47 - queue_bits).to_string())
        .replace("@FULL", &(switch.buffer_bytes - switch.buffer_bytes / 32).to_string())
        .replace("@MODULE", &name)
        .replace("@RATES", &line_rates(switch))
        .replace("@PER_PORT", &switch.queues_per_port.to_string())
        .replace("@PORTS", &ports.to_string())
        .replace("@BUFFER", &switch.buffer_bytes.to_string())
        .replace("@RTT", &switch.base_rtt_ns.to_string())
        .replace("@LEAST", &LEAST_BYTES.to_string())
        .replace("@SLACK", &switch.slack_bytes.to_string())
        .replace("@MOST_PACKETS", &((1_u32 << place_bits) - 1).to_string())
        .replace("@PACKETS", &packets.to_string())
        .replace("@LONG", &u64::from(switch.buffer_bytes).div_ceil(ports as u64).to_string())
        .replace("@PORT_ZEROS", &(32 - port_bits).to_string())
        .replace("@PORT_TOP", &(port_bits - 1).to_string())
        .replace("@PORT_BITS", &port_bits.to_string())
        .replace("@QUEUE_TOP", &(queue_bits - 1).to_string())
        .replace("@QUEUE_BITS", &queue_bits.to_string())
        .replace("@PLACE_TOP", &(place_bits - 1).to_string())
        .replace("@PLACE_BITS", &place_bits.to_string())
        .replace("@LAST_PORT", &(ports - 1).to_string())
        .replace("@LAST_QUEUE", &(queues - 1).to_string())
        .replace("@DIVIDE_TOP", &(divide_bits - 1).to_string())
        .replace("@DIVIDE_BITS", &divide_bits.to_string())
        .replace("@WINDOW_BITS", &rule.window_bits.to_string())
        .replace("@WINDOW", &(switch.base_rtt_ns / 8).max(1).to_string())
        .replace("@FALL_BELOW", &rule.fall_below.to_string())
        .replace("@RECOVER_AT", &rule.recover_at.to_string())
        .replace("@ONE", &DriftMonitor::ONE.to_string())
        .replace("@STEP", &(DriftMonitor::ONE / rule.window()).to_string());
    Ok(text)
}

/// Places for packets, by default.
pub(super) fn packets(switch: &SwitchSpec) -> u32 {
    switch.buffer_bytes.div_ceil(LEAST_BYTES).max(1)
}

/// The module's name.
pub(super) fn name(model: &Checked<'_>) -> String {
    format!("{}_decision", model.prefix)
}

/// Bits of the largest dividend.
fn divide_bits(switch: &SwitchSpec, rates: &[Rate], arrivals: bool) -> u32 {
    let bits = |number: u64| u64::BITS - number.leading_zeros();
    let largest = |rate: &Rate| {
        let bytes = u64::from(switch.buffer_bytes) + u64::from(switch.wire_overhead_bytes);
        bits(bytes * rate.numerator + rate.denominator)
    };
    let wire = rates.iter().map(largest).max().unwrap_or(1);
    if arrivals { wire.max(32 + bits((switch.base_rtt_ns / 8).max(1))) } else { wire }.max(2)
}

/// Line rates, port 0 last.
pub(super) fn line_rates(switch: &SwitchSpec) -> String {
    let rates: Vec<String> =
        switch.line_rate_bps.iter().rev().map(|rate| format!("64'd{rate}")).collect();
    rates.join(", ")
}

/// States beside those that every module has.
fn states(model: &Checked<'_>, switch: &SwitchSpec, kept: Kept) -> String {
    let mut text = ports::states(switch).to_owned();
    if kept.arrivals {
        text += FORGET;
    }
    if !sums::are_none(model) {
        text += SCAN_STATE;
    }
    if kept.averages {
        text += average::STATES;
    }
    if kept.classes.any() {
        text += &length_classes::states(kept.classes);
    }
    text
}

/// What is remembered for the features.
fn memory(kept: Kept) -> String {
    let arrivals = if kept.arrivals { MEMORY } else { "" };
    let averages = if kept.averages { average::MEMORY } else { "" };
    format!("{arrivals}{averages}")
}

/// Lines of `CLEAR`.
fn clears(kept: Kept) -> String {
    let arrivals = if kept.arrivals { CLEAR_MEMORY } else { "" };
    let averages = if kept.averages { average::CLEAR } else { "" };
    let classes = if kept.classes.any() { length_classes::CLEAR } else { "" };
    format!("{arrivals}{averages}{classes}")
}

/// Lines of the reset.
fn resets(kept: Kept) -> String {
    let averages = if kept.averages { average::RESET } else { "" };
    let classes = if kept.classes.any() { length_classes::RESET } else { "" };
    format!("{averages}{classes}")
}

/// Declarations for sums by length class.
fn class_sums(kept: Kept) -> String {
    if kept.classes.any() { length_classes::declared(kept.classes) } else { String::new() }
}

/// The states in which a queue changes, with all that is kept about it.
fn change(kept: Kept) -> String {
    let classed = if kept.classes.any() { length_classes::CHANGED } else { "then" };
    let settled = if kept.averages {
        format!("arrived_bytes == 32'd0 ? AVERAGE : {classed}")
    } else {
        classed.to_owned()
    };
    let expects = if kept.classes.any() { length_classes::CHANGE } else { "" };
    let averages = if kept.averages { average::steps(classed) } else { String::new() };
    let text = if kept.arrivals { CHANGE } else { NO_CHANGE };
    text.replace("@EXPECTS\n", expects).replace("@SETTLED", &settled) + &averages
}

/// The first state that computes features.
fn observe(model: &Checked<'_>, kept: Kept) -> &'static str {
    if sums::are_none(model) { observe_classes(kept) } else { "SCAN" }
}

fn observe_classes(kept: Kept) -> &'static str {
    if kept.classes.any() { length_classes::OBSERVE } else { "ASK" }
}

/// The states that compute features.
fn scan(model: &Checked<'_>, kept: Kept) -> String {
    let mut text = String::new();
    if !sums::are_none(model) {
        text += &SCAN.replace("@THEN", observe_classes(kept));
    }
    if kept.classes.any() {
        text += &length_classes::steps(kept.classes);
    }
    text
}

const FORGET: &str = "    localparam [5:0] FORGET   = 6'd9;\n";
const SCAN_STATE: &str = "    localparam [5:0] SCAN     = 6'd11;\n";

const SCAN: &str = "            // The features, one queue for each clock.
            SCAN: begin
@SUMS
                at <= at + @QUEUE_BITS'd1;
                if (at == LAST_QUEUE)
                    state <= @THEN;
            end
";

const MEMORY: &str = "    // Recent arrivals of each queue, and its last event.
    reg [31:0]         recent [0:@LAST_QUEUE];
    reg [63:0]         heard_ns [0:@LAST_QUEUE];
";

const CLEAR_MEMORY: &str =
    "                recent[at] <= 32'd0;\n                heard_ns[at] <= 64'd0;\n";

const CHANGE: &str =
    "            // Older arrivals are forgotten, in proportion to the time since the last event.
            CHANGE: begin
                at_port <= @PORT_BITS'd0;
@EXPECTS
                heard_ns[changed] <= time_ns;
                rest <= 64'd0;
                dividend <= forgotten[@DIVIDE_TOP:0];
                divisor <= 64'd@WINDOW;
                state <= @SETTLED;
                if (elapsed_ns >= 64'd@WINDOW)
                    recent[changed] <= arrived_bytes;
                else if (elapsed_ns == 64'd0 || recent[changed] == 32'd0)
                    recent[changed] <= saturated({1'b0, recent[changed]} + {1'b0, arrived_bytes});
                else begin
                    bits_left <= 7'd@DIVIDE_BITS;
                    state <= FORGET;
                end
            end
            FORGET: begin
                if (bits_left == 7'd0) begin
                    recent[changed] <= saturated(
                        {1'b0, recent[changed] - quotient[31:0]} + {1'b0, arrived_bytes});
                    state <= @SETTLED;
                end
            end
";

const NO_CHANGE: &str = "            CHANGE: begin
                at_port <= @PORT_BITS'd0;
                state <= @SETTLED;
            end
";

/// Functions of the ports' rates.
fn rate_functions(switch: &SwitchSpec, rates: &[Rate], arrivals: bool) -> String {
    let is_uniform = rates.iter().all(|rate| rate == &rates[0]);
    let by = |bits: u32, value: &dyn Fn(usize) -> String, count: usize| {
        if is_uniform {
            return value(0);
        }
        // A chain of comparisons: ports with rates of their own are few.
        let mut text = value(count - 1);
        for at in (0..count - 1).rev() {
            text = format!("of == {bits}'d{at} ? {} : {text}", value(at));
        }
        text
    };
    let (port_bits, queue_bits) =
        (ports::index_bits(switch.ports()), ports::index_bits(switch.queues()));
    let overhead = switch.wire_overhead_bytes;
    let dividend = by(
        port_bits,
        &|port| {
            let Rate { numerator, denominator, .. } = rates[port];
            format!(
                "({{32'd0, size}} + 64'd{overhead}) * 64'd{numerator} + 64'd{}",
                denominator - 1
            )
        },
        rates.len(),
    );
    let divisor = by(port_bits, &|port| format!("64'd{}", rates[port].denominator), rates.len());
    let mut text = format!(
        "    // The time on the wire of a packet is a quotient.
    function [@DIVIDE_TOP:0] wire_dividend;
        input [@PORT_TOP:0] of;
        input [31:0] size;
        reg   [63:0] full;
        begin
            full = {dividend};
            wire_dividend = full[@DIVIDE_TOP:0];
        end
    endfunction

    function [63:0] wire_divisor;
        input [@PORT_TOP:0] of;
        wire_divisor = {divisor};
    endfunction

    // The first queue of a port.
    function [@QUEUE_TOP:0] first_queue;
        input [@PORT_TOP:0] of;
        reg   [31:0] full;
        begin
            full = {{{zeros}'d0, of}} * 32'd@PER_PORT;
            first_queue = full[@QUEUE_TOP:0];
        end
    endfunction
",
        zeros = 32 - port_bits,
    );
    if arrivals {
        let per_port = usize::from(switch.queues_per_port);
        let drained = by(
            queue_bits,
            &|queue| format!("64'd{}", rates[queue / per_port].drain_bytes),
            switch.queues(),
        );
        text += &format!(
            "
    // Bytes that the port of a queue sends in two base RTTs.
    function [63:0] drain_bytes;
        input [@QUEUE_TOP:0] of;
        drain_bytes = {drained};
    endfunction

    function [31:0] saturated;
        input [32:0] sum;
        saturated = sum[32] ? 32'hffffffff : sum[31:0];
    endfunction

    wire [63:0] elapsed_ns = time_ns > heard_ns[changed] ? time_ns - heard_ns[changed] : 64'd0;
    wire [63:0] forgotten = {{32'd0, recent[changed]}} * {{32'd0, elapsed_ns[31:0]}};
"
        );
    }
    text
}

fn pushable(switch: &SwitchSpec) -> String {
    let per_port = usize::from(switch.queues_per_port);
    let bits = (0..switch.queues()).rev().map(|queue| match switch.pushable[queue % per_port] {
        true => '1',
        false => '0',
    });
    format!(
        "    // Whether packets may be pushed out of a queue.
    function is_pushable;
        input [@QUEUE_TOP:0] of;
        reg   [{top}:0] mask;
        begin
            mask = {count}'b{bits};
            is_pushable = mask[of];
        end
    endfunction
",
        top = switch.queues() - 1,
        count = switch.queues(),
        bits = bits.collect::<String>(),
    )
}

fn predictor_of(model: &Checked<'_>) -> String {
    let inputs: String = model
        .origin
        .columns
        .iter()
        .map(|column| {
            let name = identifier(&column.name);
            format!("        .in_{name}(row_{name}),\n")
        })
        .collect();
    format!(
        "    /* verilator lint_off PINCONNECTEMPTY */
    {} forest (
        .clk(clk),
        .rst(rst),
        .valid_in(state == ASK),
{inputs}        .valid_out(answers),
        .score(),
        .drop(predicts)
    );
    /* verilator lint_on PINCONNECTEMPTY */
",
        predictor::name(model)
    )
}
