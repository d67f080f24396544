//! The switch's constants and the memory of a decision, in Rust, for `dropcast-runtime`.

use crate::ExportError;
use crate::about::{about, commented};
use crate::checked::Checked;
use crate::decision::{self, LEAST_BYTES};
use crate::tracker;
use dropcast_data::{Scheduler, SwitchSpec};
use dropcast_runtime::Memory;

/// What makes a decision of the constants and the memory.
const INIT: &str = "\
/// An empty switch. The arguments are the switch's constants: an error says which of them this file was
/// not made for. `line_rate_bps` has a value for each port.
pub fn init<'a>(
    state: &'a mut State,
    ports: u32,
    queues_per_port: u32,
    buffer_bytes: u64,
    base_rtt_ns: u64,
    line_rate_bps: &[u64],
) -> Result<Credence<'a, Table<'a>>, NotReady> {
    SWITCH.check(ports, queues_per_port, buffer_bytes, base_rtt_ns, line_rate_bps)?;
    let memory = Memory {
        ports: &mut state.ports,
        queues: &mut state.queues,
        packets: &mut state.packets,
        heard_ns: &mut state.heard_ns,
        classes: &mut state.classes,
        averages: &mut state.averages,
        rings: &mut state.rings,
        deficits: &mut state.deficits,
        reserves: &mut state.reserves,
    };
    Credence::with_table(SWITCH, memory, Table::parse(TABLE).map_err(NotReady::BadTable)?)
}
";

/// `NAME_decision.rs`, beside the file `table`.
pub(super) fn text(
    model: &Checked<'_>,
    switch: &SwitchSpec,
    table: &str,
) -> Result<String, ExportError> {
    decision::check(model, switch, "dct")?;
    let switch = &decision::beside_the_pool(switch);
    let sizes = Sizes::new(model, switch);
    let quanta: Vec<String> = switch.quantum_bytes.iter().map(ToString::to_string).collect();
    let service = match switch.scheduler {
        Scheduler::RoundRobin => "RoundRobin".to_owned(),
        Scheduler::StrictPriority => "StrictPriority".to_owned(),
        Scheduler::Dwrr => format!("Dwrr(&[{}])", quanta.join(", ")),
    };
    let pushable: u32 =
        (0_u32..).zip(&switch.pushable).map(|(at, &may)| u32::from(may) << at).sum();
    Ok(format!(
        "\
{about}
use dropcast_runtime::{{
    Average, ClassState, Credence, Memory, NotReady, PacketState, PortState, QueueState, ReservedState,
    Service, SwitchConstants, Table,
}};

/// The forest.
pub static TABLE: &[u8] = include_bytes!(\"{table}\");

/// The switch.
pub const SWITCH: SwitchConstants<'static> = SwitchConstants {{
    queues_per_port: {queues_per_port},
    buffer_bytes: {buffer_bytes},
    base_rtt_ns: {base_rtt_ns},
    line_rate_bps: &{rates},
    service: Service::{service},
    wire_overhead_bytes: {overhead},
    transmit_ring_packets: {ring},
    slack_bytes: {slack},
    reserved_bytes: &{reserved:?},
    pushable: {pushable:#x},
}};

/// The memory of a switch. Virtual LQD holds up to {packets} packets: place for each of {least} bytes and
/// more in the buffer.
pub struct State {{
    ports: [PortState; {ports}],
    queues: [QueueState; {queues}],
    packets: [PacketState; {packets}],
    heard_ns: [u64; {heard}],
    classes: [ClassState; {classes}],
    averages: [Average; {averages}],
    rings: [u64; {rings}],
    deficits: [u64; {deficits}],
    reserves: [ReservedState; {reserves}],
}}

impl State {{
    /// Unused memory.
    pub const NEW: Self = State {{
        ports: [PortState::IDLE; {ports}],
        queues: [QueueState::EMPTY; {queues}],
        packets: [PacketState::FREE; {packets}],
        heard_ns: [0; {heard}],
        classes: [ClassState::EMPTY; {classes}],
        averages: [Average::ZERO; {averages}],
        rings: [0; {rings}],
        deficits: [0; {deficits}],
        reserves: [ReservedState::EMPTY; {reserves}],
    }};
}}

{INIT}",
        about = commented(&about_lines(model, switch, table, &sizes), "//"),
        queues_per_port = switch.queues_per_port,
        buffer_bytes = switch.buffer_bytes,
        base_rtt_ns = switch.base_rtt_ns,
        rates = rates(switch),
        overhead = switch.wire_overhead_bytes,
        ring = switch.transmit_ring_packets,
        slack = switch.slack_bytes,
        reserved = switch.reserved_bytes,
        least = LEAST_BYTES,
        ports = sizes.ports,
        queues = sizes.queues,
        packets = sizes.packets,
        heard = sizes.heard,
        classes = sizes.classes,
        averages = sizes.averages,
        rings = sizes.rings,
        deficits = sizes.deficits,
        reserves = sizes.reserves,
    ))
}

/// What the file is, how much memory it takes, and the slack.
fn about_lines(
    model: &Checked<'_>,
    switch: &SwitchSpec,
    table: &str,
    sizes: &Sizes,
) -> Vec<String> {
    let what = format!(
        "{}_decision.rs: Credence with {table} for a switch, see docs/oracle.md",
        model.prefix
    );
    let mut lines = about(model, &what);
    lines.push(format!(
        "State: {} bytes, of which {} hold packets.",
        sizes.bytes(),
        8 * sizes.packets
    ));
    lines.push(format!(
        "A queue may exceed its threshold by {} bytes, as reports replay it: slack_bytes of the switch's \
         description.",
        switch.slack_bytes
    ));
    lines
}

/// An array of line rates.
fn rates(switch: &SwitchSpec) -> String {
    let first = switch.line_rate_bps[0];
    if switch.line_rate_bps.iter().all(|&rate| rate == first) {
        return format!("[{first}; {}]", switch.ports());
    }
    let rates: Vec<String> = switch.line_rate_bps.iter().map(ToString::to_string).collect();
    let lines = rates.chunks(4).map(|line| format!("        {},\n", line.join(", ")));
    format!("[\n{}    ]", lines.collect::<String>())
}

/// Lengths of the arrays.
struct Sizes {
    ports: usize,
    queues: usize,
    packets: u32,
    heard: usize,
    classes: usize,
    averages: usize,
    rings: usize,
    deficits: usize,
    reserves: usize,
}

impl Sizes {
    fn new(model: &Checked<'_>, switch: &SwitchSpec) -> Self {
        let (ports, queues) = (switch.ports(), switch.queues());
        let kept = tracker::kept(model);
        let of = |is_needed: bool, length: usize| if is_needed { length } else { 0 };
        Sizes {
            ports,
            queues,
            packets: decision::places(switch).clamp(1, 65_535),
            heard: of(kept.arrivals, queues),
            classes: of(kept.classes, Memory::CLASSES),
            averages: of(kept.averages, queues + 1),
            rings: ports * usize::from(switch.transmit_ring_packets),
            deficits: of(switch.scheduler == Scheduler::Dwrr, queues),
            reserves: of(!switch.reserved_bytes.is_empty(), queues),
        }
    }

    /// Bytes of all, where 64-bit integers are aligned to 8 bytes.
    fn bytes(&self) -> usize {
        24 * self.ports
            + 16 * (self.queues + self.averages + self.classes)
            + 8 * (self.packets as usize + self.heard + self.rings + self.deficits + self.reserves)
    }
}
