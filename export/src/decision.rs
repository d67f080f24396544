//! Credence's whole decision as code in C dialects: virtual LQD at line rate, thresholds, safeguard,
//! features and prediction. `docs/decision.md` says how to use it.
//!
//! The code does what `dropcast_switch::Credence` does in a switch at line rate, packet by packet.
//! The features are kept by the code of [`tracker`], the forest is that of the model's own header.

mod bound;
mod bounded;
mod layout;
mod memory;

use crate::ExportError;
use crate::checked::Checked;
use crate::tracker::{self, Dialect};
use dropcast_data::{Scheduler, SwitchSpec};
use dropcast_oracle::{DriftMonitor, DriftRule};
use layout::Layout;
use memory::wrapped;

/// How a C dialect spells the decision.
pub(crate) struct Words<'a> {
    /// Name of the target, for errors.
    pub(crate) target: &'static str,
    /// The dialect of the code that keeps the features.
    pub(crate) dialect: &'a Dialect<'a>,
    /// The unsigned type of 16 bits.
    pub(crate) u16_type: &'a str,
    /// Declaration of a row `x`.
    pub(crate) row: &'a str,
    /// The function that predicts a drop from a row.
    pub(crate) predicts: &'a str,
    /// Whether every loop needs a bound and every index a mask.
    pub(crate) is_bounded: bool,
    /// A constant's definition, of its name and value.
    pub(crate) constant: fn(name: &str, value: &str) -> String,
}

/// More queues than this are no switch: the longest one is found by a scan.
const MOST_QUEUES: usize = 4096;

/// Queues of a port, so that a word holds a bit for each.
const MOST_QUEUES_PER_PORT: u8 = 32;

/// Packets in a port's transmit ring: each takes eight bytes for each port.
const MOST_RING_PACKETS: u16 = 256;

pub(crate) use layout::LEAST_BYTES;
pub(crate) use memory::class_count;

/// The code of the decision at `switch`, after constants, tracker and forest.
///
/// # Errors
/// If the model does not fit the switch, its features are not kept by exported code, or the switch
/// has what the code cannot do.
pub(crate) fn code(
    model: &Checked<'_>,
    switch: &SwitchSpec,
    words: &Words<'_>,
) -> Result<String, ExportError> {
    check(model, switch, words.target)?;
    let rates = rates(switch, words.target)?;
    let upper = model.prefix.to_ascii_uppercase();
    let kept = tracker::kept(model);
    let harmless = bound::harmless_level(model);
    let counts_busy = harmless.is_some();
    let layout = Layout::new(switch, kept, counts_busy, words.is_bounded);
    let form = if words.is_bounded { &memory::EACH } else { &memory::FORM };
    let listed = kept.others && !words.is_bounded;
    let template = [
        if words.is_bounded { bounded::LOOP } else { "" },
        &constants(switch, words),
        &lines(&rates),
        include_str!("decision/state.h"),
        "\n",
        if listed { LOWEST } else { "" },
        &memory::classes(kept),
        &tracker::observe(model, words.dialect, form),
        "\n",
        &memory::change(kept, listed, counts_busy),
        "\n",
        include_str!("decision/virtual_lqd.h"),
        "\n",
        include_str!("decision/decide.h"),
    ]
    .concat();
    let template =
        if words.is_bounded { bounded::stepped(&template) } else { bounded::looped(&template) };
    let text = template
        .replace("@port_struct", &port_struct(switch))
        .replace("@port_member", if has_ports(switch) { PORT_MEMBER } else { "" })
        .replace("@pick\n", &pick(switch))
        .replace("@send\n", if switch.transmit_ring_packets > 0 { SEND_RING } else { SEND })
        .replace("@longest\n", &format!("{}\n", memory::longest(switch, words.is_bounded)))
        .replace("@empty_classes", if kept.classes.any() { memory::NO_CLASSES } else { "" })
        .replace("@wide_members", &memory::wide_members(kept, listed))
        .replace("@narrow_members", &memory::narrow_members(kept, counts_busy))
        .replace("@worth_asking", &worth_asking(harmless));
    let text = if words.is_bounded { bounded::masked(&text, &layout) } else { text };
    let text = text
        .replace("@CLASSES", &memory::class_count(switch).to_string())
        .replace("@SCANNED", &memory::scanned(switch).to_string())
        .replace("@WORDS", &format!("{}u", memory::words(switch)))
        .replace("@LANES", &memory::LANES.to_string())
        .replace("@RING", &switch.transmit_ring_packets.to_string())
        .replace("@LEAVES", &layout.leaves.to_string())
        .replace("@packets", &layout.packets.to_string())
        .replace("@least", &LEAST_BYTES.to_string())
        .replace("@slack", &switch.slack_bytes.to_string())
        .replace("@UPPER", &upper)
        .replace("@u16", words.u16_type)
        .replace("@row", words.row)
        .replace("@predicts", words.predicts)
        .replace("@C", words.dialect.constant_prefix);
    Ok(words.dialect.spell(&text))
}

/// What the decision costs, as lines of the comment at the top of a file.
pub(crate) fn costs(model: &Checked<'_>, switch: &SwitchSpec, is_bounded: bool) -> String {
    let kept = tracker::kept(model);
    let counts_busy = bound::harmless_level(model).is_some();
    let layout = Layout::new(switch, kept, counts_busy, is_bounded);
    format!(
        " * A queue may exceed its threshold by {slack} bytes, as reports replay it: slack_bytes of the switch's
 * description.
 *
 * State, on a machine with 64-bit integers aligned to 8 bytes: {queue} bytes for each of {queues}
 * queues, {port} for each of {ports} ports, {packet} for each of {packets} packets, {total} in all.
 *
 * Steps for a packet, N queues at P ports: a departure of virtual LQD and its arrival there take log2(P)
 * each; a packet that LQD pushes out takes N. If the decision depends on a prediction: the features,
 * N if the model needs the other queues, and the forest.
",
        slack = switch.slack_bytes,
        queue = layout.queue_bytes,
        queues = switch.queues(),
        port = layout.port_bytes,
        ports = switch.ports(),
        packet = layout.packet_bytes,
        packets = layout.packets,
        total = layout.total_bytes,
    )
}

/// A condition without which the forest predicts no drop.
fn worth_asking(harmless: Option<u32>) -> String {
    harmless.map_or_else(String::new, |limit| {
        format!(
            "
        /* Levels are at most this product; up to {limit} the forest predicts no drop. */
        && (@u64)state->busy_queues * state->bytes[at] > {limit}u"
        )
    })
}

/// Whether there is exported code of the decision.
///
/// # Errors
/// Why there is none.
pub(crate) fn check(
    model: &Checked<'_>,
    switch: &SwitchSpec,
    target: &'static str,
) -> Result<(), ExportError> {
    let refuse = |problem: String| Err(ExportError::Decision { target, problem });
    if let Some(reason) = tracker::unkept(model) {
        return refuse(reason);
    }
    if let Some(bytes) = model.origin.buffer_bytes.filter(|&bytes| bytes != switch.buffer_bytes) {
        let own = switch.buffer_bytes;
        return refuse(format!(
            "the model is for a buffer of {bytes} bytes, the switch has {own}: see dropcast rescale"
        ));
    }
    let averaged = u64::from(model.average_ns);
    if averaged != 0 && averaged != switch.base_rtt_ns {
        let own = switch.base_rtt_ns;
        return refuse(format!(
            "the model is for a base RTT of {averaged} ns, the switch has {own} ns"
        ));
    }
    if !switch.reserved_bytes.is_empty() {
        return refuse(
            "its queues have reserved_bytes, which exported virtual queues do not model; export the \
             prediction without the switch"
                .into(),
        );
    }
    if switch.shared.contains(&false) {
        return refuse(
            "a queue does not draw on the shared buffer, so that nothing bounds its packets".into(),
        );
    }
    if switch.buffer_bytes > i32::MAX.unsigned_abs() {
        let (own, most) = (switch.buffer_bytes, i32::MAX);
        return refuse(format!("the buffer has {own} bytes, at most {most}"));
    }
    if switch.queues() > MOST_QUEUES {
        return refuse(format!("the switch has {} queues, at most {MOST_QUEUES}", switch.queues()));
    }
    if switch.queues_per_port > MOST_QUEUES_PER_PORT {
        let queues = switch.queues_per_port;
        return refuse(format!("a port has {queues} queues, at most {MOST_QUEUES_PER_PORT}"));
    }
    if switch.transmit_ring_packets > MOST_RING_PACKETS {
        let packets = switch.transmit_ring_packets;
        return refuse(format!(
            "a transmit ring has {packets} packets, at most {MOST_RING_PACKETS}"
        ));
    }
    Ok(())
}

/// A port's rate, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Bits per second.
    line_rate_bps: u64,
    /// A byte takes `numerator / denominator` ns, in lowest terms.
    pub(crate) numerator: u64,
    /// See `numerator`.
    pub(crate) denominator: u64,
    /// Bytes sent in two base RTTs.
    pub(crate) drain_bytes: u64,
    /// [`SwitchSpec::wire_overhead_bytes`].
    overhead_bytes: u32,
}

/// The rate of each port; wire times of packets up to the buffer's size must fit 64 bits.
///
/// # Errors
/// If they do not.
pub(crate) fn rates(switch: &SwitchSpec, target: &'static str) -> Result<Vec<Rate>, ExportError> {
    const BIT_NS_PER_BYTE: u64 = 8_000_000_000;
    let rate = |&line_rate_bps: &u64| {
        let common = gcd(BIT_NS_PER_BYTE, line_rate_bps);
        let (numerator, denominator) = (BIT_NS_PER_BYTE / common, line_rate_bps / common);
        let drained = u128::from(line_rate_bps) * u128::from(2 * switch.base_rtt_ns)
            / u128::from(BIT_NS_PER_BYTE);
        let overhead_bytes = switch.wire_overhead_bytes;
        let most =
            (u128::from(switch.buffer_bytes) + u128::from(overhead_bytes)) * u128::from(numerator);
        if most + u128::from(denominator) > u128::from(u64::MAX) {
            let problem = format!(
                "the wire time of a packet at {line_rate_bps} bits per second does not fit 64 bits"
            );
            return Err(ExportError::Decision { target, problem });
        }
        let drain_bytes = u64::try_from(drained).unwrap_or(u64::MAX);
        Ok(Rate { line_rate_bps, numerator, denominator, drain_bytes, overhead_bytes })
    };
    switch.line_rate_bps.iter().map(rate).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn constants(switch: &SwitchSpec, words: &Words<'_>) -> String {
    let long_bytes = u64::from(switch.buffer_bytes).div_ceil(switch.ports() as u64);
    let rule = DriftRule::default();
    let values = [
        ("SWITCH_PORTS", format!("{}u", switch.ports())),
        ("QUEUES_PER_PORT", format!("{}u", switch.queues_per_port)),
        ("SWITCH_QUEUES", format!("{}u", switch.queues())),
        ("SWITCH_BUFFER_BYTES", format!("{}u", switch.buffer_bytes)),
        ("SWITCH_BASE_RTT_NS", format!("{}u", switch.base_rtt_ns)),
        ("LONG_BYTES", format!("{long_bytes}u")),
        ("PREDICTED", format!("{:#x}u", 1_u32 << 31)),
        ("PRECISION_ONE", format!("{}u", DriftMonitor::ONE)),
        ("DRIFT_WINDOW", format!("{}u", rule.window())),
        ("FALL_BELOW", format!("{}u", rule.fall_below)),
        ("RECOVER_AT", format!("{}u", rule.recover_at)),
    ];
    let constant = |(name, value): &(&str, String)| {
        (words.constant)(&format!("{}{name}", words.dialect.constant_prefix), value)
    };
    format!(
        "/* The switch: ports, queues, shared buffer B, base RTT. LONG_BYTES is B/N, rounded up.
 * The others belong to the precision of predictions. */\n{}\n",
        values.iter().map(constant).collect::<String>()
    )
}

/// The functions of a port that depend on its rate; a switch with one rate has constants instead
/// of a table, which compilers divide by with a multiplication.
fn lines(rates: &[Rate]) -> String {
    let overhead_bytes = rates[0].overhead_bytes;
    let is_uniform = is_uniform(rates);
    let value = |of: fn(&Rate) -> u64| {
        let values: Vec<String> = rates.iter().map(|rate| format!("{}u", of(rate))).collect();
        if is_uniform {
            ("    (void)port;\n".to_owned(), values[0].clone())
        } else {
            let values = wrapped(&values);
            let table =
                format!("    static const @u64 by_port[@CSWITCH_PORTS] = {{\n{values}    }};\n\n");
            (table, "by_port[port]".to_owned())
        }
    };
    let (rate_table, rate) = value(|rate| rate.line_rate_bps);
    let (drain_table, drain) = value(|rate| rate.drain_bytes);
    let wire = if is_uniform {
        let Rate { numerator, denominator, .. } = rates[0];
        format!(
            "    (void)port;\n    return (((@u64)size_bytes + {overhead_bytes}u) * {numerator}u + {round}u) / {denominator}u;\n",
            round = denominator - 1,
        )
    } else {
        let fractions: Vec<String> = rates
            .iter()
            .map(|rate| format!("{{{}u, {}u}}", rate.numerator, rate.denominator))
            .collect();
        format!(
            "    static const @u64 ns_per_byte[@CSWITCH_PORTS][2] = {{\n{}    }};\n\n    return (((@u64)size_bytes + {overhead_bytes}u) * ns_per_byte[port][0] + ns_per_byte[port][1] - 1u)\n           / ns_per_byte[port][1];\n",
            wrapped(&fractions),
        )
    };
    format!(
        "\
/* Line rate of a port, bits per second. */
@inline @u64 @prefixport_rate_bps(@u32 port)
{{
{rate_table}    return {rate};
}}

/* Bytes that a port sends in two base RTTs. */
@inline @u64 @prefixport_drain_bytes(@u32 port)
{{
{drain_table}    return {drain};
}}

/* Time on the wire of a packet that takes size_bytes in the buffer, rounded up, ns. */
@inline @u64 @prefixwire_ns(@u32 port, @u32 size_bytes)
{{
{wire}}}

"
    )
}

/// Whether all ports have the same rate.
fn is_uniform(rates: &[Rate]) -> bool {
    rates.iter().all(|rate| rate == &rates[0])
}

const LOWEST: &str = include_str!("decision/lowest.h");
const SEND: &str = concat!(include_str!("decision/send.h"), "\n");
const SEND_RING: &str = concat!(include_str!("decision/send_ring.h"), "\n");
const PORT_MEMBER: &str = "    struct @prefixport ports[@CSWITCH_PORTS];\n";

/// Whether a port has any state beside its next departure.
fn has_ports(switch: &SwitchSpec) -> bool {
    switch.transmit_ring_packets > 0 || has_turns(switch)
}

/// Whether a port's scheduler remembers anything.
fn has_turns(switch: &SwitchSpec) -> bool {
    switch.queues_per_port > 1 && switch.scheduler != Scheduler::StrictPriority
}

fn port_struct(switch: &SwitchSpec) -> String {
    if !has_ports(switch) {
        return String::new();
    }
    let mut members = String::new();
    if switch.transmit_ring_packets > 0 {
        members += "    /* End of transmission of the last dequeued packet. */\n    @u64 sent_ns;\n    \
            /* Transmission starts of the last dequeued packets; next is the oldest. */\n    \
            @u64 begun_ns[@RING];\n";
    }
    if has_turns(switch) && switch.scheduler == Scheduler::Dwrr {
        members += "    /* Bytes that each queue may still send. */\n    \
            @u64 deficit_bytes[@CQUEUES_PER_PORT];\n    /* Whether this turn's queue got its quantum. */\n    \
            @u32 was_credited;\n";
    }
    if has_turns(switch) {
        members += "    /* The first queue to consider. */\n    @u32 turn;\n";
    }
    if switch.transmit_ring_packets > 0 {
        members += "    @u32 next;\n    @u32 begun;\n";
    }
    format!("\n/* A port of virtual LQD. */\nstruct @prefixport {{\n{members}}};\n")
}

fn pick(switch: &SwitchSpec) -> String {
    let text = match switch.scheduler {
        _ if switch.queues_per_port == 1 => include_str!("decision/pick_only.h"),
        Scheduler::StrictPriority => include_str!("decision/pick_strict.h"),
        Scheduler::RoundRobin => include_str!("decision/pick_round_robin.h"),
        Scheduler::Dwrr => include_str!("decision/pick_dwrr.h"),
    };
    let quanta: Vec<String> =
        switch.quantum_bytes.iter().map(|bytes| format!("{bytes}u")).collect();
    format!("{}\n", text.replace("@quanta", &quanta.join(", ")))
}
