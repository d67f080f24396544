//! Credence's whole decision as code in C dialects: virtual LQD at line rate, thresholds, safeguard,
//! features and prediction. `docs/runtime.md` says how to use it.
//!
//! The code does what `dropcast_switch::CredencePolicy` does in a switch at line rate, packet by packet. It is headers that are
//! the same for every model and switch, configured by macros. The features are kept by the code of [`tracker`], the
//! forest is that of the model's own header.

mod bound;
mod layout;
mod memory;

use crate::ExportError;
use crate::checked::Checked;
use crate::definitions::Definitions;
use crate::target::EmittedFile;
use crate::tracker::{self, Dialect};
use dropcast_data::{Scheduler, SwitchSpec};
use dropcast_features::Feature;
use dropcast_runtime::{DriftMonitor, DriftRule, Keeps, crc32};
use layout::Layout;

/// How a C dialect spells the decision.
pub(crate) struct Words<'a> {
    /// Name of the target, for errors.
    pub(crate) target: &'static str,
    /// The dialect of the code that keeps the features.
    pub(crate) dialect: &'a Dialect<'a>,
    /// Definition of a row `x`.
    pub(crate) row: &'a str,
    /// Whether a drop is predicted for a row `x`.
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

pub(crate) use bound::harmless_level;
pub(crate) use layout::{LEAST_BYTES, places};
pub(crate) use memory::class_count;

const SWITCH: &str = include_str!("decision/dropcast_switch.h");
const LENGTH_CLASSES: &str = include_str!("decision/dropcast_length_classes.h");
const VIRTUAL_LQD: &str = include_str!("decision/dropcast_virtual_lqd.h");
const DECISION: &str = include_str!("decision/dropcast_decision.h");
const DRIVER: &str = include_str!("decision/driver.c.in");

/// The code of the decision at `switch`, after tracker and forest.
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
    let switch = &beside_the_pool(switch);
    let rates = rates(switch, words.target)?;
    let kept = tracker::kept(model);
    let harmless = harmless_level(model);
    let layout = Layout::new(switch, kept, harmless.is_some(), words.is_bounded);
    let mut defined = words.dialect.names();
    defined.flag("BOUNDED", words.is_bounded);
    tracker::define(model, &mut defined, words.dialect);
    defined.define("NEW_ROW(x)", words.row);
    defined.define("PREDICTS(x)", words.predicts);
    define_switch(&mut defined, switch, words.is_bounded);
    define_rates(&mut defined, &rates);
    let upper = format!("{}_", model.prefix.to_ascii_uppercase());
    defined.define("LQD_PACKETS", format!("{upper}PACKETS"));
    defined.define("LQD_SLACK_BYTES", format!("{upper}SLACK_BYTES"));
    if let Some(limit) = harmless {
        defined.number("LQD_HARMLESS", limit);
    }
    define_memory(&mut defined, switch, kept, &layout, words.is_bounded);
    Ok([
        &*constants(switch, words, state_layout(model, switch, harmless.is_some(), words)),
        &adjustable(&upper, switch, &layout),
        &defined.text(),
        "\n",
        SWITCH,
        "\n",
        if kept.classes { LENGTH_CLASSES } else { "" },
        VIRTUAL_LQD,
        "\n",
        DECISION,
        &defined.undefined(),
    ]
    .concat())
}

/// A dialect of C in which a decision can be tried.
pub(crate) struct DriverWords<'a> {
    /// The program's file, after the model's name.
    pub(crate) file: &'static str,
    /// The decision's header.
    pub(crate) header: &'a str,
    /// What comes before it, and after.
    pub(crate) around: [&'a str; 2],
    /// The type of the state.
    pub(crate) state: &'a str,
    /// An integer of 64 bits.
    pub(crate) u64: &'static str,
    /// Before names of functions, and of constants.
    pub(crate) prefixes: [&'a str; 2],
}

/// A program that asks a decision about packets.
pub(crate) fn driver(
    model: &Checked<'_>,
    switch: &SwitchSpec,
    words: &DriverWords<'_>,
) -> EmittedFile {
    let DriverWords { file, header, around: [before, after], state, u64, prefixes } = words;
    let rates: Vec<String> = switch.line_rate_bps.iter().map(|rate| format!("{rate}u")).collect();
    let name = format!("{}_{file}", model.prefix);
    let text = DRIVER
        .replace("@NAME", &model.prefix)
        .replace("@FILE", &name)
        .replace("@HEADER", header)
        .replace("@INCLUDES", &format!("{before}#include \"{header}\"{after}"))
        .replace("@STATE", state)
        .replace("@U64", u64)
        .replace("@RATES", &rates.join(",\n        "))
        .replace('@', prefixes[0])
        .replace('^', prefixes[1]);
    EmittedFile { name, bytes: text.into_bytes() }
}

/// What the decision costs, as lines of the comment at the top of a file.
pub(crate) fn costs(model: &Checked<'_>, switch: &SwitchSpec, is_bounded: bool) -> String {
    let switch = &beside_the_pool(switch);
    let kept = tracker::kept(model);
    let counts_busy = harmless_level(model).is_some();
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
    if let Some(problem) = misfit(model, switch) {
        return refuse(problem);
    }
    if switch.shared.contains(&false) && tracker::kept(model).classes {
        return refuse(
            "cut1 and class1 are not kept where queues are outside the shared buffer; train with level4"
                .into(),
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

/// The switch as the code sees it: a queue that does not draw on the shared buffer, such as a lossless one, has so many bytes beside it
/// that it never needs any.
pub(crate) fn beside_the_pool(switch: &SwitchSpec) -> SwitchSpec {
    let mut pooled = switch.clone();
    if !switch.shared.contains(&false) {
        return pooled;
    }
    let queues = 0..usize::from(switch.queues_per_port);
    let reserved = |queue: usize| match switch.shared[queue] {
        true => switch.reserved_bytes_of(queue),
        false => layout::UNLIMITED,
    };
    pooled.reserved_bytes = queues.map(reserved).collect();
    for (may, &shares) in pooled.pushable.iter_mut().zip(&switch.shared) {
        *may &= shares;
    }
    pooled
}

/// Why no exported code can decide with the model at a switch; `None` if it can.
pub(crate) fn misfit(model: &Checked<'_>, switch: &SwitchSpec) -> Option<String> {
    if let Some(feature) = tracker::of_flow(model) {
        return Some(no_decision_of_flows(feature));
    }
    if let Some(reason) = tracker::unkept(model) {
        return Some(reason);
    }
    if let Some(bytes) = model.origin.buffer_bytes.filter(|&bytes| bytes != switch.buffer_bytes) {
        let own = switch.buffer_bytes;
        return Some(format!(
            "the model is for a buffer of {bytes} bytes, the switch has {own}: see dropcast rescale"
        ));
    }
    let averaged = u64::from(model.average_ns);
    (averaged != 0 && averaged != switch.base_rtt_ns).then(|| {
        let own = switch.base_rtt_ns;
        format!(
            "the model is for a base RTT of {averaged} ns, the switch has {own} ns; features average over the base RTT, so label and \
             train with this description"
        )
    })
}

/// Why Credence does not decide with a model that has this feature of flows.
pub(crate) fn no_decision_of_flows(feature: Feature) -> String {
    format!(
        "{} describes the packet's flow, while Credence decides with the queues of virtual LQD; export the \
         predictor alone, without a switch",
        feature.name()
    )
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
        let overhead_bytes = switch.wire_overhead_bytes;
        let most =
            (u128::from(switch.buffer_bytes) + u128::from(overhead_bytes)) * u128::from(numerator);
        if most + u128::from(denominator) > u128::from(u64::MAX) {
            let problem = format!(
                "the wire time of a packet at {line_rate_bps} bits per second does not fit 64 bits"
            );
            return Err(ExportError::Decision { target, problem });
        }
        let drain_bytes = drain_bytes(line_rate_bps, switch.base_rtt_ns);
        Ok(Rate { line_rate_bps, numerator, denominator, drain_bytes, overhead_bytes })
    };
    switch.line_rate_bps.iter().map(rate).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A number that headers of one state share: a new model of the same features may take over the state that another has left.
fn state_layout(
    model: &Checked<'_>,
    switch: &SwitchSpec,
    counts_busy: bool,
    words: &Words<'_>,
) -> u32 {
    let mut features: Vec<&str> =
        model.origin.columns.iter().map(|column| column.name.as_str()).collect();
    features.sort_unstable();
    let version = &model.origin.tool_version;
    let is_bounded = words.is_bounded;
    // What a switch and its ports are called changes no state.
    let switch =
        SwitchSpec { name: None, port_names: Vec::new(), alpha_is_power: false, ..switch.clone() };
    crc32(format!("{version} {switch:?} {features:?} {counts_busy} {is_bounded}").as_bytes())
}

/// Constants for whoever calls.
fn constants(switch: &SwitchSpec, words: &Words<'_>, state_layout: u32) -> String {
    let values = [
        ("SWITCH_PORTS", format!("{}u", switch.ports())),
        ("QUEUES_PER_PORT", format!("{}u", switch.queues_per_port)),
        ("SWITCH_QUEUES", format!("{}u", switch.queues())),
        ("SWITCH_BUFFER_BYTES", format!("{}u", switch.buffer_bytes)),
        ("SWITCH_BASE_RTT_NS", format!("{}u", switch.base_rtt_ns)),
        ("PRECISION_ONE", format!("{}u", DriftMonitor::ONE)),
        ("STATE_LAYOUT", format!("{state_layout:#010x}u")),
    ];
    let constant = |(name, value): &(&str, String)| {
        (words.constant)(&format!("{}{name}", words.dialect.constant_prefix), value)
    };
    format!(
        "/* The switch: ports, queues, shared buffer B, base RTT. The unit of the precision of predictions. And what headers that can take over\n * each other's state share. */\n{}\n",
        values.iter().map(constant).collect::<String>()
    )
}

/// Constants that may be defined before the header is included.
fn adjustable(upper: &str, switch: &SwitchSpec, layout: &Layout) -> String {
    format!(
        "\
/* Packets that virtual LQD can hold at once. Where more arrive, one that finds no place is not
 * admitted, and counted in unheld: thresholds are then lower than LQD's queues. The default is enough
 * for packets of {LEAST_BYTES} bytes and more. Define another number before this header is included. */
#ifndef {upper}PACKETS
#define {upper}PACKETS {packets}u
#endif

/* How much longer than its threshold a queue may become: slack_bytes of the switch's description. Reports
 * replay that value, so give another one there, not here. Where ports transmit a packet later than virtual
 * LQD's, every packet behind it is dropped without a slack of the size of the largest packet. */
#ifndef {upper}SLACK_BYTES
#define {upper}SLACK_BYTES {slack}u
#endif

/* What the code below is configured by. */
",
        packets = layout.packets,
        slack = switch.slack_bytes,
    )
}

fn define_switch(defined: &mut Definitions, switch: &SwitchSpec, is_bounded: bool) {
    let rule = DriftRule::default();
    let scheduler = match switch.scheduler {
        Scheduler::RoundRobin => "LQD_ROUND_ROBIN",
        Scheduler::StrictPriority => "LQD_STRICT",
        Scheduler::Dwrr => "LQD_DWRR",
    };
    defined.number("LQD_PORTS", switch.ports());
    defined.number("LQD_PER_PORT", switch.queues_per_port);
    defined.number("LQD_QUEUES", switch.queues());
    defined.number("LQD_BUFFER_BYTES", switch.buffer_bytes);
    defined.number("LQD_BASE_RTT_NS", switch.base_rtt_ns);
    defined.number("LQD_LONG_BYTES", long_bytes(switch));
    defined.number("LQD_RING", switch.transmit_ring_packets);
    defined.flag(scheduler, switch.queues_per_port > 1);
    if switch.scheduler == Scheduler::Dwrr {
        defined.array("LQD_QUANTA", &numbers(&switch.quantum_bytes));
    }
    define_pushable(defined, switch, is_bounded);
    if !switch.reserved_bytes.is_empty() {
        // By queue: the verifier of eBPF does not know the bounds of a remainder.
        let by_queue = (0..switch.queues()).map(|queue| switch.reserved_bytes_of(queue));
        defined.array("LQD_RESERVED", &numbers(&by_queue.collect::<Vec<_>>()));
    }
    defined.number("LQD_PRECISION_ONE", DriftMonitor::ONE);
    defined.number("LQD_WINDOW", rule.window());
    defined.number("LQD_FALL_BELOW", rule.fall_below);
    defined.number("LQD_RECOVER_AT", rule.recover_at);
}

fn numbers(of: &[u32]) -> Vec<String> {
    of.iter().map(|number| format!("{number}u")).collect()
}

/// Which queues packets are pushed out of, and how the longest of them is found.
fn define_pushable(defined: &mut Definitions, switch: &SwitchSpec, is_bounded: bool) {
    let all = switch.pushable.iter().all(|&pushable| pushable);
    if !all {
        let bits = switch.pushable.iter().rev().fold(0_u32, |bits, &of| bits << 1 | u32::from(of));
        defined.number("LQD_PUSHABLE", bits);
    }
    let bits = switch.queues().next_power_of_two().trailing_zeros();
    if is_bounded || u64::from(switch.buffer_bytes) << bits >= 1 << 31 {
        return;
    }
    defined.number("LQD_KEY_BITS", bits);
    if !all {
        let of = |at: usize| match at < switch.queues()
            && switch.pushable[at % usize::from(switch.queues_per_port)]
        {
            true => "0xffffffffu".to_owned(),
            false => "0u".to_owned(),
        };
        let masks: Vec<String> = (0..memory::scanned(switch)).map(of).collect();
        defined.array("LQD_KEY_MASKS", &masks);
    }
}

/// What follows from the ports' rates. Constants if all have the same one: compilers divide by these with a
/// multiplication.
fn define_rates(defined: &mut Definitions, rates: &[Rate]) {
    defined.number("LQD_OVERHEAD_BYTES", rates[0].overhead_bytes);
    if rates.iter().all(|rate| rate == &rates[0]) {
        defined.flag("LQD_UNIFORM", true);
        defined.number("LQD_RATE_BPS", rates[0].line_rate_bps);
        defined.number("LQD_DRAIN_BYTES", rates[0].drain_bytes);
        defined.number("LQD_NS_NUMERATOR", rates[0].numerator);
        defined.number("LQD_NS_DENOMINATOR", rates[0].denominator);
        return;
    }
    let mut by_port = |name, of: fn(&Rate) -> String| {
        defined.array(name, &rates.iter().map(of).collect::<Vec<_>>());
    };
    by_port("LQD_RATE_BPS", |rate| format!("{}u", rate.line_rate_bps));
    by_port("LQD_DRAIN_BYTES", |rate| format!("{}u", rate.drain_bytes));
    by_port("LQD_NS_PER_BYTE", |rate| format!("{{{}u, {}u}}", rate.numerator, rate.denominator));
}

/// Lengths of arrays.
fn define_memory(
    defined: &mut Definitions,
    switch: &SwitchSpec,
    kept: Keeps,
    layout: &Layout,
    is_bounded: bool,
) {
    defined.number("LQD_LEAVES", layout.leaves);
    let scanned = if is_bounded { layout.queue_places } else { memory::scanned(switch) };
    defined.number("LQD_SCANNED", scanned);
    defined.number("LQD_WORDS", memory::words(switch));
    defined.number("LQD_PORT_PLACES", if is_bounded { layout.leaves } else { switch.ports() });
    defined.number("LQD_QUEUE_PLACES", layout.queue_places);
    defined.number("LQD_OWN_PLACES", layout.port_queues);
    if kept.classes {
        defined.number("LQD_CLASSES", class_count(switch));
        defined.number("LQD_CLASS_PLACES", layout.class_places);
    }
    if layout.ring_places > 0 {
        defined.number("LQD_RING_PLACES", layout.ring_places);
    }
}

/// What a port sends in two base RTTs.
fn drain_bytes(line_rate_bps: u64, base_rtt_ns: u64) -> u64 {
    let drained = u128::from(line_rate_bps) * u128::from(base_rtt_ns) / 4_000_000_000;
    u64::try_from(drained).unwrap_or(u64::MAX)
}

/// `B/N`, rounded up: a queue that holds as much is long.
fn long_bytes(spec: &SwitchSpec) -> u64 {
    u64::from(spec.buffer_bytes).div_ceil(spec.ports() as u64)
}
