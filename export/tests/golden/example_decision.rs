// example_decision.rs: Credence with example.dct for a switch, see docs/oracle.md
//
// Written by dropcast 0.1.0 from model "example",
// SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
// 2 trees of depth 2; a drop is predicted if and only if the score is above 160.
// Features, recorded before the packet is added to the buffer:
//   queue_length (bytes): bytes in the packet's queue before it is added
//   occupancy (bytes): bytes in the shared buffer before the packet is added
// State: 126120 bytes, of which 125000 hold packets.
// A queue may exceed its threshold by 0 bytes, as reports replay it: slack_bytes of the switch's description.

use dropcast_runtime::{
    Average, ClassState, Credence, Memory, NotReady, PacketState, PortState, QueueState, ReservedState,
    Service, SwitchConstants, Table,
};

/// The forest.
pub static TABLE: &[u8] = include_bytes!("example.dct");

/// The switch.
pub const SWITCH: SwitchConstants<'static> = SwitchConstants {
    queues_per_port: 2,
    buffer_bytes: 1000000,
    base_rtt_ns: 8000,
    line_rate_bps: &[10000000000; 20],
    service: Service::RoundRobin,
    wire_overhead_bytes: 33,
    transmit_ring_packets: 0,
    slack_bytes: 0,
    reserved_bytes: &[],
    pushable: 0x2,
};

/// The memory of a switch. Virtual LQD holds up to 15625 packets: place for each of 64 bytes and
/// more in the buffer.
pub struct State {
    ports: [PortState; 20],
    queues: [QueueState; 40],
    packets: [PacketState; 15625],
    heard_ns: [u64; 0],
    classes: [ClassState; 0],
    averages: [Average; 0],
    rings: [u64; 0],
    deficits: [u64; 0],
    reserves: [ReservedState; 0],
}

impl State {
    /// Unused memory.
    pub const NEW: Self = State {
        ports: [PortState::IDLE; 20],
        queues: [QueueState::EMPTY; 40],
        packets: [PacketState::FREE; 15625],
        heard_ns: [0; 0],
        classes: [ClassState::EMPTY; 0],
        averages: [Average::ZERO; 0],
        rings: [0; 0],
        deficits: [0; 0],
        reserves: [ReservedState::EMPTY; 0],
    };
}

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
