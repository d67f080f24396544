//! The whole decision: virtual LQD, thresholds, safeguard, features, prediction.
//!
//! The module is the same for every model and switch. What is written beside it sets its parameters, and joins it with the forest.

use super::{about, predictor};
use crate::ExportError;
use crate::checked::Checked;
use crate::decision::{self, LEAST_BYTES, Rate};
use crate::ident::identifier;
use crate::tracker;
use dropcast_data::{Scheduler, SwitchSpec};
use dropcast_runtime::{DriftRule, Keeps, keeps};

/// The decision, the same for every model.
pub(super) const DECISION: (&str, &str) =
    ("dropcast_decision.v", include_str!("dropcast_decision.v"));

/// Packets and verdicts, as every module that passes them on connects them.
pub(super) const PINS: &str = "        .arrival(arrival),
        .departure(departure),
        .port(port),
        .queue(queue),
        .size_bytes(size_bytes),
        .now_ns(now_ns),
        .fall_back(fall_back),
        .decided(decided),
        .verdict(verdict),
        .precision(precision),
        .unheld(unheld)";

/// What the module is, in the comment at the top.
fn what(switch: &SwitchSpec) -> String {
    format!(
        "\
Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1) with this model, in one
switch: dropcast_decision.v, which says what it does, and the forest. Needs that file, the forest's, and
dropcast_average.v if there are moving averages.

A queue may exceed its threshold by {} bytes, as reports replay it: slack_bytes of the switch's description.
",
        switch.slack_bytes
    )
}

/// The file of the module that joins the decision and the forest.
///
/// # Errors
/// If the model does not fit the switch.
pub(super) fn module(model: &Checked<'_>, switch: &SwitchSpec) -> Result<String, ExportError> {
    decision::check(model, switch, "verilog")?;
    let switch = &decision::beside_the_pool(switch);
    let name = name(model);
    Ok(format!(
        "\
{about}
`default_nettype none

module {name} #(
    // The constants of the switch that this module is in: refused is 1 if it was made for another one.
    parameter [31:0] SWITCH_PORTS = 32'd{ports},
    parameter [31:0] QUEUES_PER_PORT = 32'd{per_port},
    parameter [31:0] SWITCH_BUFFER_BYTES = 32'd{buffer},
    parameter [63:0] SWITCH_BASE_RTT_NS = 64'd{rtt},
    // Port 0 in the lowest 64 bits.
    parameter [64*{ports}-1:0] LINE_RATE_BPS = {rates},
    // Packets that virtual LQD can hold at once; unheld counts those that found no place. The default is
    // enough for packets of {LEAST_BYTES} bytes and more.
    parameter [31:0] PACKETS = 32'd{packets},
    // How much longer than its threshold a queue may become: slack_bytes of the switch's description, which
    // reports replay.
    parameter [31:0] SLACK_BYTES = 32'd{slack}
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
    output wire        decided,
    output wire [2:0]  verdict,
    // The share of the last predicted drops that virtual LQD confirmed, in units of 2^-24.
    output wire [24:0] precision,
    output wire [31:0] unheld
);

    assign refused = SWITCH_PORTS != 32'd{ports} || QUEUES_PER_PORT != 32'd{per_port}
        || SWITCH_BUFFER_BYTES != 32'd{buffer} || SWITCH_BASE_RTT_NS != 64'd{rtt}
        || LINE_RATE_BPS != {rates};

    wire idle, asks, answers, predicts;
    assign ready = idle && !refused;
{rows}
    // Rows of features that the model does not use are left open.
    /* verilator lint_off PINMISSING */
    dropcast_decision #(
{parameters}    ) decision (
        .clk(clk),
        .rst(rst || refused),
        .ready(idle),
{PINS},
{row_pins}        .asks(asks),
        .answers(answers),
        .predicts(predicts)
    );

    {predictor} forest (
        .clk(clk),
        .rst(rst),
        .valid_in(asks),
{forest_pins}        .valid_out(answers),
        .drop(predicts)
    );
    /* verilator lint_on PINMISSING */

endmodule

`default_nettype wire
",
        about = about::about(model, &name, &what(switch)),
        ports = switch.ports(),
        per_port = switch.queues_per_port,
        buffer = switch.buffer_bytes,
        rtt = switch.base_rtt_ns,
        rates = by_port(&switch.line_rate_bps),
        packets = packets(switch),
        slack = switch.slack_bytes,
        rows = of_columns(model, |name| format!("    wire [31:0] row_{name};\n")),
        parameters = parameters(model, switch)?,
        row_pins = of_columns(model, |name| format!("        .row_{name}(row_{name}),\n")),
        predictor = predictor::name(model),
        forest_pins = of_columns(model, |name| format!("        .in_{name}(row_{name}),\n")),
    ))
}

/// The module's name.
pub(super) fn name(model: &Checked<'_>) -> String {
    format!("{}_decision", model.prefix)
}

/// Places for packets, by default.
pub(super) fn packets(switch: &SwitchSpec) -> u32 {
    decision::places(&decision::beside_the_pool(switch)).max(1)
}

/// A line for each feature, by its name.
fn of_columns(model: &Checked<'_>, line: impl Fn(&str) -> String) -> String {
    model.origin.columns.iter().map(|column| line(&identifier(&column.name))).collect()
}

/// What the module is configured by.
fn parameters(model: &Checked<'_>, switch: &SwitchSpec) -> Result<String, ExportError> {
    let rates = decision::rates(switch, "verilog")?;
    let of_rates = |of: fn(&Rate) -> u64| by_port(&rates.iter().map(of).collect::<Vec<_>>());
    let rule = DriftRule::default();
    let window_ns = window_ns(switch);
    let scheduler = match switch.scheduler {
        Scheduler::RoundRobin => 0,
        Scheduler::StrictPriority => 1,
        Scheduler::Dwrr => 2,
    };
    let pushable = switch.pushable.iter().rev().map(|&is| if is { '1' } else { '0' });
    let pushable: String = pushable.collect();
    let mut set = vec![
        ("PORTS", switch.ports().to_string()),
        ("QUEUES_PER_PORT", switch.queues_per_port.to_string()),
        ("BUFFER_BYTES", format!("32'd{}", switch.buffer_bytes)),
        ("NS_NUMERATOR", of_rates(|rate| rate.numerator)),
        ("NS_DENOMINATOR", of_rates(|rate| rate.denominator)),
        ("DRAIN_BYTES", of_rates(|rate| rate.drain_bytes)),
        ("OVERHEAD_BYTES", format!("32'd{}", switch.wire_overhead_bytes)),
        ("SCHEDULER", scheduler.to_string()),
        ("PUSHABLE", format!("{}'b{pushable}", switch.queues_per_port)),
        ("RING_PACKETS", format!("32'd{}", switch.transmit_ring_packets)),
        ("PACKETS", "PACKETS".to_owned()),
        ("SLACK_BYTES", "SLACK_BYTES".to_owned()),
        ("WINDOW_NS", format!("64'd{window_ns}")),
        ("TAU_NS", format!("32'd{}", model.average_ns)),
        ("DIVIDE_BITS", divide_bits(model, switch, &rates).to_string()),
        ("PRECISION_WINDOW_BITS", rule.window_bits.to_string()),
        ("FALL_BELOW", format!("25'd{}", rule.fall_below)),
        ("RECOVER_AT", format!("25'd{}", rule.recover_at)),
    ];
    if switch.scheduler == Scheduler::Dwrr {
        set.push(("QUANTUM_BYTES", verilog_words(&switch.quantum_bytes)));
    }
    if !switch.reserved_bytes.is_empty() {
        set.push(("RESERVED_BYTES", verilog_words(&switch.reserved_bytes)));
    }
    let mut lines: Vec<String> =
        set.into_iter().map(|(name, value)| format!("        .{name}({value})")).collect();
    // What keeps nothing is always there.
    let used = model.origin.columns.iter().filter(|of| keeps(of.code) != Some(Keeps::default()));
    lines
        .extend(used.map(|of| format!("        .USES_{}(1)", identifier(&of.name).to_uppercase())));
    Ok(lines.join(",\n") + "\n")
}

/// An eighth of a base RTT.
fn window_ns(switch: &SwitchSpec) -> u64 {
    (switch.base_rtt_ns / 8).max(1)
}

/// Bits of the largest dividend.
fn divide_bits(model: &Checked<'_>, switch: &SwitchSpec, rates: &[Rate]) -> u32 {
    let bits = |number: u64| u64::BITS - number.leading_zeros();
    let largest = |rate: &Rate| {
        let bytes = u64::from(switch.buffer_bytes) + u64::from(switch.wire_overhead_bytes);
        bits(bytes * rate.numerator + rate.denominator)
    };
    let wire = rates.iter().map(largest).max().unwrap_or(1);
    let has_arrivals = tracker::kept(model).arrivals;
    if has_arrivals { wire.max(32 + bits(window_ns(switch))) } else { wire }.max(2)
}

/// Numbers of 64 bits in a vector of Verilog, port 0 in the lowest.
fn by_port(numbers: &[u64]) -> String {
    if numbers.iter().all(|number| number == &numbers[0]) {
        return format!("{{{}{{64'd{}}}}}", numbers.len(), numbers[0]);
    }
    let words: Vec<String> = numbers.iter().rev().map(|number| format!("64'd{number}")).collect();
    format!("{{{}}}", words.join(", "))
}

/// Numbers of 32 bits in a vector of Verilog, the first one in the lowest bits.
fn verilog_words(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().rev().map(|number| format!("32'd{number}")).collect();
    format!("{{{}}}", words.join(", "))
}
