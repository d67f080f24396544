//! Packets on which code must decide as the fabric's policy does.

use dropcast_data::SwitchSpec;
use dropcast_switch::{Buffer, Fit, LineRate, Observer, Packet, Policy, Removal, Switch};

/// A packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketArrival {
    /// When.
    pub time_ns: u64,
    /// Its queue of the switch.
    pub queue: usize,
    /// Its size.
    pub size_bytes: u32,
    /// Hash of its flow; 0 if that is not known.
    pub flow_hash: u64,
}

/// A packet that arrives, or leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyEvent {
    /// When.
    pub time_ns: u64,
    /// Its port.
    pub port: usize,
    /// Its queue within the port.
    pub queue: usize,
    /// Its size.
    pub size_bytes: u32,
    /// Hash of its flow; 0 if that is not known.
    pub flow_hash: u64,
    /// Of one that arrives: whether it is accepted. None: it leaves.
    pub accepted: Option<bool>,
}

/// Packets at a switch that a policy decides for, in time order: the same policy and switch give the same packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyPackets {
    /// Arrivals and departures.
    pub events: Vec<PolicyEvent>,
}

impl PolicyPackets {
    /// The verdicts, in order: whether each packet that arrives is accepted.
    pub fn verdicts(&self) -> impl Iterator<Item = bool> {
        self.events.iter().filter_map(|event| event.accepted)
    }

    /// As packet events (`docs/events.md`), with one more column: whether a packet that arrives is accepted, 0 or 1; 0 for
    /// those that leave. There is a column of flows if any is known.
    pub fn to_csv(&self) -> String {
        let knows_flows = self.events.iter().any(|event| event.flow_hash > 0);
        let flow_column = if knows_flows { "flow_hash," } else { "" };
        let mut text = format!("time_ns,kind,port,queue,size_bytes,{flow_column}accepted\n");
        for event in &self.events {
            let PolicyEvent { time_ns, port, queue, size_bytes, flow_hash, accepted } = event;
            let flow = if knows_flows { format!("{flow_hash},") } else { String::new() };
            let (kind, accepted) =
                (u8::from(accepted.is_none()), u8::from(*accepted == Some(true)));
            text += &format!("{time_ns},{kind},{port},{queue},{size_bytes},{flow}{accepted}\n");
        }
        text
    }
}

/// What `policy` decides about packets. Ports serve at line rate.
pub(crate) fn decided(
    policy: impl Policy,
    spec: &SwitchSpec,
    arrivals: impl IntoIterator<Item = PacketArrival>,
) -> PolicyPackets {
    let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
    let queues_per_port = usize::from(spec.queues_per_port);
    let mut heard = Heard { events: Vec::new(), flows: Vec::new(), queues_per_port };
    for (id, arrival) in (0..).zip(arrivals) {
        let PacketArrival { time_ns, queue, size_bytes, flow_hash } = arrival;
        heard.flows.push(flow_hash);
        switch.advance(time_ns, &mut heard);
        let packet = Packet { flow_hash, ..Packet::new(id, queue, size_bytes) };
        let accepted = switch.admit(&packet, time_ns, &mut heard);
        heard.hear(time_ns, queue, size_bytes, flow_hash, Some(accepted));
    }
    PolicyPackets { events: heard.events }
}

/// Hears of every packet.
struct Heard {
    events: Vec<PolicyEvent>,
    /// By packet.
    flows: Vec<u64>,
    queues_per_port: usize,
}

impl Heard {
    fn hear(
        &mut self,
        time_ns: u64,
        queue: usize,
        size_bytes: u32,
        flow_hash: u64,
        accepted: Option<bool>,
    ) {
        let (port, queue) = (queue / self.queues_per_port, queue % self.queues_per_port);
        self.events.push(PolicyEvent { time_ns, port, queue, size_bytes, flow_hash, accepted });
    }
}

impl Observer for Heard {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        let flow_hash = self.flows[removal.packet.id as usize];
        self.hear(removal.time, removal.queue, removal.packet.size_bytes, flow_hash, None);
    }
}
